import { type Clock, systemClock } from '../../packages/server/src/clock.ts'

/**
 * This machine's clock, on which a wait of `longMs` or more never ends. What a server does by itself after a while, such as another try or
 * another look, it does not do in the middle of a test on a slow machine.
 */
export const shortWaits = (longMs: number): Clock => ({
  nowMs: systemClock.nowMs,
  after: (delayMs, callback) => (delayMs < longMs ? systemClock.after(delayMs, callback) : () => undefined),
})
