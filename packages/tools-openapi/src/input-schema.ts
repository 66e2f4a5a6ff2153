import type { JsonObject, JsonSchema, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { isPlainPattern, openCountedPattern } from '@countersign/toolkit/internal'
import { merged, nullable } from './merge-schemas.ts'
import { proseLine, textOf } from './parts.ts'
import { hiddenIn, isReadOnly } from './read-only.ts'
import type { Refs } from './refs.ts'

/** The maximum size of a schema, which a model reads with every call. Larger ones are cut at their deepest parts. */
const MAX_NODES = 800
/** The numbers of nested references to follow, tried in order until the schema is small enough. */
const DEPTHS = [40, 8, 6, 5, 4, 3, 2, 1, 0]
const MAX_DESCRIPTION = 400

const NUMBERS = 'minimum maximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties'.split(' ')
const TEXTS = ['title', 'format', 'contentEncoding', 'contentMediaType']

class TooLarge extends Error {}

interface State {
  nodes: number
  /** The number of references that were not followed. */
  cuts: number
  readonly maxDepth: number
  /** The references that lead to the current node. */
  readonly stack: string[]
}

/**
 * Returns the JSON Schema (2020-12) of a request from a schema of the document: bounded, and without references, so that every provider
 * accepts it. Members that only answers contain (`readOnly`) are left out. The result is never stricter than the document: where a schema
 * contains itself or grows too large, the rest is left open, with a note. `oneOf` becomes `anyOf`, because alternatives in documents often
 * overlap. Keywords that cannot be checked in bounded time are left out. The service makes the final check.
 * @param schema A schema that `refs.prove` has accepted.
 */
export function inputSchemaOf(schema: JsonValue, refs: Refs): JsonSchema {
  for (const maxDepth of DEPTHS) {
    try {
      return convert(schema, refs, { nodes: 0, cuts: 0, maxDepth, stack: [] })
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error
    }
  }
  return { description: 'Larger than can be shown here: anything that the service takes.' }
}

const NOTHING: ReadonlySet<string> = new Set()

/** @param outer The members of the same object that an enclosing schema leaves out. */
function convert(node: JsonValue | undefined, refs: Refs, state: State, outer = NOTHING): JsonSchema {
  if (++state.nodes > MAX_NODES) throw new TooLarge()
  if (node === false) return { not: {} }
  if (!isObject(node)) return {}
  const ref = textOf(node.$ref)
  const hidden = new Set([...outer, ...hiddenIn(node, refs)])
  if (ref === undefined) return convertOwn(node, refs, state, hidden)
  const { $ref: _, ...beside } = node
  const target = convertRef(ref, refs, state, hidden)
  const own = convertOwn(beside, refs, state, hidden)
  return Object.keys(own).length === 0 ? target : merged([target, own])
}

function convertRef(ref: string, refs: Refs, state: State, hidden: ReadonlySet<string>): JsonSchema {
  const target = refs.at(ref)
  if (state.stack.includes(ref) || state.stack.length >= state.maxDepth) {
    state.cuts++
    const name = ref.split('/').at(-1) ?? ref
    const type: JsonSchema = isObject(target) && (target.type === 'object' || target.type === 'array') ? { type: target.type } : {}
    return { ...type, description: `${state.stack.includes(ref) ? `Another ${name}, as above` : `A ${name}`}; not described further here.` }
  }
  state.stack.push(ref)
  const schema = convert(target, refs, state, hidden)
  state.stack.pop()
  return schema
}

function convertOwn(node: JsonObject, refs: Refs, state: State, hidden: ReadonlySet<string>): JsonSchema {
  const schema: JsonSchema = { ...typeOf(node), ...plainKeywords(node), ...limitsOf(node), ...patternsOf(node, refs, state) }
  if (isObject(node.properties)) {
    const properties: JsonSchema = {}
    for (const [name, child] of Object.entries(node.properties)) {
      if (!isReadOnly(child, refs)) put(properties, name, convert(child, refs, state))
    }
    schema.properties = properties
  }
  if (Array.isArray(node.required)) {
    // Fewer required members inside `not` would make the schema stricter.
    if (node.required.some((name) => hidden.has(String(name)))) state.cuts++
    const required = node.required.filter((name) => typeof name === 'string' && !hidden.has(name))
    if (required.length > 0) schema.required = [...new Set(required)]
  }
  if (node.additionalProperties !== undefined) {
    schema.additionalProperties =
      typeof node.additionalProperties === 'boolean' ? node.additionalProperties : convert(node.additionalProperties, refs, state)
  }
  if (isObject(node.items) || typeof node.items === 'boolean') schema.items = convert(node.items, refs, state)
  if (Array.isArray(node.prefixItems)) schema.prefixItems = node.prefixItems.map((child) => convert(child, refs, state))
  const choices = [node.anyOf, node.oneOf]
    .filter((list) => Array.isArray(list))
    .map((list) =>
      choiceOf(
        list.map((child) => convert(child, refs, state, hidden)),
        node,
      ),
    )
  const not = notOf(node, refs, state)
  const all = Array.isArray(node.allOf) ? node.allOf.map((child) => convert(child, refs, state, hidden)) : []
  const whole = merged([...all, schema, ...choices, ...not])
  const isNullable = node.nullable === true || node['x-nullable'] === true
  return isNullable ? nullable(whole) : whole
}

/** Sets a member by any name, including `__proto__`. */
const put = (object: JsonSchema, name: string, value: JsonValue) =>
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })

function typeOf(node: JsonObject): JsonSchema {
  const { type } = node
  if (type === undefined || type === null) return isObject(node.properties) ? { type: 'object' } : {}
  const types = Array.isArray(type) ? type : [type]
  // Swagger 2.0 has the type `file`. Files inside forms are handled earlier.
  if (types.includes('file')) return { type: 'string' }
  return { type: types.length === 1 ? (types[0] ?? null) : types }
}

function plainKeywords(node: JsonObject): JsonSchema {
  const found: JsonSchema = {}
  const about = typeof node.description === 'string' ? proseLine(node.description, MAX_DESCRIPTION) : ''
  const tells = isObject(node.discriminator) ? textOf(node.discriminator.propertyName) : undefined
  const words = [about, tells === undefined ? '' : `"${tells}" says which kind it is`].filter((text) => text !== '').join('. ')
  if (words !== '') found.description = words
  for (const key of TEXTS) if (typeof node[key] === 'string') found[key] = node[key]
  if (Array.isArray(node.enum) && node.enum.length > 0) found.enum = [...node.enum]
  if (node.const !== undefined) found.const = node.const
  if (node.default !== undefined) found.default = node.default
  if (node.deprecated === true) found.deprecated = true
  if (node.uniqueItems === true) found.uniqueItems = true
  const example = node.example ?? (Array.isArray(node.examples) ? node.examples[0] : undefined)
  if (example !== undefined && example !== null && typeof example !== 'object') found.examples = [example]
  return found
}

function limitsOf(node: JsonObject): JsonSchema {
  const found: JsonSchema = {}
  for (const key of NUMBERS) if (typeof node[key] === 'number') found[key] = node[key]
  for (const [exclusive, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    // Up to 3.0 it is a flag beside the limit, since 3.1 a limit of its own.
    if (typeof node[exclusive] === 'number') found[exclusive] = node[exclusive]
    else if (node[exclusive] === true && typeof node[limit] === 'number') {
      found[exclusive] = node[limit]
      delete found[limit]
    }
  }
  return found
}

function patternsOf(node: JsonObject, refs: Refs, state: State): JsonSchema {
  const found: JsonSchema = {}
  if (typeof node.pattern === 'string' && !refs.isTooCostly(node.pattern) && canMatch(node.pattern)) found.pattern = node.pattern
  if (isObject(node.patternProperties)) {
    const named = Object.entries(node.patternProperties)
    if (named.every(([name]) => isPlainPattern(name))) {
      found.patternProperties = Object.fromEntries(named.map(([name, child]) => [name, convert(child, refs, state)]))
    }
  }
  return found
}

function canMatch(pattern: string): boolean {
  try {
    openCountedPattern(pattern)
    return true
  } catch {
    return false
  }
}

function choiceOf(choices: JsonSchema[], node: JsonObject): JsonSchema {
  const [only] = choices
  // Members beside the alternatives apply to all of them.
  const type: JsonSchema = node.type === 'object' && choices.every((choice) => choice.type === undefined) ? { type: 'object' } : {}
  return choices.length === 1 && only ? only : { ...type, anyOf: choices }
}

/** Returns the negated schema. A schema that was cut allows too much, so its negation would allow too little. */
function notOf(node: JsonObject, refs: Refs, state: State): JsonSchema[] {
  if (!isObject(node.not)) return []
  const before = state.cuts
  const not = convert(node.not, refs, state)
  return state.cuts === before ? [{ not }] : []
}
