import { expect, test } from 'vitest'
import { beginChecks, foundOf, nextCheckAt } from './checks.ts'

test('checks are 5 s apart at first, then as far as the outcome has been unknown, and the last one is made when its time is over', () => {
  const checks = beginChecks({ timeoutMs: 15_000 }, 'not_found', 0)
  expect(checks).toEqual({ since: 0, until: 300_000, lastAt: 0, lastFound: 'not_found' })
  const at: number[] = []
  for (let next = nextCheckAt(checks, 0); next !== null; next = nextCheckAt(checks, next)) at.push(next)
  expect(at).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000])
  // At least the timeout, and at most 10 minutes apart.
  expect(beginChecks({ timeoutMs: 600_000 }, undefined, 0)).toEqual({ since: 0, until: 600_000, lastAt: null, lastFound: null })
  expect(nextCheckAt({ since: 0, until: 86_400_000 }, 7_200_000)).toBe(7_800_000)
})

test('a target is left alone for as long as it asks, up to 10 minutes, also beyond the time of the checks', () => {
  const checks = { since: 0, until: 300_000 }
  expect(nextCheckAt(checks, 10_000, 15_000)).toBe(25_000)
  expect(nextCheckAt(checks, 10_000, 3_000)).toBe(20_000)
  expect(nextCheckAt(checks, 200_000, 150_000)).toBe(350_000)
  expect(nextCheckAt(checks, 200_000, Number.POSITIVE_INFINITY)).toBe(800_000)
  expect(nextCheckAt(checks, 300_000, 150_000)).toBeNull()
})

test('the wait before the next check is as long as the outcome has been unknown, whatever the date', () => {
  expect(nextCheckAt({ since: 1_000_000, until: 2_000_000 }, 1_020_000)).toBe(1_040_000)
})

test('a check that did not find the effect is told apart from one that got no answer', () => {
  expect(foundOf({ done: false })).toBe('not_found')
  expect(foundOf({ done: 'unknown' })).toBe('no_answer')
})
