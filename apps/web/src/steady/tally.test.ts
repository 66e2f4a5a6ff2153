import { expect, test } from 'vitest'
import { tally } from './tally.ts'

const count = (rows: readonly number[]) => ({ all: rows.length, even: rows.filter((row) => row % 2 === 0).length })

test('whatever changes, the counts are those of a list that is counted anew', () => {
  let counted = tally([1, 2, 3], count)
  for (const rows of [[1, 2, 3, 4], [4, 2, 3], [], [6, 8], [6, 8]]) {
    counted = tally(rows, count, counted)
    expect(counted).toEqual({ rows, counts: count(rows) })
  }
})

test('one row that changes among ten thousand is counted, and no other', () => {
  const rows = Array.from({ length: 10_000 }, (_, at) => at)
  const before = tally(rows, count)
  const seen: number[] = []
  const counting = (some: readonly number[]) => {
    seen.push(...some)
    return count(some)
  }
  expect(tally(rows.with(5_000, 1), counting, before).counts).toEqual({ all: 10_000, even: 4_999 })
  expect(seen).toEqual([5_000, 1])
  expect(tally(rows, counting, before)).toBe(before)
})
