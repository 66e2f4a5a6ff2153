import type { JsonSchema, JsonValue } from '@countersign/core'
import fc from 'fast-check'

/** Values drawn for each format; every other format gets a text. */
const FORMATS: Record<string, fc.Arbitrary<JsonValue>> = {
  'date-time': fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }).map((date) => date.toISOString()),
  date: fc
    .date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10)),
  time: fc.constant('10:20:30Z'),
  duration: fc.constant('PT5M'),
  uuid: fc.uuid(),
  email: fc.constantFrom('ada@example.com', 'a.b+c@example.org'),
  hostname: fc.domain(),
  ipv4: fc.ipV4(),
  ipv6: fc.ipV6(),
  uri: fc.webUrl(),
  'uri-reference': fc.webPath(),
  base64: fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes).toString('base64')),
}

/** Texts with all that a serialiser can get wrong. */
const TEXTS = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }),
  fc.constantFrom('a b', 'a+b', 'a&b=c', 'x,y', 'x;y', 'a|b', '50%', 'ä ö', '#1', 'a.b', '[x]', '"quoted"', '=', '?q', "it's", '(1)*!~'),
)

const MAX_DEPTH = 6

/** Values that fit a schema of a tool, or nearly: the caller leaves out what its check refuses. */
export function valuesFor(schema: JsonValue | undefined, depth = 0): fc.Arbitrary<JsonValue> {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return scalar
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  if (Array.isArray(schema.allOf)) {
    const { allOf, ...own } = schema
    return valuesFor(allOf.filter(isSchema).reduce(both, own), depth)
  }
  if (Array.isArray(schema.anyOf)) {
    const { anyOf, ...own } = schema
    return fc.oneof(...anyOf.map((choice) => valuesFor(isSchema(choice) ? both(own, choice) : choice, depth)))
  }
  const types = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type]
  const type = types.find((name) => name !== 'null') ?? types[0]
  switch (type) {
    case 'object':
      return objects(schema, depth)
    case 'array':
      return lists(schema, depth)
    case 'integer':
    case 'number':
      return numbers(schema, type)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'string':
      return texts(schema)
    default:
      return isDescribed(schema) ? objects(schema, depth) : scalar
  }
}

const scalar: fc.Arbitrary<JsonValue> = fc.oneof(TEXTS, fc.integer({ min: -1000, max: 1000 }), fc.boolean())
const isDescribed = (schema: JsonSchema): boolean => schema.properties !== undefined

const isSchema = (value: JsonValue | undefined): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * One schema for what fits both: members beside each other, everything required by either. Drawn apart and put together afterwards, a choice
 * that only requires (`anyOf: [{ required: ['state'] }, …]`) would never get the members that are described beside it.
 */
function both(one: JsonSchema, other: JsonSchema): JsonSchema {
  const list = (value: JsonValue | undefined) => (Array.isArray(value) ? value : [])
  const [properties, more] = [one.properties, other.properties].map((value) => (isSchema(value) ? value : {})) as [JsonSchema, JsonSchema]
  const shared = Object.entries(more).map(([name, member]): [string, JsonValue] => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    return [name, isSchema(known) && isSchema(member) ? both(known, member) : member]
  })
  const required = [...list(one.required), ...list(other.required)]
  const choices = list(one.anyOf).flatMap((a) => list(other.anyOf).flatMap((b) => (isSchema(a) && isSchema(b) ? [both(a, b)] : [])))
  return {
    ...one,
    ...other,
    ...(isDescribed(one) || isDescribed(other) ? { properties: { ...properties, ...Object.fromEntries(shared) } } : {}),
    ...(required.length > 0 && { required }),
    ...(choices.length > 0 && { anyOf: choices }),
    ...(one.allOf !== undefined && other.allOf !== undefined && { allOf: [...list(one.allOf), ...list(other.allOf)] }),
    ...([one.additionalProperties, other.additionalProperties].includes(false) && { additionalProperties: false }),
  }
}

function objects(schema: JsonSchema, depth: number): fc.Arbitrary<JsonValue> {
  const properties = (schema.properties ?? {}) as JsonSchema
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  const members = Object.entries(properties).filter(([name]) => required.has(name) || depth < MAX_DEPTH)
  const described = fc.record(Object.fromEntries(members.map(([name, member]) => [name, valuesFor(member, depth + 1)])), {
    requiredKeys: members.flatMap(([name]) => (required.has(name) ? [name] : [])),
    noNullPrototype: true,
  }) as fc.Arbitrary<JsonSchema>
  const more = [...required].filter((name) => !Object.hasOwn(properties, String(name)))
  const isMap = schema.additionalProperties !== false && members.length === 0
  const others = isMap
    ? fc.dictionary(
        fc.stringMatching(/^[a-z]{1,8}$/),
        valuesFor(schema.additionalProperties === true ? {} : schema.additionalProperties, depth + 1),
        { maxKeys: 3, noNullPrototype: true },
      )
    : fc.constant({})
  return fc
    .tuple(described, others)
    .map(([own, rest]) => ({ ...rest, ...Object.fromEntries(more.map((name) => [String(name), 'x'])), ...own }))
}

function lists(schema: JsonSchema, depth: number): fc.Arbitrary<JsonValue> {
  const minLength = typeof schema.minItems === 'number' ? schema.minItems : 0
  const maxLength = Math.max(minLength, Math.min(typeof schema.maxItems === 'number' ? schema.maxItems : 3, minLength + 3))
  if (Array.isArray(schema.prefixItems)) return fc.tuple(...schema.prefixItems.map((item) => valuesFor(item, depth + 1)))
  const item = valuesFor(schema.items, depth + 1)
  if (depth >= MAX_DEPTH && minLength === 0) return fc.constant([])
  return schema.uniqueItems === true
    ? fc.uniqueArray(item, { minLength, maxLength, selector: (value) => JSON.stringify(value) })
    : fc.array(item, { minLength, maxLength })
}

function numbers(schema: JsonSchema, type: 'integer' | 'number'): fc.Arbitrary<JsonValue> {
  const limit = (key: string, other: string, step: number, otherwise: number) => {
    const [inclusive, exclusive] = [schema[key], schema[other]]
    return typeof exclusive === 'number' ? exclusive + step : typeof inclusive === 'number' ? inclusive : otherwise
  }
  const low = limit('minimum', 'exclusiveMinimum', 1, -1_000)
  const high = limit('maximum', 'exclusiveMaximum', -1, Math.max(low, 0) + 1_000)
  const min = Math.ceil(Math.min(low, high))
  const whole = fc.integer({ min, max: Math.max(min, Math.floor(high)) })
  const step = typeof schema.multipleOf === 'number' ? schema.multipleOf : undefined
  if (step !== undefined) return whole.map((n) => Math.round(n / step) * step)
  return type === 'integer'
    ? whole
    : fc.oneof(
        whole,
        whole.map((n) => Math.min(n + 0.5, high)),
      )
}

function texts(schema: JsonSchema): fc.Arbitrary<JsonValue> {
  const { format, pattern, contentEncoding } = schema
  const minLength = typeof schema.minLength === 'number' ? schema.minLength : 0
  const maxLength = typeof schema.maxLength === 'number' ? schema.maxLength : Math.max(20, minLength)
  if (contentEncoding === 'base64') return FORMATS.base64 ?? TEXTS
  // Values are not filtered by length: if no text of a pattern has the required length, a filter would never return.
  if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern))
  const known = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined
  if (known) return known
  if (minLength === 0 && maxLength >= 12) return TEXTS
  return fc.string({ minLength: Math.max(minLength, 1), maxLength: Math.max(maxLength, 1) })
}
