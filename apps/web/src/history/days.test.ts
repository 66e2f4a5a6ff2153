import { expect, test } from 'vitest'
import { commonDays } from './days.ts'

const spans = (now: Date) => commonDays(now).map(({ name, since, until }) => `${name}: ${since} ${until}`)

test('yesterday is the day before in the time zone of the browser, also over the end of a month or a year', () => {
  expect(spans(new Date(2026, 2, 1, 0, 0, 1))).toEqual([
    'Today: 2026-03-01 2026-03-01',
    'Yesterday: 2026-02-28 2026-02-28',
    '7 days: 2026-02-23 2026-03-01',
  ])
  expect(spans(new Date(2027, 0, 1, 23, 59, 59))[1]).toBe('Yesterday: 2026-12-31 2026-12-31')
})
