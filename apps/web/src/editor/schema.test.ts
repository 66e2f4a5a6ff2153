import { expect, test } from 'vitest'
import { boundsText, emptyValue, fieldKind } from './schema.ts'

test('every schema has a field of its own kind; what a form cannot hold is edited as JSON', () => {
  expect(fieldKind({ type: 'string' })).toBe('text')
  expect(fieldKind({ type: 'string', enum: ['a', 'b'] })).toBe('choice')
  expect(fieldKind({ type: 'integer', readOnly: true })).toBe('locked')
  expect(fieldKind({ const: 'refund' })).toBe('locked')
  expect(fieldKind({ type: 'object', properties: {} })).toBe('object')
  for (const schema of [{}, { type: 'object' }, { type: ['string', 'null'] }, { type: 'array' }, { enum: [{}] }])
    expect(fieldKind(schema)).toBe('json')
})

test('a new entry has the type that the schema wants', () => {
  const item = {
    type: 'object',
    required: ['id', 'quantity'],
    properties: { id: { type: 'string' }, quantity: { type: 'integer', minimum: 1 } },
  }
  expect(emptyValue(item)).toEqual({ id: '', quantity: 1 })
  expect(emptyValue({ enum: ['b', 'a'] })).toBe('b')
})

test('bounds are told in words', () => {
  expect(boundsText({ minimum: 1, maximum: 1000 })).toBe('1 to 1000')
  expect(boundsText({ maxLength: 200 })).toBe('at most 200 characters')
  expect(boundsText({ type: 'string' })).toBe('')
})
