import type { JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { typeWords } from './issues.ts'
import { NAMED_SCHEMAS } from './keywords.ts'

/** What is wrong with one keyword of a schema: where it is, and why, as words after its place. */
export interface KeywordFault {
  path: readonly string[]
  message: string
}

type Kind = { words: string; fits(value: JsonValue): boolean }

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
const isText = (value: JsonValue): boolean => typeof value === 'string'
const isSchema = (value: JsonValue): boolean => typeof value === 'boolean' || isObject(value)

const ANYTHING: Kind = { words: '', fits: () => true }
const FLAG: Kind = { words: 'true or false', fits: (value) => typeof value === 'boolean' }
const TEXT: Kind = { words: typeWords('string'), fits: isText }
const TEXTS: Kind = { words: 'a list of texts', fits: (value) => Array.isArray(value) && value.every(isText) }
const NUMBER: Kind = { words: typeWords('number'), fits: (value) => typeof value === 'number' }
const COUNT: Kind = { words: 'a whole number from 0', fits: (value) => Number.isInteger(value) && Number(value) >= 0 }
const ABOVE_0: Kind = { words: 'a number above 0', fits: (value) => typeof value === 'number' && value > 0 }
const LIST: Kind = { words: 'a list with at least one value', fits: (value) => Array.isArray(value) && value.length > 0 }
const TYPE: Kind = {
  words: `one of ${TYPES.join(', ')}, or a list of them`,
  fits: (value) => [value].flat().every((one) => TYPES.includes(one as string)) && [value].flat().length > 0,
}
const SCHEMA: Kind = { words: 'a schema', fits: isSchema }
const SCHEMAS: Kind = { words: 'a list of schemas', fits: (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema) }
const ITEMS: Kind = { words: 'a schema', fits: (value) => isSchema(value) || Array.isArray(value) }
const NAMED: Kind = { words: 'schemas by name', fits: (value) => isObject(value) && Object.values(value).every(isSchema) }
const BY_NAME: Kind = { words: 'an object', fits: isObject }

const namesOf = (kind: Kind, names: string): [string, Kind][] => names.split(' ').map((name) => [name, kind])

/** The keywords of JSON Schema 2020-12 and of the drafts before it, with `example` of OpenAPI. */
const KINDS: ReadonlyMap<string, Kind> = new Map([
  ...namesOf(ANYTHING, 'const default examples example $schema $id id $anchor $comment $vocabulary contentSchema'),
  ...namesOf(FLAG, 'uniqueItems deprecated readOnly writeOnly'),
  ...namesOf(TEXT, 'title description pattern format contentEncoding contentMediaType $ref $dynamicRef $dynamicAnchor'),
  ...namesOf(TEXTS, 'required'),
  ...namesOf(NUMBER, 'minimum maximum exclusiveMinimum exclusiveMaximum'),
  ...namesOf(COUNT, 'minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties'),
  ...namesOf(ABOVE_0, 'multipleOf'),
  ...namesOf(LIST, 'enum'),
  ...namesOf(TYPE, 'type'),
  ...namesOf(SCHEMA, 'additionalProperties additionalItems propertyNames contains not if then else unevaluatedItems unevaluatedProperties'),
  ...namesOf(SCHEMAS, 'allOf anyOf oneOf prefixItems'),
  ...namesOf(ITEMS, 'items'),
  ...namesOf(NAMED, 'properties patternProperties dependentSchemas $defs definitions'),
  ...namesOf(BY_NAME, 'dependentRequired dependencies'),
])

/**
 * Returns what is wrong with the keywords of a schema that was written by hand: those that JSON Schema does not know, which would limit
 * nothing, and values that are none of their keyword's. A keyword that begins with `x-` is somebody's own.
 *
 * @example
 * writtenFaults({ type: 'object', properties: { amount: { type: 'number', maximun: 500 } } })
 * // [{ path: ['properties', 'amount', 'maximun'], message: 'is no keyword of JSON Schema, …' }]
 */
export function writtenFaults(schema: JsonValue, path: readonly string[] = []): KeywordFault[] {
  if (!isObject(schema)) return []
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const place = [...path, keyword]
    const kind = KINDS.get(keyword)
    if (!kind) return keyword.startsWith('x-') ? [] : [{ path: place, message: UNKNOWN }]
    if (!kind.fits(value)) return [{ path: place, message: `must be ${kind.words}` }]
    return innerOf(keyword, value).flatMap(([name, inner]) => writtenFaults(inner, [...place, ...name]))
  })
}

const UNKNOWN = 'is no keyword of JSON Schema, so it would limit nothing: correct its spelling, or let it begin with x-'

function innerOf(keyword: string, value: JsonValue): [name: string[], inner: JsonValue][] {
  const kind = KINDS.get(keyword)
  if (NAMED_SCHEMAS.has(keyword)) return Object.entries(Object(value)).map(([name, inner]) => [[name], inner as JsonValue])
  if (kind !== SCHEMA && kind !== SCHEMAS && kind !== ITEMS) return []
  return Array.isArray(value) ? value.map((inner, index) => [[String(index)], inner]) : [[[], value]]
}
