const FIRST_MS = 250
const LAST_MS = 30_000
/** What lasted at least this long makes the next pause short again. */
const STEADY_MS = 10_000

/** Growing pauses between attempts at the same thing. */
export class Pauses {
  #nextMs = FIRST_MS

  next(): number {
    const ms = this.#nextMs
    this.#nextMs = Math.min(ms * 2, LAST_MS)
    return ms
  }

  /** Begins with the first pause again. */
  restart(): void {
    this.#nextMs = FIRST_MS
  }

  /** Begins again where what was attempted lasted long enough. */
  restartAfter(lastedMs: number): void {
    if (lastedMs > STEADY_MS) this.restart()
  }
}
