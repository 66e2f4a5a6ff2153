import type { JsonObject, JsonValue } from '@countersign/core'
import { openJsonSchema } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { inputSchemaOf } from './input-schema.ts'
import { createRefs } from './refs.ts'

const SCHEMAS: JsonObject = {
  Base: { type: 'object', required: ['id', 'name'], properties: { id: { type: 'integer', readOnly: true }, name: { type: 'string' } } },
  Dog: { allOf: [{ $ref: '#/s/Base' }, { type: 'object', required: ['bark'], properties: { bark: { type: 'boolean' } } }] },
  Cat: { allOf: [{ $ref: '#/s/Base' }], required: ['id', 'lives'], properties: { lives: { type: 'integer' } } },
  Node: { type: 'object', properties: { next: { $ref: '#/s/Node' }, value: { type: 'integer' } } },
  Wide: { allOf: Array.from({ length: 6 }, () => ({ $ref: '#/s/Wide' })) },
}
const of = (schema: JsonValue) => inputSchemaOf(schema, createRefs({ s: SCHEMAS }))
const takes = (schema: JsonValue, value: JsonValue) =>
  openJsonSchema({ type: 'object', properties: { body: of(schema) } })({ body: value }).ok

test('parts that stand together become one flat schema, with what both require', () => {
  expect(of({ $ref: '#/s/Dog' })).toEqual({
    type: 'object',
    properties: { name: { type: 'string' }, bark: { type: 'boolean' } },
    required: ['name', 'bark'],
  })
  // A choice that only lists required members stays beside the members, as in the document.
  const choice = { type: 'object', properties: { a: {}, b: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] }
  expect(of(choice)).toEqual({ type: 'object', properties: { a: {}, b: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] })
  // Two schemas that are each closed would together allow nothing, so they are closed together. A contradictory schema stays unchanged.
  const closed = (name: string): JsonObject => ({ type: 'object', properties: { [name]: {} }, additionalProperties: false })
  expect(takes({ allOf: [closed('a'), closed('b')] }, { a: 1, b: 2 })).toBe(true)
  expect(takes({ allOf: [closed('a'), closed('b')] }, { c: 1 })).toBe(false)
  expect(takes({ allOf: [{ type: 'string' }, { type: 'integer' }] }, 'x')).toBe(false)
})

test('what only answers hold is left out and never required, whichever part hides it', () => {
  expect(of({ $ref: '#/s/Base' })).toEqual({ type: 'object', properties: { name: { type: 'string' } }, required: ['name'] })
  expect(of({ $ref: '#/s/Cat' })).toMatchObject({ required: ['name', 'lives'] })
  expect(takes({ $ref: '#/s/Cat' }, { name: 'Tom', lives: 9 })).toBe(true)
  expect(takes({ $ref: '#/s/Base', required: ['id'] }, { name: 'Tom' })).toBe(true)
  expect(takes({ allOf: [{ $ref: '#/s/Base' }], anyOf: [{ required: ['id'] }] }, { name: 'Tom' })).toBe(true)
  // A nested member of the same name is another member.
  const nested = { allOf: [{ $ref: '#/s/Base' }], properties: { owner: { type: 'object', required: ['id'], properties: { id: {} } } } }
  expect(takes(nested, { name: 'Tom', owner: {} })).toBe(false)
  // Dropping a member inside `not` would make the schema stricter.
  expect(takes({ allOf: [{ $ref: '#/s/Base' }], not: { required: ['id'] } }, { name: 'Tom' })).toBe(true)
})

test('null is taken where the document says so, in the words of each version', () => {
  const nullable: JsonValue[] = [
    { type: 'string', nullable: true },
    { type: 'string', 'x-nullable': true },
    { type: ['string', 'null'] },
    { type: 'string', enum: ['a'], nullable: true },
    { nullable: true, allOf: [{ $ref: '#/s/Base' }] },
    { oneOf: [{ type: 'null' }, { $ref: '#/s/Base' }] },
  ]
  for (const schema of nullable) expect(takes(schema, null), JSON.stringify(schema)).toBe(true)
  for (const schema of nullable) expect(takes(schema, 7), JSON.stringify(schema)).toBe(false)
  expect(takes({ type: 'string' }, null)).toBe(false)
})

test('a schema that contains itself ends, and says where', () => {
  const { properties } = of({ $ref: '#/s/Node' })
  expect(properties).toEqual({
    next: { type: 'object', description: 'Another Node, as above; not described further here.' },
    value: { type: 'integer' },
  })
  expect(takes({ $ref: '#/s/Node' }, { next: { next: { anything: 1 } } })).toBe(true)
  // The number of cycles does not matter.
  expect(takes({ $ref: '#/s/Wide' }, { a: 1 })).toBe(true)
})
