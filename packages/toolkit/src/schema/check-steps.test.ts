import { dereference, type Schema, validate } from '@cfworker/json-schema'
import type { JsonObject, JsonSchema, JsonValue } from '@countersign/core'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { countSteps, MAX_STEPS } from './check-steps.ts'
import { openJsonSchema } from './json-schema.ts'
import { costFault } from './schema-cost.ts'

const TOO_MANY = 'The whole of the arguments holds more values than can be checked with the schema of this tool.'
const TOO_LONG = 'The whole of the arguments holds a list with more than 2000 entries.'

const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))
const nested = (levels: number, deepest: JsonValue = {}): JsonObject => ({ a: levels <= 1 ? deepest : nested(levels - 1, deepest) })
const of = (a: JsonValue, $defs: JsonObject = {}): JsonSchema => ({ type: 'object', $defs, properties: { a } })
const list = (items: JsonValue): JsonSchema => of({ type: 'array', items })
const itself = { $ref: '#/$defs/n' }

/** Each is small, and no value is held against many of its parts at once. */
const MULTIPLYING: Record<string, [schema: JsonSchema, args: JsonObject]> = {
  'a list of alternatives for each of many entries': [list({ oneOf: times(2_400, () => ({ not: {} })) }), { a: times(500, () => 1) }],
  'names that several patterns fit': [of(itself, { n: { patternProperties: { '': itself, '.': itself, '^': itself } } }), nested(14)],
  'old dependencies beside properties': [
    of(itself, { n: { dependencies: { a: { properties: { a: itself } } }, properties: { a: itself } } }),
    nested(20),
  ],
  'entries that are contained too': [
    of(itself, { n: { items: itself, contains: itself, minContains: 0 } }),
    { a: times(20, () => 0).reduce<JsonValue[]>((inner) => [inner], []) },
  ],
  'required names that are missing': [list({ required: times(5_000, (at) => `${at}`) }), { a: times(300, () => ({})) }],
  'a long enum that many entries are not in': [list({ enum: times(3_000, (at) => `value ${at}`) }), { a: times(9_000, () => 'x') }],
  'a long text in many alternatives': [of({ allOf: times(2_400, () => ({ minLength: 1 })) }), { a: 'x'.repeat(200_000) }],
  'long names at many patterns': [
    of({ patternProperties: Object.fromEntries(times(400, (at) => [`[a-z]+${at}`, true])) }),
    { a: Object.fromEntries(times(20, (at) => [`${'a'.repeat(990)}${at}`, 1])) },
  ],
}

for (const [name, [schema, args]] of Object.entries(MULTIPLYING)) {
  test(`arguments that take the validator very long are refused before it begins: ${name}`, () => {
    expect(costFault(schema), 'a server may have it').toBeUndefined()
    const check = openJsonSchema(schema)
    expect(check(args)).toEqual({ ok: false, issues: [{ path: '', message: TOO_MANY }] })
    expect(check({}).ok).toBe(true)
  })
}

test('a list that must be unique is not compared when it is too long, however the schema says it', () => {
  const ones = (count: number) => ({ a: times(count, (at) => at), b: times(3_000, (at) => at) })
  for (const uniqueItems of [true, 1, 'yes']) {
    const check = openJsonSchema(of({ type: 'array', uniqueItems }))
    expect(check(ones(2_001))).toEqual({ ok: false, issues: [{ path: '', message: TOO_LONG }] })
    expect(check(ones(2_000)).ok).toBe(true)
  }
  expect(openJsonSchema(of({ type: 'array', uniqueItems: false }))(ones(2_001)).ok).toBe(true)
  const often = openJsonSchema(of({ allOf: times(100, () => ({ uniqueItems: true })) }))
  expect(often(ones(2_000))).toEqual({ ok: false, issues: [{ path: '', message: TOO_MANY }] })
})

test('of arguments that would take too long to find all faults in, one fault is said', () => {
  // The validator holds a wrong property against `additionalProperties` too: twice as many at each level.
  const check = openJsonSchema(of(itself, { n: { type: 'object', properties: { a: itself }, additionalProperties: itself } }))
  expect(check(nested(60)).ok).toBe(true)
  const wrong = check(nested(60, 1))
  expect(wrong.ok ? [] : wrong.issues).toMatchObject([{ path: '/a'.repeat(60), message: expect.stringContaining('must be an object') }])
})

test('large arguments as tools have them are checked', () => {
  const names = times(8, (at) => `field${at}`)
  const row = (value: JsonValue): JsonObject => Object.fromEntries(names.map((name) => [name, value]))
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string', maxLength: 100 }]))
  const check = openJsonSchema(list({ type: 'object', properties, required: names, additionalProperties: false }))
  expect(check({ a: times(2_200, () => row('text')) }).ok).toBe(true)
  expect(check({ a: times(2_200, (at) => row(at === 1_000 ? 1 : 'text')) })).toMatchObject({ ok: false, issues: { length: 8 } })
})

test('an $id or an $anchor within a schema moves nothing: a $ref is a path from the top', () => {
  const inner = { $id: 'inner', $anchor: 'x', $defs: { n: { type: 'string' } }, properties: { b: itself } }
  const check = openJsonSchema(of(inner, { n: { type: 'integer' }, again: inner }))
  expect([check({ a: { b: 1 } }).ok, check({ a: { b: 'one' } }).ok]).toEqual([true, false])
  // Each within the other, the validator would read the innermost a billion times.
  const within = (levels: number): JsonObject => (levels === 0 ? {} : { $id: `of${levels}/`, not: within(levels - 1) })
  const deep = of(within(36))
  expect(costFault(deep)).toBeUndefined()
  expect(openJsonSchema(deep)({ a: 1 }).ok).toBe(true)
})

test('dependencies of older drafts are held, and a $recursiveRef is refused when the schema is read', () => {
  const check = openJsonSchema({
    type: 'object',
    dependencies: { card: ['address'], address: { required: ['city'] }, default: { properties: { a: { pattern: '^x' } } } },
  })
  const faults = (args: JsonObject) => {
    const checked = check(args)
    return checked.ok ? [] : checked.issues.map(({ message }) => message)
  }
  expect(faults({ card: 1, address: 2, city: 3 })).toEqual([])
  expect(faults({ card: 1 })).toEqual([expect.stringContaining('Instance has "card" but does not have "address"')])
  expect(faults({ address: 2 })).toEqual(['city is required.'])
  expect(faults({ default: 1, a: 'y' })).toEqual(['a does not have the form that is asked for.'])
  expect(() => openJsonSchema(of({ $recursiveRef: '#' }))).toThrow('has a $recursiveRef at /properties/a')
})

/** Schemas that refer to themselves in every way there is, and values that are nested as they are. */
const { schema: anySchema } = fc.letrec<{ schema: JsonValue }>((tie) => {
  const inner = tie('schema')
  const names = (value: fc.Arbitrary<JsonValue>) => fc.dictionary(fc.constantFrom('a', 'b', 'default', 'n'), value, { maxKeys: 3 })
  const own = fc.record(
    {
      type: fc.constantFrom('object', 'array', 'string', 'integer'),
      required: fc.constantFrom(['a'], ['a', 'b']),
      minLength: fc.constant(2),
      uniqueItems: fc.constantFrom(true, 1),
      properties: names(inner),
      patternProperties: fc.dictionary(fc.constantFrom('', '.', '^a', 'b'), inner, { maxKeys: 2 }),
      additionalProperties: inner,
      unevaluatedProperties: inner,
      propertyNames: inner,
      dependentSchemas: names(inner),
      prefixItems: fc.array(inner, { maxLength: 2 }),
      items: fc.oneof(inner, fc.array(inner, { maxLength: 2 })),
      additionalItems: inner,
      unevaluatedItems: inner,
      contains: inner,
      minContains: fc.constantFrom(0, 1, 2),
      allOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
      anyOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
      oneOf: fc.array(inner, { minLength: 1, maxLength: 2 }),
      not: inner,
      if: inner,
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: inner,
      else: inner,
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<JsonObject>
  return { schema: fc.oneof({ maxDepth: 3, withCrossShrink: true }, fc.boolean(), fc.constant({ $ref: '#/$defs/n' }), own) }
})
const anyValue = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom<JsonValue>(1, 'x', 'long', null, true),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'default'), tie('value'), { maxKeys: 3 }),
  ),
})).value

test('the validator never looks at more than was counted', () => {
  let largest = 0
  fc.assert(
    fc.property(anySchema, anySchema, anyValue, (a, n, value) => {
      const schema = structuredClone(of(a, { n })) as Schema
      const lookup = dereference(schema)
      let looks = 0
      // The validator asks each schema for this keyword, once for each value that it holds against it.
      const counted = { get: () => void looks++, enumerable: false }
      for (const node of Object.values(lookup)) if (typeof node === 'object') Object.defineProperty(node, '$recursiveRef', counted)
      for (const firstFault of [false, true]) {
        looks = 0
        try {
          const steps = countSteps(schema as JsonObject, { a: value }, { lookup, firstFault })
          if (steps > MAX_STEPS) continue
          validate({ a: value }, schema, '2020-12', lookup, firstFault)
          expect(looks, JSON.stringify([a, n, value, firstFault])).toBeLessThanOrEqual(steps)
          largest = Math.max(largest, looks)
        } catch (error) {
          // Of a schema that refers to itself at once, both say so.
          if (!(error instanceof RangeError)) throw error
        }
      }
    }),
    { seed: inject('propertySeed'), numRuns: 500 },
  )
  expect(largest, 'some multiply').toBeGreaterThan(20)
})
