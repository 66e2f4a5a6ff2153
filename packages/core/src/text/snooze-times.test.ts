import { expect, test } from 'vitest'
import { snoozeTimes } from './snooze-times.ts'

const MINUTE_MS = 60_000
const words = (leftMs: number | null) =>
  snoozeTimes({ state: 'proposed', expiresAt: leftMs === null ? null : new Date(leftMs).toISOString() }, 0).map((time) => time.words)

test('no time is offered that reaches past five minutes before the deadline', () => {
  expect(words(null)).toEqual(['15 minutes', '1 hour', '1 day'])
  expect(words(30 * MINUTE_MS)).toEqual(['15 minutes', 'Until 5 minutes before it expires'])
  expect(words(19 * MINUTE_MS)).toEqual(['Until 5 minutes before it expires'])
  expect(words(5 * MINUTE_MS)).toEqual([])
  const expiresAt = new Date(30 * MINUTE_MS).toISOString()
  // The server shortens it by the same five minutes.
  expect(snoozeTimes({ state: 'proposed', expiresAt }, 0)[1]).toMatchObject({ atMs: 25 * MINUTE_MS, body: { until: expiresAt } })
})
