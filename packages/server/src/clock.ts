/** What every part of the engine takes from outside: the time, and waiting for it. */
export interface Clock {
  /** Epoch milliseconds. On a shared database this is the database's time, whatever this machine's clock says. */
  nowMs(): number
  /** Calls `callback` once, `delayMs` from now. Returns what takes the wait back. */
  after(delayMs: number, callback: () => void): () => void
}

export const systemClock: Clock = {
  nowMs: Date.now,
  after(delayMs, callback) {
    // Node fires at once what is further away than 2^31 ms; whoever waits longer asks again then.
    const timer = setTimeout(callback, Math.min(delayMs, 2 ** 31 - 1))
    return () => clearTimeout(timer)
  },
}
