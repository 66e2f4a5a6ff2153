import type { JsonObject, JsonSchema, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { resolveRef } from '@countersign/toolkit/internal'
import { ELEMENT, type Step } from './uses-of-arguments.ts'

/** The schemas of the part to which one step leads, or `open` where the schema allows anything there. Without any, it knows no such part. */
type Reached = readonly JsonObject[] | 'open'

/**
 * Returns the names that a schema has instead, where it does not know a part of the arguments; undefined for a part that it knows or that
 * an open schema allows. `at` is the index of the unknown step.
 */
export function unknownStep(schema: JsonSchema, path: readonly Step[]): { at: number; instead: string[] } | undefined {
  let reached: readonly JsonObject[] = alternativesOf(schema, schema)
  for (const [at, step] of path.entries()) {
    const next = takeStep(schema, reached, step)
    if (next === 'open') return undefined
    if (next.length === 0) return { at, instead: namesIn(reached) }
    reached = next
  }
  return undefined
}

/** A part of the arguments of a tool, for a list. */
export interface SchemaArgument {
  path: readonly Step[]
  /** The types of JSON Schema that it may have; empty where the schema does not say. */
  types: string[]
  /** The texts that it may be, where the schema lists them. */
  values: string[]
}

const MAX_DEPTH = 4

/** Yields the parts of the arguments that a schema names, with those of lists and inner objects. */
export function* argumentsOf(schema: JsonSchema): Generator<SchemaArgument> {
  yield* partsOf(schema, alternativesOf(schema, schema), [])
}

function* partsOf(root: JsonSchema, holders: readonly JsonObject[], path: readonly Step[]): Generator<SchemaArgument> {
  if (path.length >= MAX_DEPTH) return
  const parts = namesIn(holders).map((name) => {
    const reached = takeStep(root, holders, name)
    return { own: [...path, name], schemas: reached === 'open' ? [] : reached }
  })
  // The parts of parts come last: a list that is cut keeps what people name most.
  for (const { own, schemas } of parts) yield { path: own, types: typesOf(schemas), values: valuesOf(schemas) }
  for (const { own, schemas } of parts) {
    yield* partsOf(root, schemas, own)
    const elements = takeStep(root, schemas, ELEMENT)
    if (elements !== 'open') yield* partsOf(root, elements, [...own, ELEMENT])
  }
}

const namesIn = (holders: readonly JsonObject[]): string[] => [
  ...new Set(holders.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : []))),
]

const typesOf = (schemas: readonly JsonObject[]): string[] => [
  ...new Set(schemas.flatMap(({ type }) => (Array.isArray(type) ? type : [type])).filter((type) => typeof type === 'string')),
]

const valuesOf = (schemas: readonly JsonObject[]): string[] => [
  ...new Set(
    schemas
      .flatMap((schema) => [...(Array.isArray(schema.enum) ? schema.enum : []), schema.const])
      .filter((value) => typeof value === 'string'),
  ),
]

function takeStep(root: JsonSchema, holders: readonly JsonObject[], step: Step): Reached {
  const taken = holders.map((holder) => (step === ELEMENT ? elementOf(holder) : propertyOf(holder, step)))
  // A schema that says nothing of this step leaves it to the others: `allOf` and `anyOf` are among them.
  const said = taken.filter((one) => one !== undefined)
  if (said.includes('open')) return 'open'
  if (said.length === 0) return holders.every(isClosed) ? [] : 'open'
  const found = said.filter((one) => one !== 'open').flat()
  if (found.some((one) => one === true)) return 'open'
  return found.filter(isObject).flatMap((one) => alternativesOf(root, one))
}

type Said = readonly JsonValue[] | 'open' | undefined

function propertyOf(holder: JsonObject, name: string): Said {
  const { properties, patternProperties, additionalProperties } = holder
  if (isObject(properties) && Object.hasOwn(properties, name)) return [properties[name] ?? true]
  if (patternProperties !== undefined || additionalProperties === true) return 'open'
  if (isObject(additionalProperties)) return [additionalProperties]
  return isObject(properties) || additionalProperties === false || isClosed(holder) ? [] : undefined
}

function elementOf(holder: JsonObject): Said {
  const { items, prefixItems } = holder
  const all = [...(Array.isArray(prefixItems) ? prefixItems : []), ...(items === undefined ? [] : [items])]
  return all.length > 0 ? all : isClosed(holder) ? [] : undefined
}

/** True where the type alone says that a value has no parts. */
const isClosed = ({ type }: JsonObject): boolean => {
  const types = Array.isArray(type) ? type : [type]
  return types.every((one) => one === 'string' || one === 'number' || one === 'integer' || one === 'boolean' || one === 'null')
}

const COMBINED = ['allOf', 'anyOf', 'oneOf'] as const

/** A schema and all that it refers to or combines, each once. */
function alternativesOf(root: JsonSchema, schema: JsonObject, found = new Set<JsonObject>()): JsonObject[] {
  if (found.has(schema)) return [...found]
  found.add(schema)
  const inner: (JsonValue | undefined)[] = COMBINED.flatMap((key) => schema[key] ?? [])
  if (typeof schema.$ref === 'string') inner.push(resolveRef(root, schema.$ref))
  inner.push(schema.then, schema.else)
  if (isObject(schema.dependentSchemas)) inner.push(...Object.values(schema.dependentSchemas))
  for (const one of inner) if (isObject(one)) alternativesOf(root, one, found)
  return [...found]
}
