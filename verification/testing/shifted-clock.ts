import { type Clock, systemClock } from '../../packages/server/src/clock.ts'

/** This machine's clock, which a test may put forward. Waits last as long as they would have. */
export interface ShiftedClock extends Clock {
  /** Puts the clock forward. */
  pass(ms: number): void
}

export function shiftedClock(): ShiftedClock {
  let aheadMs = 0
  return {
    nowMs: () => systemClock.nowMs() + aheadMs,
    after: systemClock.after,
    pass(ms) {
      aheadMs += ms
    },
  }
}

/** A clock that stands still until a test puts it forward, however long the test takes. Waits last as long as they would have. */
export function stillClock(): ShiftedClock {
  let nowMs = systemClock.nowMs()
  return {
    nowMs: () => nowMs,
    after: systemClock.after,
    pass(ms) {
      nowMs += ms
    },
  }
}
