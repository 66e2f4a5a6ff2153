import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changesIn, compareLines, kindOf } from './compare-lines.ts'

const kinds = (before: unknown, after: unknown) => compareLines(before, after)?.rows.map((row) => [kindOf(row), row.before, row.after])

test('entries are matched by what identifies them: what changes in one is not one that goes and one that comes', () => {
  const before = [
    { sku: 'mug', count: 1 },
    { sku: 'bag', count: 2 },
    { sku: 'pen', count: 3 },
  ]
  const after = [
    { sku: 'mug', count: 1 },
    { sku: 'pen', count: 4, note: null },
    { sku: 'cap', count: 1 },
  ]
  expect(kinds(before, after)).toEqual([
    ['unchanged', before[0], after[0]],
    ['removed', before[1], undefined],
    ['changed', before[2], after[1]],
    ['added', undefined, after[2]],
  ])
})

test('a member that is absent, null, or the text of a number is not the same', () => {
  const is = (before: object, after: object) => {
    const [row] = compareLines([{ id: 1, ...before }], [{ id: 1, ...after }])?.rows ?? []
    return row && changesIn(row, 'x')
  }
  expect(is({ x: 1 }, { x: 1 })).toBe(false)
  expect(is({}, { x: null })).toBe(true)
  expect(is({ x: 1 }, { x: '1' })).toBe(true)
  expect(is({ x: '' }, {})).toBe(true)
  // A name that every object has.
  expect(compareLines([{ id: 1 }], [{ id: 1, toString: 'a' }])?.rows.map(kindOf)).toEqual(['changed'])
})

test('without anything that identifies them, entries are the same only where all of their values are', () => {
  const [a, b] = [
    { count: 1, price: 5 },
    { count: 1, price: 6 },
  ]
  expect(kinds([a, a], [b, a])).toEqual([
    ['added', undefined, b],
    ['unchanged', a, a],
    ['removed', a, undefined],
  ])
})

test('another order is told, also where no entry changes', () => {
  const [a, b] = [{ id: 'a' }, { id: 'b' }]
  expect(compareLines([a, b], [b, a])).toMatchObject({
    isReordered: true,
    rows: [
      { from: 2, to: 1 },
      { from: 1, to: 2 },
    ],
  })
  expect(compareLines([a, b], [a])?.isReordered).toBe(false)
})

test.each([
  [[{ a: {} }], [{ a: 1 }]],
  [['a'], [{ a: 1 }]],
  [[], []],
  [[{ a: 1, b: 1, c: 1, d: 1 }], [{ e: 1, f: 1, g: 1 }]],
  [undefined, [{ a: 1 }]],
  [[{ id: 1 }], [{ id: 2, ' Change': 'unchanged' }]],
])('lists of anything but lines are no table: %j → %j', (before, after) => {
  expect(compareLines(before, after)).toBeUndefined()
})

test('every entry of both lists is in exactly one row, whatever the entries are', () => {
  const cell = fc.oneof(fc.constantFrom('a', 'b', '1'), fc.constantFrom(0, 1, 2), fc.constant(null), fc.boolean())
  const line = fc.dictionary(fc.constantFrom('id', 'name', 'count', '__proto__', 'constructor'), cell, {
    minKeys: 1,
    noNullPrototype: true,
  })
  const lists = fc.array(line, { maxLength: 6 })
  fc.assert(
    fc.property(lists, lists, (before, after) => {
      const change = compareLines(before, after)
      expect(change === undefined).toBe(before.length + after.length === 0)
      const rows = change?.rows ?? []
      // In the order of both: only a row that says so stands at another place.
      const old = rows.filter(({ from }) => from !== undefined).toSorted((a, b) => Number(a.from) - Number(b.from))
      const now = rows.filter(({ to }) => to !== undefined)
      expect(old.map((row) => row.before)).toEqual(before)
      expect(now.map((row) => row.after)).toEqual(after)
      expect(now.map(({ to }) => to)).toEqual(after.map((_, at) => at + 1))
      const isSame = JSON.stringify(before) === JSON.stringify(after)
      if (isSame) expect(rows.every((row) => kindOf(row) === 'unchanged') && !change?.isReordered).toBe(true)
      // What is not shown as a change is none.
      if (!change?.isReordered && rows.every((row) => kindOf(row) === 'unchanged')) expect(after).toEqual(before)
    }),
    { numRuns: 1_000 },
  )
})
