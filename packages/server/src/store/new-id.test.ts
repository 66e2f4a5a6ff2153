import { expect, test } from 'vitest'
import { newId } from './new-id.ts'

const NOW = Date.UTC(2026, 10, 25)
const many = (count: number, make: (index: number) => string): string[] => Array.from({ length: count }, (_, index) => make(index))

test('ids of one millisecond sort in the order of their making, and kinds do not count each other', () => {
  const ids = many(2_000, () => {
    newId('msg', NOW)
    return newId('act', NOW)
  })
  expect(ids.toSorted()).toEqual(ids)
})

test('ids of a transaction that began earlier sort before those of later milliseconds, and in their own order', () => {
  const ids = many(300, (index) => newId('run', NOW + (index % 3)))
  for (const rest of [0, 1, 2]) {
    const ofOne = ids.filter((_, index) => index % 3 === rest)
    expect(ofOne.toSorted()).toEqual(ofOne)
  }
  const [first = '', second = '', third = ''] = [0, 1, 2].map((rest) => ids.filter((_, index) => index % 3 === rest).at(-1))
  expect(first < second && second < third).toBe(true)
})

test('more ids than one millisecond can order are all different', () => {
  expect(new Set(many(40_000, () => newId('evt', NOW))).size).toBe(40_000)
})
