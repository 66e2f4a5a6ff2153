import type { JsonObject, JsonValue } from '@countersign/core'
import { expect, test } from 'vitest'
import { openJsonSchema } from './json-schema.ts'
import { costFault } from './schema-cost.ts'

/** Where a schema may be that a `$ref` names, as the members of the top that hold it. */
const PLACES: Record<string, (target: JsonValue) => JsonObject> = {
  '#/properties/examples': (target) => ({ properties: { examples: target } }),
  '#/properties/default': (target) => ({ properties: { default: target } }),
  '#/$defs/enum': (target) => ({ $defs: { enum: target } }),
  '#/definitions/dependencies': (target) => ({ definitions: { dependencies: target } }),
  '#/dependencies/a': (target) => ({ dependencies: { a: target } }),
  '#/dependencies/a/properties/b': (target) => ({ dependencies: { a: { properties: { b: target } } } }),
  '#/examples/1': (target) => ({ examples: [1, target] }),
  '#/default/inner': (target) => ({ default: { inner: target } }),
  '#/enum/0': (target) => ({ properties: { e: { enum: [1] } }, not: { enum: [target] } }),
  '#/const': (target) => ({ not: { const: target } }),
  '#/components/schemas/id': (target) => ({ components: { schemas: { id: target } } }),
  '#/components/schemas/default': (target) => ({ components: { schemas: { default: target } } }),
  '#/$defs/Pair[Text]': (target) => ({ $defs: { 'Pair[Text]': target } }),
  '#/$defs/a%20b': (target) => ({ $defs: { 'a b': target } }),
  '#/$defs/a~1b|c': (target) => ({ $defs: { 'a/b|c': target } }),
}
const refOf = (place: string): string => place.replace(/^#\/(enum|const)/, '#/not/$1')

test('a $ref is followed to wherever it leads in the schema, also under names that are keywords or data elsewhere', () => {
  for (const [place, holding] of Object.entries(PLACES)) {
    const $ref = refOf(place)
    const target = { type: 'object', required: ['code'], properties: { code: { type: 'string', pattern: '^x' }, next: { $ref } } }
    const { properties, ...top } = holding(target)
    const check = openJsonSchema({ type: 'object', ...top, properties: { ...(properties as JsonObject), v: { $ref } } })
    const [right, wrong] = [{ code: 'x' }, { code: 'y' }]
    expect(check({ v: { ...right, next: right } }).ok, $ref).toBe(true)
    expect(check({ v: wrong }), $ref).toMatchObject({ ok: false, issues: [{ path: '/v/code' }] })
    expect(check({ v: { ...right, next: { ...right, next: wrong } } }), $ref).toMatchObject({
      ok: false,
      issues: [{ path: '/v/next/next/code' }],
    })
  }
})

test('what a $ref leads to is read with the schema, wherever it is: a bad pattern or reference in it is a fault', () => {
  const opened = (inner: JsonObject) => () =>
    openJsonSchema({ type: 'object', properties: { v: { $ref: '#/examples/0' } }, examples: [{ properties: { w: inner } }] })
  expect(opened({ pattern: '(' })).toThrow('has a pattern at /properties/v/$ref/properties/w that is not a regular expression')
  expect(opened({ $ref: '#/nowhere' })).toThrow('has a $ref at /properties/v/$ref/properties/w that does not resolve')
  for (const $ref of ['#/%', '#/%E0%A4%A']) expect(opened({ $ref })).toThrow('does not resolve inside the schema')
})

test('references that multiply each other are counted however they are written', () => {
  const level = (at: number) => ({ allOf: Array(8).fill({ $ref: `#/$defs/level%20${at + 1}` }) })
  const $defs = Object.fromEntries([0, 1, 2, 3, 4, 5].map((at) => [`level ${at}`, level(at)]))
  const schema = { type: 'object', properties: { v: { $ref: '#/$defs/level%200' } }, $defs: { ...$defs, 'level 6': {} } }
  expect(costFault(schema)).toBe('has references that multiply each other')
  expect(costFault({ type: 'object', properties: { v: { $ref: '#/%' } } })).toBeUndefined()
})
