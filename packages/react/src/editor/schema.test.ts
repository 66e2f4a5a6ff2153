import { expect, test } from 'vitest'
import { emptyValue, fieldKind } from './schema.ts'
import { boundsText, defaultText, labelOf } from './words.ts'

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
  expect(emptyValue({ type: 'integer', minimum: 1, default: 20 })).toBe(20)
})

test('bounds are told in words, and those of a number type are no bounds', () => {
  expect(boundsText({ minimum: 1, maximum: 900 })).toBe('1 to 900')
  expect(boundsText({ maxLength: 200 })).toBe('at most 200 characters')
  expect(boundsText({ minLength: 1, maxLength: 200 })).toBe('at most 200 characters')
  expect(boundsText({ type: 'string' })).toBe('')
  expect(boundsText({ minimum: 1, maximum: 9007199254740991 })).toBe('at least 1')
  expect(boundsText({ minimum: -9007199254740991, maximum: 9007199254740991 })).toBe('')
  expect(boundsText({ minimum: -2147483648, maximum: 2147483647 })).toBe('')
})

test('a field is called by its title, else by its name in words', () => {
  expect(labelOf('newStatus', { title: 'Next status' })).toBe('Next status')
  expect(labelOf('newStatus', {})).toBe('New status')
  expect(labelOf('customer_id', {})).toBe('Customer id')
  expect(labelOf('imageURL', {})).toBe('Image URL')
  expect(labelOf('2', {})).toBe('2')
})

test('a default is shown where the schema names one', () => {
  expect(defaultText({ default: 'EUR' })).toBe('Default: EUR')
  expect(defaultText({ default: false })).toBe('Default: false')
  expect(defaultText({})).toBe('')
})
