/** The time source of the engine, injected by the caller. */
export interface Clock {
  /** Epoch milliseconds. On a shared database this is the database's time, independent of this machine's clock. */
  nowMs(): number
  /** Calls `callback` once, `delayMs` from now. Returns a function that cancels it. */
  after(delayMs: number, callback: () => void): () => void
}

export const systemClock: Clock = {
  nowMs: Date.now,
  after(delayMs, callback) {
    // Node fires delays above 2^31 ms at once; a caller with a longer delay schedules the rest again.
    const timer = setTimeout(callback, Math.min(delayMs, 2 ** 31 - 1))
    return () => clearTimeout(timer)
  },
}
