import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readRetryAfter, retryAfterWords } from './retry-after.ts'

const NOW = Date.parse('2026-11-21T10:00:00Z')

test('seconds and each form of an HTTP date are read, rounded up', () => {
  const cases: [string, number][] = [
    ['2', 2_000],
    ['0', 0],
    [' 1.0004 ', 1_001],
    ['Sat, 21 Nov 2026 10:00:07 GMT', 7_000],
    ['Saturday, 21-Nov-26 10:00:07 GMT', 7_000],
    ['Sat Nov 21 10:00:07 2026', 7_000],
    ['Sat, 21 Nov 2026 09:00:00 GMT', 0],
    ['99999999999', 99_999_999_999_000],
    ['Fri, 31 Dec 9999 23:59:59 GMT', Date.parse('9999-12-31T23:59:59Z') - NOW],
  ]
  for (const [text, ms] of cases) expect(readRetryAfter({ 'retry-after': text }, NOW), text).toBe(ms)
})

test('a date counts from the answer’s own date, so that a wrong clock here makes no retry early', () => {
  const headers = { 'retry-after': 'Sat, 21 Nov 2026 10:01:00 GMT', date: 'Sat, 21 Nov 2026 10:00:00 GMT' }
  for (const hours of [-1, 0, 1, 87_600]) expect(readRetryAfter(headers, NOW + hours * 3_600_000)).toBe(60_000)
  expect(readRetryAfter({ ...headers, date: 'nonsense' }, NOW)).toBe(60_000)
})

test('what is no time asks for nothing, and whatever a service sends is a time of at least zero or none', () => {
  for (const text of ['', 'soon', '-5', '1e9', '5, 5', '0x10', '2026-11-21T10:01:00Z', 'Xyz, 99 Foo 2026'])
    expect(readRetryAfter({ 'retry-after': text }, NOW), text).toBeUndefined()
  expect(readRetryAfter({ 'retry-after': ['1', '2'] }, NOW)).toBeUndefined()
  expect(readRetryAfter({}, NOW)).toBeUndefined()
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), (after, date) => {
      expect(readRetryAfter({ 'retry-after': after, date }, NOW) ?? 0).toBeGreaterThanOrEqual(0)
    }),
  )
})

test('a person reads seconds, minutes, or that it is more than a day', () => {
  expect(retryAfterWords(undefined)).toBe('')
  expect(retryAfterWords(0)).toBe('')
  expect(retryAfterWords(1_500)).toBe(' It asks not to be called again for 2 s.')
  expect(retryAfterWords(3_600_000)).toBe(' It asks not to be called again for 60 minutes.')
  expect(retryAfterWords(Number.POSITIVE_INFINITY)).toBe(' It asks not to be called again for more than a day.')
})
