import type { JsonObject, JsonSchema, JsonValue, PreviewField } from '@countersign/core'
import { changesByItself, isObject, lasting } from '@countersign/toolkit/internal'

/** What a request does with what it does not name: `stays`, `goes`, or nobody can tell. */
export interface Unsent {
  members: 'stay' | 'go' | 'unknown'
  entries: 'go' | 'unknown'
}

/** What tells the entries of a list apart, the first that all have. */
const IDENTITIES = ['id', '_id', 'uuid', 'key', 'sku']

/**
 * What is sent held against what is there, leaf by leaf: `address.city`, and `lines[b].count` where the entries of a list have ids. What is
 * not sent is a row only where it goes (old value, no new one) or where nobody can tell (one row with the names, as it is).
 * @param schema Describes `sent`: of what is there, only what can be written can go.
 */
export function compareLeaves(sent: JsonObject, current: JsonObject, schema: JsonSchema | undefined, unsent: Unsent): PreviewField[] {
  return compareObjects('', sent, current, schema, unsent)
}

function compareValue(
  field: string,
  sent: JsonValue,
  current: JsonValue | undefined,
  schema: JsonSchema | undefined,
  unsent: Unsent,
): PreviewField[] {
  if (isObject(sent) && isObject(current) && Object.keys(sent).length > 0 && !isFile(sent)) {
    return compareObjects(field, sent, current, schema, unsent)
  }
  if (Array.isArray(sent) && Array.isArray(current)) {
    const rows = compareLists(field, sent, current, schema, unsent)
    if (rows) return rows
  }
  // An empty object says nothing about what is in the one that is there, except where it replaces it.
  if (isObject(sent) && isObject(current) && Object.keys(sent).length === 0 && unsent.members !== 'go') {
    return [{ field, newValue: sent }, ...(unsent.members === 'unknown' ? notSent(field, Object.keys(current).sort()) : [])]
  }
  const oldValue = current === undefined ? undefined : lasting(current)
  return [{ field, ...(oldValue !== undefined && { oldValue }), newValue: fileWords(sent) }]
}

function compareObjects(
  field: string,
  sent: JsonObject,
  current: JsonObject,
  schema: JsonSchema | undefined,
  unsent: Unsent,
): PreviewField[] {
  const described = propertiesOf(schema)
  const isOpen = field !== '' && Object.keys(described).length === 0
  const rows = Object.keys(sent)
    .sort()
    .flatMap((name) => compareValue(joined(field, name), sent[name] ?? null, own(current, name), asSchema(described[name]), unsent))
  if (unsent.members === 'stay') return rows
  // Which of the members of a thing its service alone writes, only a description tells. Inside of it nobody can tell without one.
  const left = Object.keys(isOpen ? current : described)
    .sort()
    .filter((name) => !Object.hasOwn(sent, name) && (own(current, name) ?? null) !== null && !changesByItself(name))
  if (unsent.members === 'unknown' || isOpen) return [...rows, ...notSent(field, left)]
  return [...rows, ...left.map((name) => ({ field: joined(field, name), oldValue: lasting(current[name] ?? null) }))]
}

/** Undefined where the entries cannot be told apart, or none is sent: then the list is one value. */
function compareLists(
  field: string,
  sent: readonly JsonValue[],
  current: readonly JsonValue[],
  schema: JsonSchema | undefined,
  unsent: Unsent,
): PreviewField[] | undefined {
  const there = byIdentity(current)
  if (!there || current.length === 0 || (sent.length === 0 && unsent.entries === 'go')) return undefined
  const { identity, entries } = there
  if (sent.length === 0) return [{ field, newValue: [] }, ...notSent(field, [...entries.keys()].map(rowName).sort())]
  const named = sent.filter((entry) => isObject(entry) && Object.hasOwn(entry, identity))
  const given = byIdentity(named, identity)
  if (!given || !sent.every(isObject)) return undefined
  const items = asSchema(schema?.items)
  // An entry that is sent stands for the whole entry where the list is replaced.
  const inside: Unsent = { ...unsent, members: unsent.entries }
  let fresh = 0
  const rows = sent.flatMap((entry): PreviewField[] => {
    const id = idOf(entry, identity)
    const before = id === undefined ? undefined : entries.get(id)
    const place = `${field}[${id === undefined ? `new ${++fresh}` : rowName(id)}]`
    if (before === undefined) return [{ field: place, newValue: entry }]
    const [given, known] = [without(entry, identity), without(before, identity)]
    return compareObjects(place, given, known, items && { properties: without(propertiesOf(items), identity) }, inside)
  })
  const left = [...entries.keys()].filter((id) => !given.entries.has(id))
  const gone =
    unsent.entries === 'unknown'
      ? notSent(field, left.map(rowName).sort())
      : left.map((id) => ({ field: `${field}[${rowName(id)}]`, oldValue: lasting(entries.get(id) ?? null) }))
  return [...rows, ...gone, ...otherOrder(field, [...entries.keys()], [...given.entries.keys()])]
}

/** That the entries which stay stand in another order. */
function otherOrder(field: string, before: readonly string[], after: readonly string[]): PreviewField[] {
  const [was, is] = [before.filter((id) => after.includes(id)), after.filter((id) => before.includes(id))]
  return was.join('\n') === is.join('\n') ? [] : [{ field: `${field}, order`, oldValue: was, newValue: is }]
}

/** What is there and is not sent, where nobody can tell what becomes of it. Its names are what people see, so a decision rests on them. */
function notSent(field: string, names: readonly string[]): PreviewField[] {
  if (names.length === 0) return []
  const words = `${names.join(', ')} (there now; the service decides what becomes of it)`
  return [{ field: field === '' ? 'not sent' : `${field}, not sent`, oldValue: words, newValue: words }]
}

function byIdentity(list: readonly JsonValue[], wanted?: string): { identity: string; entries: Map<string, JsonObject> } | undefined {
  for (const identity of wanted === undefined ? IDENTITIES : [wanted]) {
    const entries = new Map<string, JsonObject>()
    for (const entry of list) {
      const id = idOf(entry, identity)
      if (id !== undefined && isObject(entry)) entries.set(id, entry)
    }
    if (entries.size === list.length) return { identity, entries }
  }
  return undefined
}

function idOf(entry: JsonValue, identity: string): string | undefined {
  const id = isObject(entry) ? own(entry, identity) : undefined
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined
}

/** A file on a card is its name and size. */
export function fileWords(value: JsonValue): JsonValue {
  if (!isFile(value)) return value
  return `${typeof value.filename === 'string' ? value.filename : 'a file'} (${bytesWords(value.base64 ?? '')})`
}

export const bytesWords = (base64: JsonValue): string => `${Buffer.from(String(base64), 'base64').byteLength} bytes`

const isFile = (value: JsonValue): value is JsonObject => isObject(value) && typeof value.base64 === 'string'

/** The members that a schema describes, those of all its parts together. */
export function propertiesOf(schema: JsonSchema | undefined): JsonObject {
  const parts = Array.isArray(schema?.allOf) ? schema.allOf.map((part) => propertiesOf(asSchema(part))) : []
  return Object.assign({}, ...parts, isObject(schema?.properties) ? schema.properties : {})
}

/** True where a schema says that something has to be there, by itself or by one of its parts. */
export const requiresSome = (schema: JsonSchema | undefined): boolean =>
  (Array.isArray(schema?.required) && schema.required.length > 0) ||
  (Array.isArray(schema?.allOf) && schema.allOf.some((part) => requiresSome(asSchema(part))))

export const asSchema = (value: JsonValue | undefined): JsonSchema | undefined => (isObject(value) ? value : undefined)

/** An entry without its identity, which stands in its place. */
function without(object: JsonObject, identity: string): JsonObject {
  const { [identity]: _, ...others } = object
  return others
}

const own = (object: JsonObject, name: string): JsonValue | undefined => (Object.hasOwn(object, name) ? object[name] : undefined)

/** A name that could be taken for a path stands in quotes. */
export const rowName = (name: string): string => (/[.,[\]"]/.test(name) || name === '' ? JSON.stringify(name) : name)

const joined = (field: string, name: string): string => (field === '' ? rowName(name) : `${field}.${rowName(name)}`)
