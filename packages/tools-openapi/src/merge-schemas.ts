import { canonicalJson, type JsonSchema, type JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'

/** Keywords that only one part of a merged schema may have, or that combine the values of all parts. */
const JOINED = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'description',
  'title',
  'default',
  'examples',
  'deprecated',
])
const WORDS = ['title', 'description', 'default', 'examples', 'deprecated']

/**
 * Returns one schema that requires all of them: flat if their members are compatible, because models read that best, else with `allOf`.
 * Titles and descriptions of later schemas take precedence.
 */
export function merged(schemas: readonly JsonSchema[]): JsonSchema {
  const parts = schemas.filter((schema) => Object.keys(schema).length > 0)
  const joined: JsonSchema = {}
  const apart: JsonSchema[] = []
  for (const part of parts) if (!join(joined, part)) apart.push(part)
  const [only] = apart
  if (apart.length === 0) return joined
  const stands = (key: string) => only === undefined || !(key in only) || WORDS.includes(key) || isSame(joined[key], only[key])
  if (apart.length === 1 && only && Object.keys(joined).every(stands)) return { ...only, ...joined }
  return { ...joined, allOf: apart }
}

/** Merges a part if the result means the same as both. */
function join(into: JsonSchema, part: JsonSchema): boolean {
  const isFirst = Object.keys(into).length === 0
  if (!isFirst && !Object.keys(part).every((key) => JOINED.has(key))) return false
  if (!isFirst && !Object.keys(into).every((key) => JOINED.has(key) || !(key in part))) return false
  if (!isSame(into.type, part.type)) return false
  const known = isObject(into.properties) ? into.properties : {}
  const more = isObject(part.properties) ? part.properties : {}
  if (Object.keys(more).some((name) => Object.hasOwn(known, name) && !isSame(known[name], more[name]))) return false
  if (!isSame(into.additionalProperties, part.additionalProperties) && isObject(into.additionalProperties)) return false
  const required = [...(Array.isArray(into.required) ? into.required : []), ...(Array.isArray(part.required) ? part.required : [])]
  const closed = [into.additionalProperties, part.additionalProperties]
  // Parts that are each closed would together allow nothing. The author means that the merged schema is closed.
  const additional = closed.includes(false) ? false : (part.additionalProperties ?? into.additionalProperties)
  Object.assign(into, part)
  if (Object.keys(known).length + Object.keys(more).length > 0) into.properties = { ...known, ...more }
  if (required.length > 0) into.required = [...new Set(required)]
  if (additional !== undefined) into.additionalProperties = additional
  return true
}

const isSame = (a: JsonValue | undefined, b: JsonValue | undefined): boolean =>
  a === undefined || b === undefined || canonicalJson(a) === canonicalJson(b)

/** Returns a schema that also allows null. */
export function nullable(schema: JsonSchema): JsonSchema {
  const { type } = schema
  if (type === 'null' || (Array.isArray(type) && type.includes('null')) || Object.keys(schema).length === 0) return schema
  if (type === undefined || schema.allOf !== undefined || schema.anyOf !== undefined || schema.const !== undefined) {
    const { description, ...rest } = schema
    const all = Array.isArray(rest.anyOf) && Object.keys(rest).length === 1 ? rest.anyOf : [rest]
    return { ...(description !== undefined && { description }), anyOf: [...all, { type: 'null' }] }
  }
  const types = Array.isArray(type) ? type : [type]
  const values: JsonSchema = Array.isArray(schema.enum) && !schema.enum.includes(null) ? { enum: [...schema.enum, null] } : {}
  return { ...schema, ...values, type: [...types, 'null'] }
}
