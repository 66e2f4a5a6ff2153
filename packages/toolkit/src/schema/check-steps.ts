import type { JsonObject, JsonValue } from '@countersign/core'

/**
 * How much one check of arguments may look at. A step takes the validator 2 µs, so under 2 s in all, and each failed one leaves some 300
 * bytes. Subschemas times values would be 100 times as much: 5,000 alternatives against 20,000 entries.
 */
export const MAX_STEPS = 1_000_000

/** A list that must be unique is compared each with each: 2,000 entries take 0.1 s, 40,000 took 13 s. */
export const MAX_UNIQUE_ENTRIES = 2_000

/** Arguments hold a list that must be unique and is too long for that. */
export class TooLongList extends Error {}

/** A schema as the validator has marked it. */
type Node = JsonObject & { readonly __absolute_ref__?: string }

export interface Steps {
  /** The parts of the schema by address, as the validator finds them. */
  readonly lookup: Readonly<Record<string, unknown>>
  /**
   * True counts what the validator looks at to find the first fault, otherwise to find all of them: then it holds a wrong property also
   * against `additionalProperties`, which doubles with each level of a schema that refers to itself.
   */
  readonly firstFault: boolean
}

/** Keywords with one schema, and keywords with a list of them, that are held against the value itself. */
const ONE = ['not', 'if', 'then', 'else']
const LISTS = ['allOf', 'anyOf', 'oneOf']
/** Keywords that are compared with a value and written into the error. */
const COMPARED =
  'const enum type required dependentRequired minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains'.split(
    ' ',
  )
const OF_TEXT = ['format', 'minLength', 'maxLength']

/** Names that are looked up, and characters that are read, in the time of one step. */
const NAMES = 40
const CHARACTERS = 200
/** Comparisons of two entries. */
const PAIRS = 80
/** The validator's own engine tries a pattern at every place of a name: the square of its length. */
const SQUARED = 1_000

const ownSteps = new WeakMap<Node, number>()

/**
 * Counts what the validator looks at when it holds a value against a schema, before it does: for some schemas this multiplies at each level
 * of the value. Stops above {@link MAX_STEPS}.
 * @returns At least as many as the validator takes for arguments that fit.
 * @throws TooLongList. RangeError when the schema refers to itself without end.
 */
export function countSteps(schema: JsonValue, args: JsonObject, { lookup, firstFault }: Steps): number {
  let steps = 0
  const hold = (schemaOrBoolean: unknown, value: JsonValue): void => {
    steps++
    if (steps > MAX_STEPS || schemaOrBoolean === null || typeof schemaOrBoolean !== 'object') return
    const node = schemaOrBoolean as Node
    steps += ownStepsOf(node)
    if (node.$ref !== undefined) hold(lookup[node.__absolute_ref__ ?? String(node.$ref)], value)
    for (const keyword of ONE) if (node[keyword] !== undefined) hold(node[keyword], value)
    for (const keyword of LISTS) for (const inner of valuesOf(node[keyword])) hold(inner, value)
    if (typeof value === 'string' && OF_TEXT.some((keyword) => node[keyword] !== undefined)) steps += value.length / CHARACTERS
    if (Array.isArray(value)) holdEntries(node, value)
    else if (value !== null && typeof value === 'object') holdMembers(node, value)
  }

  const holdMembers = (node: Node, value: JsonObject): void => {
    const names = Object.keys(value)
    steps += names.length / NAMES
    const holdMember = (schema: unknown, name: string, member = value[name] ?? null) => {
      steps += name.length / CHARACTERS
      hold(schema, member)
    }
    for (const [name, inner] of membersOf(node.dependentSchemas)) if (Object.hasOwn(value, name)) hold(inner, value)
    for (const name of node.propertyNames === undefined ? [] : names) holdMember(node.propertyNames, name, name)
    const described = new Set<string>()
    for (const [name, inner] of membersOf(node.properties)) {
      if (!Object.hasOwn(value, name)) continue
      described.add(name)
      holdMember(inner, name)
    }
    for (const [pattern, inner] of membersOf(node.patternProperties)) {
      const matcher = new RegExp(pattern, 'u')
      for (const name of names) {
        steps += 0.1 + name.length ** 2 / SQUARED
        if (steps > MAX_STEPS) return
        if (!matcher.test(name)) continue
        described.add(name)
        holdMember(inner, name)
      }
    }
    for (const others of [node.additionalProperties, node.unevaluatedProperties]) {
      if (others === undefined) continue
      for (const name of names) if (!firstFault || !described.has(name)) holdMember(others, name)
    }
  }

  const holdEntries = (node: Node, entries: readonly JsonValue[]): void => {
    const prefix = valuesOf(node.prefixItems)
    // As drafts before 2020-12 have it: a list instead of `prefixItems`. The validator counts on where the other one ended.
    const listed = Array.isArray(node.items) ? node.items : []
    const all = [Array.isArray(node.items) ? undefined : node.items, node.contains]
    const rest = [node.additionalItems, node.unevaluatedItems]
    for (const [at, entry] of entries.entries()) {
      const isListed = at < prefix.length || at < listed.length
      const schemas = [prefix[at], listed[at], ...all, ...(isListed ? [] : rest)]
      for (const inner of schemas) if (inner !== undefined) hold(inner, entry)
    }
    if (!node.uniqueItems) return
    if (entries.length > MAX_UNIQUE_ENTRIES) throw new TooLongList()
    steps += ((entries.length + 1) * countValues(entries)) / PAIRS
  }

  hold(schema, args)
  return steps
}

const valuesOf = (value: unknown): readonly unknown[] => (typeof value === 'string' ? [...value] : Object.values(Object(value ?? {})))
const membersOf = (value: unknown): readonly [string, unknown][] => Object.entries(Object(value ?? {}))

const countValues = (value: JsonValue | readonly JsonValue[]): number =>
  value === null || typeof value !== 'object' ? 1 : Object.values(value).reduce<number>((sum, inner) => sum + countValues(inner), 1)

/** Returns the steps that a schema takes for any value. They are kept, because the same schema is held against thousands of values. */
function ownStepsOf(node: Node): number {
  const known = ownSteps.get(node)
  if (known !== undefined) return known
  const written = COMPARED.reduce((sum, keyword) => sum + (node[keyword] === undefined ? 0 : JSON.stringify(node[keyword]).length), 0)
  const names = [node.properties, node.dependentSchemas].reduce<number>((sum, value) => sum + membersOf(value).length, 0)
  // Each of these can be an error of its own.
  const required = [node.required, ...valuesOf(node.dependentRequired)].reduce<number>((sum, value) => sum + valuesOf(value).length, 0)
  const steps = written / CHARACTERS + names / NAMES + required + membersOf(node.patternProperties).length
  ownSteps.set(node, steps)
  return steps
}
