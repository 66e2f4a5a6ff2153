import type { Action, SnoozeBody } from '../wire/index.ts'

const MINUTE_MS = 60_000
/** A snoozed action returns at the latest this long before its deadline. */
export const SNOOZE_ENDS_BEFORE_DEADLINE_MS = 5 * MINUTE_MS

/** One choice: when the action returns by the clock of this machine, and the request for it, which goes by the clock of the server. */
export type SnoozeTime = { words: string; atMs: number; body: SnoozeBody }

const SPANS = [
  { words: '15 minutes', minutes: 15, body: { for: 'PT15M' } },
  { words: '1 hour', minutes: 60, body: { for: 'PT1H' } },
  { words: '1 day', minutes: 24 * 60, body: { for: 'P1D' } },
]

/** Returns the times that somebody may snooze an action for. None reaches past five minutes before its deadline. */
export function snoozeTimes({ state, expiresAt }: Pick<Action, 'state' | 'expiresAt'>, nowMs: number): SnoozeTime[] {
  const spans = SPANS.map(({ words, minutes, body }) => ({ words, atMs: nowMs + minutes * MINUTE_MS, body }))
  if (state !== 'proposed' || expiresAt === null) return spans
  const latestMs = Date.parse(expiresAt) - SNOOZE_ENDS_BEFORE_DEADLINE_MS
  if (latestMs <= nowMs) return []
  return [
    ...spans.filter(({ atMs }) => atMs <= latestMs),
    { words: 'Until 5 minutes before it expires', atMs: latestMs, body: { until: expiresAt } },
  ]
}
