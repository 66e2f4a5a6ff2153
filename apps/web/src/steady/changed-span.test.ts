import { expect, test } from 'vitest'
import { changedSpan } from './changed-span.ts'

test('only what differs is in the span, wherever it is', () => {
  expect(changedSpan([1, 2, 3, 4], [1, 2, 9, 4])).toEqual({ head: 2, tail: 1, before: [3], now: [9] })
  expect(changedSpan([1, 2], [1, 2, 3])).toEqual({ head: 2, tail: 0, before: [], now: [3] })
  expect(changedSpan([1, 2], [0, 1, 2])).toEqual({ head: 0, tail: 2, before: [], now: [0] })
  expect(changedSpan([], [1])).toEqual({ head: 0, tail: 0, before: [], now: [1] })
  expect(changedSpan([1], [])).toEqual({ head: 0, tail: 0, before: [1], now: [] })
})

test('rows that repeat are counted once, in the head', () => {
  expect(changedSpan([1, 1], [1, 1, 1])).toEqual({ head: 2, tail: 0, before: [], now: [1] })
  expect(changedSpan([1, 2], [1, 2])).toEqual({ head: 2, tail: 0, before: [], now: [] })
})

test('the caller says which rows are the same', () => {
  expect(changedSpan([{ id: 1 }], [{ id: 1 }], (a, b) => a.id === b.id)).toMatchObject({ head: 1, now: [] })
})
