const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Waits after the first, second, … failed attempt, as Standard Webhooks suggests. The tenth attempt is the last, three days on. */
const WAITS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]

/** The largest random addition to a wait, so that deliveries that failed together are not retried together. */
const JITTER = 0.2

/** The longest pause that a receiver can ask for. */
const MAX_ASKED_MS = 24 * HOUR_MS

/** No retry, pause or quiet time lasts longer. A later time was written while the clock was ahead. */
const LONGEST_WAIT_MS = 2 * 24 * HOUR_MS

/** True for a time that no wait leads to: it was written while the clock was ahead. */
export const isBeyondWaits = (atMs: number, nowMs: number): boolean => atMs > nowMs + LONGEST_WAIT_MS

/** Returns the pause that a receiver asked for, of at most a day. */
export const askedPauseMs = (askedMs: number | undefined): number => Math.min(askedMs ?? 0, MAX_ASKED_MS)

/**
 * Returns how long to wait before the next attempt, in milliseconds; undefined after the last one.
 * @param failed How many attempts have failed, at least 1.
 * @param random From 0 to 1.
 * @param askedMs What the receiver asked for: the wait is never shorter, up to a day.
 */
export function retryAfterMs(failed: number, random: number, askedMs?: number): number | undefined {
  const wait = WAITS_MS[failed - 1]
  return wait === undefined ? undefined : Math.round(Math.max(wait, askedPauseMs(askedMs)) * (1 + JITTER * random))
}
