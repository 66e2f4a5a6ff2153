import type { Clock } from '../../packages/server/src/clock.ts'

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** Lets time pass; what becomes due on the way is called, in its order. */
  pass(ms: number): void
  /** Sets the clock, as a person or a time server does: what waits goes on waiting as long as it would have. */
  set(nowMs: number): void
  /** How long each wait still lasts, shortest first. */
  readonly waits: readonly number[]
}

interface Wait {
  at: number
  callback(): void
}

/** @param startMs Epoch milliseconds at the start. */
export function manualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  const waits = new Set<Wait>()
  const inOrder = (): Wait[] => [...waits].sort((a, b) => a.at - b.at)
  let elapsed = 0
  let offset = startMs
  return {
    nowMs: () => elapsed + offset,
    after(delayMs, callback) {
      const wait = { at: elapsed + delayMs, callback }
      waits.add(wait)
      return () => waits.delete(wait)
    },
    pass(ms) {
      const end = elapsed + ms
      for (let [next] = inOrder(); next && next.at <= end; [next] = inOrder()) {
        elapsed = Math.max(elapsed, next.at)
        waits.delete(next)
        next.callback()
      }
      elapsed = end
    },
    set(nowMs) {
      offset = nowMs - elapsed
    },
    get waits() {
      return inOrder().map(({ at }) => at - elapsed)
    },
  }
}
