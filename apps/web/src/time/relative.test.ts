import { expect, test } from 'vitest'
import { relativeTime } from './relative.ts'

const now = Date.parse('2026-11-21T12:00:00.000Z')
const ago = (ms: number) => relativeTime(new Date(now - ms).toISOString(), now)

test('a list time is one short word at every distance', () => {
  expect(ago(0)).toBe('now')
  expect(ago(59_999)).toBe('now')
  expect(ago(60_000)).toBe('1 min')
  expect(ago(59 * 60_000)).toBe('59 min')
  expect(ago(3_600_000)).toBe('1 h')
  expect(ago(23 * 3_600_000)).toBe('23 h')
  expect(ago(6 * 86_400_000)).toBe('6 d')
  expect(ago(10 * 86_400_000)).toMatch(/^(11 Nov|Nov 11)$/)
  expect(ago(400 * 86_400_000)).toMatch(/2025/)
})

test('a clock that runs ahead shows now, not a negative time', () => {
  expect(ago(-5_000)).toBe('now')
})

test('a time that cannot be read shows nothing', () => {
  expect(relativeTime('yesterday', now)).toBe('')
})
