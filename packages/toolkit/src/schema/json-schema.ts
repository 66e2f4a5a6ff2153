import { dereference, format, type OutputUnit, type Schema, validate } from '@cfworker/json-schema'
import type { ArgumentCheck, JsonObject, JsonSchema, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { countSteps, MAX_STEPS, MAX_UNIQUE_ENTRIES, TooLongList } from './check-steps.ts'
import { count, type Finding, oneOf, toArgumentIssues, typeWords } from './issues.ts'
import { DATA_KEYWORDS, innerSchemas, NAMED_SCHEMAS } from './keywords.ts'
import { isPlainPattern, openCountedPattern, startCheck, TooMuchText } from './pattern.ts'
import { resolveRef } from './resolve-ref.ts'

// The library's pattern for its own (not a standard) format `url` takes exponential time: 60 characters hang the process.
if (format.uri) format.url = format.uri

/** The names that `patternProperties` is held against are matched by the validator's own engine. */
const MAX_NAME_CHARACTERS = 1_000

/**
 * Returns a check of arguments against a JSON Schema (2020-12). The schema is interpreted: no code is generated. Valid arguments are
 * returned unchanged: `default` is a hint for the model and changes nothing, so the proposed bytes are the stored bytes.
 *
 * @throws Error in plain words when the schema itself is unusable: not an object's, a remote or dangling `$ref`, a bad pattern.
 * @example
 * const check = openJsonSchema({ type: 'object', required: ['id'], properties: { id: { type: 'string' } } })
 * check({}) // { ok: false, issues: [{ path: '/id', message: 'id is required.' }] }
 */
export function openJsonSchema(schema: JsonSchema): (args: JsonObject) => ArgumentCheck {
  const reason = schemaFault(schema)
  if (reason !== undefined) throw new Error(reason)
  // The validator marks the schema object it is given; ours is hashed and shown, so it gets a copy.
  const copy = toValidator(schema) as Schema
  const lookup = dereference(copy)
  addTargets(schema, lookup)
  const namesByPattern = JSON.stringify(schema).includes('"patternProperties":')
  return (args) => {
    if (namesByPattern && hasLongName(args)) {
      const words = `holds a name with more than ${MAX_NAME_CHARACTERS} characters`
      return { ok: false, issues: toArgumentIssues([{ path: [], words }]) }
    }
    const errors = errorsOf(copy, lookup, args)
    return errors.length === 0 ? { ok: true, value: args } : { ok: false, issues: toArgumentIssues(leaves(errors).map(toFinding)) }
  }
}

function hasLongName(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object') return false
  const isLong = !Array.isArray(value) && Object.keys(value).some((name) => name.length > MAX_NAME_CHARACTERS)
  return isLong || Object.values(value).some(hasLongName)
}

const PATTERN = 'pattern '

/**
 * Keywords that the validator does not need. Every `$ref` here is a path from the top, so an `$id` or an `$anchor` names nothing: within each
 * other, each `$id` would only make the validator read everything below it twice.
 */
const LEFT_OUT = new Set(['$id', 'id', '$anchor', 'default', 'examples', 'dependencies'])

/** A copy in which every `pattern` is a format of ours, which the validator asks instead of compiling the pattern itself. */
function toValidator(node: JsonValue): JsonValue {
  if (node === null || typeof node !== 'object') return node
  if (Array.isArray(node)) return node.map(toValidator)
  const kept = Object.entries(node).filter(([keyword]) => !LEFT_OUT.has(keyword))
  const copy: JsonObject = Object.fromEntries(
    kept.map(([keyword, value]) => [
      keyword,
      DATA_KEYWORDS.has(keyword) ? structuredClone(value) : NAMED_SCHEMAS.has(keyword) ? byName(value) : toValidator(value),
    ]),
  )
  const added: JsonValue[] = []
  if (typeof copy.pattern === 'string') {
    const name = PATTERN + copy.pattern
    format[name] ??= openCountedPattern(copy.pattern)
    delete copy.pattern
    added.push({ format: name })
  }
  if (isObject(node.dependencies)) added.push(dependenciesOf(node.dependencies))
  // At the end: a $ref may count the entries before it.
  return added.length === 0 ? copy : { ...copy, allOf: [...(Array.isArray(copy.allOf) ? copy.allOf : []), ...added] }
}

/**
 * Adds what a `$ref` leads to and the validator has not found by itself: it takes a member called `default` or `enum` for data wherever it is,
 * and knows a name by one of its spellings.
 */
function addTargets(schema: JsonSchema, lookup: Record<string, Schema | boolean>): void {
  const copies = new Map<JsonValue, Schema>()
  const nodes = Object.values(lookup)
  // A list that grows while it is walked: what is added may refer to more.
  for (const node of nodes) {
    const { $ref, __absolute_ref__: address } = Object(node) as Schema
    const target = address === undefined || lookup[address] !== undefined ? undefined : resolveRef(schema, String($ref))
    if (address === undefined || target === undefined) continue
    const known = copies.get(target)
    const copy = known ?? (toValidator(target) as Schema)
    lookup[address] = copy
    if (known) continue
    copies.set(target, copy)
    const base = new URL(address)
    const pointer = base.hash.slice(1)
    base.hash = ''
    for (const [place, inner] of Object.entries(dereference(copy, Object.create(null), base, pointer))) {
      lookup[place] ??= inner
      nodes.push(inner)
    }
  }
}

const byName = (schemas: JsonValue): JsonValue =>
  isObject(schemas)
    ? Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, toValidator(schema)]))
    : toValidator(schemas)

/** `dependencies` of the drafts before 2019-09 as the two keywords that took its place. */
function dependenciesOf(dependencies: JsonObject): JsonObject {
  const [lists, schemas] = [true, false].map((isList) =>
    Object.fromEntries(Object.entries(dependencies).filter(([, value]) => Array.isArray(value) === isList)),
  )
  return { dependentRequired: lists ?? {}, dependentSchemas: byName(schemas ?? {}) }
}

/** Enough for any answer: what follows compares errors with each other, and a long list of wrong entries has hundreds of thousands. */
const MAX_ERRORS = 300

/** Keywords of ours, for arguments that are too much to check. */
const TOO_MUCH = {
  tooMuchText: 'holds more text than can be matched with the patterns of this tool',
  tooManySteps: 'holds more values than can be checked with the schema of this tool',
  tooLongList: `holds a list with more than ${MAX_UNIQUE_ENTRIES} entries`,
  unchecked: 'could not be checked',
}

function errorsOf(schema: Schema, lookup: Record<string, Schema | boolean>, args: JsonObject): OutputUnit[] {
  const whole = (keyword: keyof typeof TOO_MUCH) => [{ keyword, keywordLocation: '#', instanceLocation: '#', error: '' }]
  try {
    const isTooMuch = (firstFault: boolean) => countSteps(schema, args, { lookup, firstFault }) > MAX_STEPS
    const firstFault = isTooMuch(false)
    if (firstFault && isTooMuch(true)) return whole('tooManySteps')
    startCheck()
    return validate(withoutPrototype(args), schema, '2020-12', lookup, firstFault).errors.slice(0, MAX_ERRORS)
  } catch (error) {
    if (error instanceof TooMuchText) return whole('tooMuchText')
    if (error instanceof TooLongList) return whole('tooLongList')
    // It spreads its errors as arguments and so overflows on very many; and a $ref may lead to what is no schema, such as a list.
    return whole('unchecked')
  }
}

/** Why a schema cannot be used, or undefined. Everything that would throw at the first call is found here, when it is read. */
function schemaFault(schema: JsonSchema): string | undefined {
  if (schema.type !== 'object') return 'must describe an object (type: object)'
  const seen = new Set<JsonValue>()
  /** The target of a `$ref` is a schema too, even inside a keyword that holds data, such as `examples`. */
  const targets: [place: string, node: JsonValue][] = []
  const walk = (node: JsonValue, where: string): string | undefined => {
    if (node === null || typeof node !== 'object' || seen.has(node)) return undefined
    seen.add(node)
    if (Array.isArray(node)) return firstOf(node.entries(), where)
    const place = where || 'its top'
    if (typeof node.$ref === 'string') {
      const target = resolveRef(schema, node.$ref)
      if (target === undefined) return `has a $ref at ${place} that does not resolve inside the schema: ${node.$ref}`
      targets.push([`${where}/$ref`.slice(1), target])
    }
    if (node.$recursiveRef !== undefined) return `has a $recursiveRef at ${place}, which JSON Schema 2020-12 does not know: use $ref`
    const fault = patternFault(node)
    return fault === undefined ? firstOf(innerSchemas(node), where) : `has a pattern at ${place} that ${fault}`
  }
  const firstOf = (inner: Iterable<[place: string | number, node: JsonValue]>, where: string): string | undefined => {
    for (const [place, node] of inner) {
      const fault = walk(node, `${where}/${place}`)
      if (fault !== undefined) return fault
    }
    return undefined
  }
  return walk(schema, '') ?? firstOf(targets, '')
}

function patternFault({ pattern, patternProperties: names }: JsonObject): string | undefined {
  if (typeof pattern === 'string') {
    try {
      openCountedPattern(pattern)
    } catch (error) {
      return `${error instanceof Error ? error.message : error}: ${pattern}`
    }
  }
  const byName = names !== null && typeof names === 'object' && !Array.isArray(names) ? Object.keys(names) : []
  const wrong = byName.find((name) => !isPlainPattern(name))
  return wrong === undefined ? undefined : `is not plain: no groups or choices, at most one * or +: ${wrong}`
}

/** The validator asks `key in value`: with a prototype, a missing `toString` would count as present. */
function withoutPrototype(value: JsonValue): JsonValue {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(withoutPrototype)
  const bare: JsonObject = Object.create(null)
  for (const [key, child] of Object.entries(value)) bare[key] = withoutPrototype(child)
  return bare
}

/** Keywords that only say that something further down is wrong. */
const CONTAINERS = new Set(
  '$ref $recursiveRef allOf properties patternProperties additionalProperties unevaluatedProperties propertyNames items prefixItems unevaluatedItems dependentSchemas if'.split(
    ' ',
  ),
)

/**
 * The errors worth saying: of a failed choice the choice itself, not why each alternative did not fit. The validator also calls a
 * member unknown when it is known and wrong; only what is wrong is said then.
 */
function leaves(errors: readonly OutputUnit[]): OutputUnit[] {
  const choices = errors.filter((unit) => unit.keyword === 'anyOf' || unit.keyword === 'oneOf')
  const said = errors.filter(
    (unit) => !CONTAINERS.has(unit.keyword) && !choices.some((choice) => unit.keywordLocation.startsWith(`${choice.keywordLocation}/`)),
  )
  const wrong = said.filter((unit) => unit.keyword !== 'false').map((unit) => `${unit.instanceLocation}/`)
  return said.filter((unit) => unit.keyword !== 'false' || !wrong.some((place) => place.startsWith(`${unit.instanceLocation}/`)))
}

function toFinding(unit: OutputUnit): Finding {
  const path = unit.instanceLocation
    .split('/')
    .slice(1)
    .map((token) => decodeURI(token).replaceAll('~1', '/').replaceAll('~0', '~'))
  const named = unit.keyword === 'required' ? /property "([\s\S]*)"\.$/.exec(unit.error)?.[1] : undefined
  if (named !== undefined) return { path: [...path, named], words: 'is required' }
  return { path, words: unitWords(unit) }
}

function unitWords({ keyword, error }: OutputUnit): string {
  const limit = Number(/[<>] (-?[\d.e+-]+)\)?\.$/.exec(error)?.[1] ?? /than(?: or equal to)? (-?[\d.e+-]+?)\.$/.exec(error)?.[1])
  if (Object.hasOwn(TOO_MUCH, keyword)) return TOO_MUCH[keyword as keyof typeof TOO_MUCH]
  switch (keyword) {
    case 'false':
      return 'is not known here'
    case 'type':
      return `must be ${[...(/Expected (.*)\.$/.exec(error)?.[1] ?? '').matchAll(/"(\w+)"/g)].map((match) => typeWords(match[1] ?? '')).join(' or ')}`
    case 'enum':
      return `must be ${oneOf(JSON.parse(error.slice(error.indexOf('['), -1)) as unknown[])}`
    case 'const':
      return `must be ${error.slice('Instance does not match '.length, -1)}`
    case 'minLength':
      return `must have at least ${count(limit, 'character')}`
    case 'maxLength':
      return `must have at most ${count(limit, 'character')}`
    case 'minimum':
      return `must be at least ${limit}`
    case 'maximum':
      return `must be at most ${limit}`
    case 'minItems':
      return `must have at least ${limit} ${limit === 1 ? 'entry' : 'entries'}`
    case 'maxItems':
      return `must have at most ${limit} ${limit === 1 ? 'entry' : 'entries'}`
    case 'anyOf':
    case 'oneOf':
      return 'has none of the allowed shapes'
    case 'format':
      return formatWords(/"([\s\S]*)"/.exec(error)?.[1] ?? 'value')
    default:
      return `is refused: ${error.replace(/\.$/, '')}`
  }
}

const formatWords = (name: string): string =>
  name.startsWith(PATTERN) ? 'does not have the form that is asked for' : `must be a valid ${name}`
