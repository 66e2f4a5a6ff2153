import { canonicalJson, type JsonObject, type JsonValue } from '@countersign/core'

/** The most values of a text that are listed. Each must have been seen twice on average. */
const MAX_LISTED = 4
/** The length of the beginning that more values must share, such as `ORD-` of an order's number. */
const MIN_PREFIX = 3

/**
 * The narrowest condition (CEL) that allows for what varies between calls of one tool: what was always the same stays the same, numbers stay
 * within what was seen, texts are among those seen or begin alike. Undefined where the calls are all the same, where they differ in
 * more than that, or have other arguments than the first: then only exactly these arguments are narrow.
 *
 * @example
 * narrowRule([{ order: 'ORD-1', status: 'shipped' }, { order: 'ORD-2', status: 'shipped' }])
 * // 'size(args) == 2 && args.order.startsWith("ORD-") && size(args.order) <= 5 && args.status == "shipped"'
 */
export function narrowRule(calls: readonly JsonObject[]): string | undefined {
  const [first] = calls
  if (!first) return undefined
  const names = Object.keys(first).sort()
  const alike = calls.filter((call) => canonicalJson(Object.keys(call).sort()) === canonicalJson(names))
  const conditions = [`size(args) == ${names.length}`]
  let varies = false
  for (const name of names) {
    const values = alike.map((call) => call[name] ?? null)
    const isSame = new Set(values.map(canonicalJson)).size === 1
    const condition = isSame ? sameAs(name, values[0] ?? null) : withinSeen(name, values)
    if (condition === undefined) return undefined
    conditions.push(...condition)
    varies ||= !isSame
  }
  return varies ? conditions.join(' && ') : undefined
}

const RESERVED = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(' '),
)

const nameOf = (name: string): string =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !RESERVED.has(name) ? `args.${name}` : `args[${JSON.stringify(name)}]`

/** Lists and objects differ by their parts, which are not compared. */
const isPlain = (value: JsonValue): boolean => typeof value !== 'object' || value === null

function sameAs(name: string, value: JsonValue): string[] | undefined {
  return isPlain(value) ? [`${nameOf(name)} == ${JSON.stringify(value)}`] : undefined
}

function withinSeen(name: string, values: readonly JsonValue[]): string[] | undefined {
  const path = nameOf(name)
  if (values.every((value) => typeof value === 'number')) {
    return [`${path} >= ${Math.min(...values)}`, `${path} <= ${Math.max(...values)}`]
  }
  if (!values.every((value) => typeof value === 'string')) return undefined
  const seen = [...new Set(values)].sort()
  if (seen.length <= MAX_LISTED && values.length >= 2 * seen.length) return [`${path} in ${JSON.stringify(seen)}`]
  const prefix = commonPrefix(seen)
  // Free text may say anything behind its beginning, and an address leads to anybody there: bob@evil.com begins as bob1@corp.com does. A
  // number of something cannot.
  if (prefix.length < MIN_PREFIX || !seen.every((text) => /^[\w:-]+$/.test(text))) return undefined
  return [`${path}.startsWith(${JSON.stringify(prefix)})`, `size(${path}) <= ${Math.max(...seen.map(({ length }) => length))}`]
}

function commonPrefix([first = '', ...others]: readonly string[]): string {
  let length = first.length
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--
  return first.slice(0, length)
}
