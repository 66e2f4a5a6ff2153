import { expect, test } from 'vitest'
import { manualClock } from '../../../../verification/testing/manual-clock.ts'
import { createBuckets, createLimits } from './limits.ts'

test('a bucket gives its burst at once, then what drips into it, and says how long to wait', () => {
  const clock = manualClock()
  const buckets = createBuckets({ perSecond: 2, burst: 3, clock })
  expect([1, 2, 3].map(() => buckets.take('a'))).toEqual([0, 0, 0])
  expect(buckets.take('a')).toBe(1)
  expect(buckets.take('b')).toBe(0)
  clock.pass(500)
  expect([buckets.take('a'), buckets.take('a')]).toEqual([0, 1])
  clock.pass(3_600_000)
  expect([1, 2, 3, 4].map(() => buckets.take('a'))).toEqual([0, 0, 0, 1])
  // A clock that is set back neither removes nor adds tokens.
  clock.set(0)
  expect(buckets.take('b')).toBe(0)
})

test('the addresses of one network count as one, everybody else is let be, and zero is without a limit', () => {
  const clock = manualClock()
  const limits = createLimits({ requestsPerSecond: 0, failuresPerMinute: 2 }, clock)
  for (let i = 0; i < 100_000; i++) limits.countRequest('prn_ana')
  limits.countAttempt('2001:db8:1:2::1')
  limits.countAttempt('2001:db8:1:2:ffff::7')
  const refused = () => limits.countAttempt('2001:db8:1:2::2')
  expect(refused).toThrow(expect.objectContaining({ code: 'rate_limited', extra: { retryAfterSeconds: 30 } }))
  limits.countAttempt('2001:db8:1:3::1')
  limits.countAttempt('203.0.113.9')
})

test('the addresses of one network count as one in their short form, too', () => {
  const limits = createLimits({ requestsPerSecond: 0, failuresPerMinute: 2 }, manualClock())
  limits.countAttempt('2001:db8::1')
  limits.countAttempt('2001:db8::2')
  expect(() => limits.countAttempt('2001:db8:0:0:ffff::7')).toThrow(expect.objectContaining({ code: 'rate_limited' }))
  // Another network with the same beginning, and one that only has its zeros elsewhere.
  limits.countAttempt('2001:db8::1:0:0:0:1')
  limits.countAttempt('2001:0:0:db8::1')
})

test('a guesser with a hundred thousand addresses costs the memory of 20,000, and who was refused stays refused', () => {
  const clock = manualClock()
  const buckets = createBuckets({ perSecond: 0.001, burst: 1, clock })
  for (let i = 0; i < 100_000; i++) expect(buckets.take(`guess ${i}`)).toBe(0)
  expect(buckets.size).toBeLessThanOrEqual(20_000)
  expect(buckets.take('guess 99999')).toBeGreaterThan(0)
})
