import { expect, test } from 'vitest'
import { isSameJson } from './same-json.ts'

test('values are the same in any order of their keys, at every depth; lists in another order are not', () => {
  expect(isSameJson({ a: 1, b: { c: [{ d: 2, e: 3 }] } }, { b: { c: [{ e: 3, d: 2 }] }, a: 1 })).toBe(true)
  expect(isSameJson({ a: [1, 2] }, { a: [2, 1] })).toBe(false)
  expect(isSameJson({ a: null }, {})).toBe(false)
  expect(isSameJson(1, '1')).toBe(false)
})
