import { ToolError, type ToolErrorKind } from '@countersign/core'
import { expect, test } from 'vitest'
import { readToolError } from './tool-error.ts'

const read = (own: object) => readToolError(Object.assign(new ToolError('ambiguous', 'Later.'), own))

test('an error of a tool is read as it says, whichever of the known kinds it is', () => {
  const kinds: ToolErrorKind[] = ['refused', 'unreachable', 'ambiguous', 'broken', 'stale']
  for (const kind of kinds) {
    const given = new ToolError(kind, 'No.', { retryable: false, impossible: true, retryAfterMs: 1_500 })
    expect(readToolError(given)).toMatchObject({ kind, message: 'No.', retryable: false, impossible: true, retryAfterMs: 1_500 })
  }
})

test('an error of another copy of the package is read like one of ours', () => {
  const foreign = Object.assign(new Error('No.'), { name: 'ToolError', kind: 'refused' })
  expect(readToolError(foreign)).toMatchObject({ kind: 'refused', message: 'No.', retryable: true, impossible: false })
  expect(readToolError(foreign)).toBeInstanceOf(ToolError)
})

test.each<[string, unknown]>([
  ['an object with the same fields', { name: 'ToolError', kind: 'refused', message: 'No.' }],
  ['an error with another name', Object.assign(new Error('No.'), { kind: 'refused' })],
  ['an error without a kind', Object.assign(new Error('No.'), { name: 'ToolError' })],
  ['an error of an unknown kind', Object.assign(new Error('No.'), { name: 'ToolError', kind: 'timeout' })],
])('%s says nothing about the target', (_, error) => {
  expect(readToolError(error)).toBeUndefined()
})

test('a message of up to 10,000 characters is kept, a longer one is cut without half a character at its end', () => {
  expect(read({ message: 'x'.repeat(10_000) })?.message).toBe('x'.repeat(10_000))
  expect(read({ message: 'x'.repeat(10_001) })?.message).toBe(`${'x'.repeat(10_000)}…`)
  expect(read({ message: `${'x'.repeat(9_999)}😀` })?.message).toBe(`${'x'.repeat(9_999)}\ufffd…`)
  expect(read({ message: 7 })?.message).toBe('')
})

test('only `retryable: false` forbids a retry, and only `impossible: true` refuses a call', () => {
  expect(read({ retryable: undefined, impossible: 'yes' })).toMatchObject({ retryable: true, impossible: false })
  expect(read({ retryable: 0, impossible: 1 })).toMatchObject({ retryable: true, impossible: false })
  expect(read({ retryable: false, impossible: true })).toMatchObject({ retryable: false, impossible: true })
})

test('a pause is whole milliseconds above zero, or there is none', () => {
  for (const none of [0, -1, -0.5, Number.NaN, Number.NEGATIVE_INFINITY, '3', null, undefined, {}])
    expect(read({ retryAfterMs: none })?.retryAfterMs).toBeUndefined()
  expect(read({ retryAfterMs: 0.1 })?.retryAfterMs).toBe(1)
  expect(read({ retryAfterMs: 1_100.5 })?.retryAfterMs).toBe(1_101)
  expect(read({ retryAfterMs: Number.POSITIVE_INFINITY })?.retryAfterMs).toBe(Number.MAX_SAFE_INTEGER)
})
