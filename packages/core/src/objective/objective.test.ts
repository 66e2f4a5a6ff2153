import { array, assert, double, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { decimalText, millionths } from './decimal.ts'
import { elapsedOf, PERIOD, periodBounds } from './period.ts'
import { meanProgress, progressOf } from './progress.ts'
import { standingOf } from './standing.ts'

test('a number and its decimal text stand for each other; what has too many digits has none', () => {
  expect([0.1, -0, 12.5, 1e6, 123456789012345, -0.000001].map(decimalText)).toEqual([
    '0.1',
    '0',
    '12.5',
    '1000000',
    '123456789012345',
    '-0.000001',
  ])
  expect([1e21, 1e-7, 0.1234567, 1234567890123456, Number.NaN, Number.POSITIVE_INFINITY].map(decimalText)).toEqual(Array(6).fill(undefined))
  assert(
    property(double({ noNaN: true }), (value) => {
      const text = decimalText(value)
      if (text !== undefined) expect(Number(text)).toBe(value === 0 ? 0 : value)
    }),
  )
  expect(millionths('-1.5')).toBe(-1_500_000n)
})

test('progress is exact, between nothing and all, whichever way it goes', () => {
  const at = (start: string, target: string, current: string) => progressOf({ start, target, current })
  expect(at('0.1', '0.3', '0.2')).toBe(500)
  expect(at('14', '5', '9.5')).toBe(500)
  expect(at('0', '3', '1')).toBe(333)
  expect(at('0', '1000', '999.999')).toBe(999)
  expect(at('0', '10', '-1')).toBe(0)
  expect(at('10', '0', '11')).toBe(0)
  expect(at('10', '0', '-5')).toBe(1_000)
  expect(at('1', '1', '1')).toBe(1_000)
  const value = integer({ min: -1_000_000, max: 1_000_000 })
  assert(
    property(value, value, value, (start, target, current) => {
      const progress = at(String(start), String(target), String(current))
      expect(progress).toBeGreaterThanOrEqual(0)
      expect(progress).toBeLessThanOrEqual(1_000)
      expect(progress === 1_000).toBe(start === target ? current === target : start < target ? current >= target : current <= target)
    }),
  )
  assert(property(array(integer({ min: 0, max: 1_000 }), { minLength: 1 }), (all) => Number(meanProgress(all)) <= Math.max(...all)))
  expect(meanProgress([])).toBeUndefined()
})

test('a period is a year, a half, a quarter or a month, from its first moment to the one after its last', () => {
  const iso = (period: string) => Object.values(periodBounds(period)).map((ms) => new Date(ms).toISOString().slice(0, 10))
  expect(iso('2026')).toEqual(['2026-01-01', '2027-01-01'])
  expect(iso('2026-H2')).toEqual(['2026-07-01', '2027-01-01'])
  expect(iso('2026-Q4')).toEqual(['2026-10-01', '2027-01-01'])
  expect(iso('2026-02')).toEqual(['2026-02-01', '2026-03-01'])
  expect(['2026-Q5', '2026-13', '26', '2026-H0', 'soon', '2026-00'].filter((text) => PERIOD.test(text))).toEqual([])
  expect(elapsedOf('2026-02', Date.UTC(2026, 1, 15))).toBe(500)
  expect([elapsedOf('2026', 0), elapsedOf('2026', Date.UTC(2030, 0))]).toEqual([0, 1_000])
})

test('how it stands: measured against the time that is over, with some margin', () => {
  const stand = (progress: number | undefined, atMs = Date.UTC(2026, 1, 15), state: 'open' | 'missed' = 'open') =>
    standingOf({ state, period: '2026-02', progress }, atMs)
  expect([stand(350), stand(349), stand(1_000), stand(undefined)]).toEqual(['on_track', 'at_risk', 'reached', 'unmeasured'])
  expect(stand(999, Date.UTC(2026, 2))).toBe('overdue')
  expect(stand(0, Date.UTC(2026, 0))).toBe('on_track')
  expect(stand(0, Date.UTC(2026, 2), 'missed')).toBe('closed')
})
