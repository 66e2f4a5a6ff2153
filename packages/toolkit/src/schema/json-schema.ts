import { format, type OutputUnit, type Schema, Validator } from '@cfworker/json-schema'
import type { ArgumentCheck, JsonObject, JsonSchema, JsonValue } from '@countersign/core'
import { count, type Finding, oneOf, toArgumentIssues, typeWords } from './issues.ts'
import { isPlainPattern, openCountedPattern, startCheck, TooMuchText } from './pattern.ts'
import { resolveRef } from './resolve-ref.ts'

// The library's pattern for its own (not a standard) format `url` takes exponential time: 60 characters hang the process.
if (format.uri) format.url = format.uri

/** A list that must be unique is compared each with each: 2,000 entries take 0.1 s, 40,000 took 13 s. */
const MAX_UNIQUE_ENTRIES = 2_000
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
  const validator = new Validator(withLinearPatterns(schema) as Schema, '2020-12', false)
  const isUnique = JSON.stringify(schema).includes('"uniqueItems":true')
  const namesByPattern = JSON.stringify(schema).includes('"patternProperties":')
  return (args) => {
    if (namesByPattern && hasLongName(args)) {
      const words = `holds a name with more than ${MAX_NAME_CHARACTERS} characters`
      return { ok: false, issues: toArgumentIssues([{ path: [], words }]) }
    }
    if (isUnique && hasLongList(args)) {
      const words = `holds a list with more than ${MAX_UNIQUE_ENTRIES} entries`
      return { ok: false, issues: toArgumentIssues([{ path: [], words }]) }
    }
    const errors = errorsOf(validator, args)
    return errors.length === 0 ? { ok: true, value: args } : { ok: false, issues: toArgumentIssues(leaves(errors).map(toFinding)) }
  }
}

function hasLongList(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object') return false
  return (Array.isArray(value) && value.length > MAX_UNIQUE_ENTRIES) || Object.values(value).some(hasLongList)
}

function hasLongName(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object') return false
  const isLong = !Array.isArray(value) && Object.keys(value).some((name) => name.length > MAX_NAME_CHARACTERS)
  return isLong || Object.values(value).some(hasLongName)
}

const PATTERN = 'pattern '

/** A copy in which every `pattern` is a format of ours, which the validator asks instead of compiling the pattern itself. */
function withLinearPatterns(node: JsonValue): JsonValue {
  if (node === null || typeof node !== 'object') return node
  if (Array.isArray(node)) return node.map(withLinearPatterns)
  const copy = Object.fromEntries(
    Object.entries(node).map(([key, child]): [string, JsonValue] => [
      key,
      DATA_KEYWORDS.has(key) ? structuredClone(child) : withLinearPatterns(child),
    ]),
  )
  if (typeof copy.pattern !== 'string') return copy
  const { pattern, allOf, ...rest } = copy
  const name = PATTERN + pattern
  format[name] ??= openCountedPattern(pattern)
  // At the end: a $ref may count the entries before it.
  return { ...rest, allOf: [...(Array.isArray(allOf) ? allOf : []), { format: name }] }
}

/** Enough for any answer: what follows compares errors with each other, and a long list of wrong entries has hundreds of thousands. */
const MAX_ERRORS = 300

/** A keyword of ours. */
const TOO_MUCH_TEXT = 'tooMuchText'

function errorsOf(validator: Validator, args: JsonObject): OutputUnit[] {
  try {
    startCheck()
    return validator.validate(withoutPrototype(args)).errors.slice(0, MAX_ERRORS)
  } catch (error) {
    if (error instanceof TooMuchText) return [{ keyword: TOO_MUCH_TEXT, keywordLocation: '#', instanceLocation: '#', error: '' }]
    // It spreads its errors as arguments and so overflows on very many; and a $ref under a nested $id may turn out to lead nowhere.
    return [{ keyword: 'unchecked', keywordLocation: '#', instanceLocation: '#', error: '' }]
  }
}

/** Why a schema cannot be used, or undefined. Everything that would throw at the first call is found here, when it is read. */
function schemaFault(schema: JsonSchema): string | undefined {
  if (schema.type !== 'object') return 'must describe an object (type: object)'
  const walk = (node: JsonValue, where: string): string | undefined => {
    if (node === null || typeof node !== 'object') return undefined
    if (!Array.isArray(node)) {
      if (typeof node.$ref === 'string' && resolveRef(schema, node.$ref) === undefined) {
        return `has a $ref at ${where || 'its top'} that does not resolve inside the schema: ${node.$ref}`
      }
      const fault = patternFault(node)
      if (fault !== undefined) return `has a pattern at ${where || 'its top'} that ${fault}`
    }
    for (const [key, child] of Object.entries(node)) {
      const fault = DATA_KEYWORDS.has(key) ? undefined : walk(child, `${where}/${key}`)
      if (fault !== undefined) return fault
    }
    return undefined
  }
  return walk(schema, '')
}

/** Keywords whose value is data, not schema: a `$ref` in there is somebody's text. */
const DATA_KEYWORDS = new Set(['default', 'enum', 'const', 'examples'])

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
    case TOO_MUCH_TEXT:
      return 'holds more text than can be matched with the patterns of this tool'
    case 'unchecked':
      return 'could not be checked'
    case 'format':
      return formatWords(/"([\s\S]*)"/.exec(error)?.[1] ?? 'value')
    default:
      return `is refused: ${error.replace(/\.$/, '')}`
  }
}

const formatWords = (name: string): string =>
  name.startsWith(PATTERN) ? 'does not have the form that is asked for' : `must be a valid ${name}`
