import type { JsonObject, JsonSchema, JsonValue, PreviewField } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { changesByItself, lasting } from '@countersign/toolkit/internal'

/**
 * The effect of a request on members and list entries that it does not send: they stay, they are removed (`go`), or the effect is unknown.
 */
export interface Unsent {
  members: 'stay' | 'go' | 'unknown'
  entries: 'go' | 'unknown'
}

/** The members that may identify the entries of a list. The first one that all entries have is used. */
const IDENTITIES = ['id', '_id', 'uuid', 'key', 'sku']

/**
 * Compares the body that is sent with the current values, leaf by leaf: `address.city`, and `lines[b].count` where the entries of a list
 * have ids. A value that is not sent gets a row only if the request removes it (old value without a new one) or if the effect is unknown
 * (one row with the names, as unchanged).
 * @param schema Describes `sent`. Only members that can be written are shown as removed.
 */
export function compareLeaves(sent: JsonObject, current: JsonObject, schema: JsonSchema | undefined, unsent: Unsent): PreviewField[] {
  return compareObjects('', sent, current, { schema, unsent })
}

/** How a value is compared: `schema` describes what is sent. */
interface Comparison {
  schema: JsonSchema | undefined
  unsent: Unsent
}

function compareValue(field: string, sent: JsonValue, current: JsonValue | undefined, comparison: Comparison): PreviewField[] {
  const { unsent } = comparison
  if (isObject(sent) && isObject(current) && Object.keys(sent).length > 0) {
    return compareObjects(field, sent, current, comparison)
  }
  if (Array.isArray(sent) && Array.isArray(current)) {
    const rows = compareLists(field, sent, current, comparison)
    if (rows) return rows
  }
  // An empty object has no effect on the members of the current one, unless it replaces it.
  if (isObject(sent) && isObject(current) && Object.keys(sent).length === 0 && unsent.members !== 'go') {
    return [{ field, newValue: sent }, ...(unsent.members === 'unknown' ? notSent(field, Object.keys(current).sort()) : [])]
  }
  const oldValue = current === undefined ? undefined : lasting(current)
  return [{ field, ...(oldValue !== undefined && { oldValue }), newValue: sent }]
}

function compareObjects(field: string, sent: JsonObject, current: JsonObject, { schema, unsent }: Comparison): PreviewField[] {
  const described = propertiesOf(schema)
  const isOpen = field !== '' && Object.keys(described).length === 0
  const rows = Object.keys(sent)
    .sort()
    .flatMap((name) =>
      compareValue(joined(field, name), sent[name] ?? null, own(current, name), { schema: asSchema(described[name]), unsent }),
    )
  if (unsent.members === 'stay') return rows
  // Only a schema shows which members the service alone writes. Without one, the effect on the other members is unknown.
  const left = Object.keys(isOpen ? current : described)
    .sort()
    .filter((name) => !Object.hasOwn(sent, name) && (own(current, name) ?? null) !== null && !changesByItself(name))
  if (unsent.members === 'unknown' || isOpen) return [...rows, ...notSent(field, left)]
  return [...rows, ...left.map((name) => ({ field: joined(field, name), oldValue: lasting(current[name] ?? null) }))]
}

/** Returns undefined when the entries have no identity or none is sent. The list is then compared as one value. */
function compareLists(
  field: string,
  sent: readonly JsonValue[],
  current: readonly JsonValue[],
  { schema, unsent }: Comparison,
): PreviewField[] | undefined {
  const there = byIdentity(current)
  if (!there || current.length === 0 || (sent.length === 0 && unsent.entries === 'go')) return undefined
  const { identity, entries } = there
  if (sent.length === 0) return [{ field, newValue: [] }, ...notSent(field, [...entries.keys()].map(rowName).sort())]
  const named = sent.filter((entry) => isObject(entry) && Object.hasOwn(entry, identity))
  const given = byIdentity(named, identity)
  if (!given || !sent.every(isObject)) return undefined
  const items = asSchema(schema?.items)
  // If the list is replaced, an entry that is sent replaces the whole current entry.
  const inside: Unsent = { ...unsent, members: unsent.entries }
  let fresh = 0
  const rows = sent.flatMap((entry): PreviewField[] => {
    const id = idOf(entry, identity)
    const before = id === undefined ? undefined : entries.get(id)
    const place = `${field}[${id === undefined ? `new ${++fresh}` : rowName(id)}]`
    if (before === undefined) return [{ field: place, newValue: entry }]
    const [given, known] = [without(entry, identity), without(before, identity)]
    return compareObjects(place, given, known, { schema: items && { properties: without(propertiesOf(items), identity) }, unsent: inside })
  })
  const left = [...entries.keys()].filter((id) => !given.entries.has(id))
  const gone =
    unsent.entries === 'unknown'
      ? notSent(field, left.map(rowName).sort())
      : left.map((id) => ({ field: `${field}[${rowName(id)}]`, oldValue: lasting(entries.get(id) ?? null) }))
  return [...rows, ...gone, ...otherOrder(field, [...entries.keys()], [...given.entries.keys()])]
}

/** Returns a row when the remaining entries have another order. */
function otherOrder(field: string, before: readonly string[], after: readonly string[]): PreviewField[] {
  const [was, is] = [before.filter((id) => after.includes(id)), after.filter((id) => before.includes(id))]
  return was.join('\n') === is.join('\n') ? [] : [{ field: `${field}, order`, oldValue: was, newValue: is }]
}

/**
 * Returns a row with the names of current members that are not sent, where the effect on them is unknown. The names are shown, so the
 * decision depends on them.
 */
function notSent(field: string, names: readonly string[]): PreviewField[] {
  if (names.length === 0) return []
  const words = `${names.join(', ')} (there now; the service decides what becomes of it)`
  return [{ field: field === '' ? 'not sent' : `${field}, not sent`, oldValue: words, newValue: words }]
}

/** True for a row that says what is not sent. It has the same words on both sides, but it is no unchanged value. */
export const saysNotSent = ({ field }: PreviewField): boolean => /(^|, )not sent$/.test(field)

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

/** Returns the members that a schema describes, including those of its `allOf` parts. */
export function propertiesOf(schema: JsonSchema | undefined): JsonObject {
  const parts = Array.isArray(schema?.allOf) ? schema.allOf.map((part) => propertiesOf(asSchema(part))) : []
  return Object.assign({}, ...parts, isObject(schema?.properties) ? schema.properties : {})
}

/** True when a schema has required members, itself or in one of its `allOf` parts. */
export const requiresSome = (schema: JsonSchema | undefined): boolean =>
  (Array.isArray(schema?.required) && schema.required.length > 0) ||
  (Array.isArray(schema?.allOf) && schema.allOf.some((part) => requiresSome(asSchema(part))))

export const asSchema = (value: JsonValue | undefined): JsonSchema | undefined => (isObject(value) ? value : undefined)

/** Returns an entry without its identity, which is shown in the name of its row. */
function without(object: JsonObject, identity: string): JsonObject {
  const { [identity]: _, ...others } = object
  return others
}

const own = (object: JsonObject, name: string): JsonValue | undefined => (Object.hasOwn(object, name) ? object[name] : undefined)

/** Quotes a name that could be taken for a path. */
export const rowName = (name: string): string => (/[.,[\]"]/.test(name) || name === '' ? JSON.stringify(name) : name)

const joined = (field: string, name: string): string => (field === '' ? rowName(name) : `${field}.${rowName(name)}`)
