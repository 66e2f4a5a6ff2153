import type { Action } from '@countersign/client'

export type Arguments = Action['arguments']

/** One value that a person changed; an absent side was not there, or is not there any more. No two edits have the same path. */
export type Edit = { path: string; oldValue?: unknown; newValue?: unknown }

/**
 * Returns the changes from `before` to `after`, value by value. Lists of another length are one change: which entry is which cannot be told.
 * @example
 * listEdits({ amount: 5, to: 'ada' }, { amount: 4, to: 'ada' }) // [{ path: 'amount', oldValue: 5, newValue: 4 }]
 */
export function listEdits(before: unknown, after: unknown, path = ''): Edit[] {
  if (isSame(before, after)) return []
  const [was, is] = [entriesOf(before), entriesOf(after)]
  if (!was || !is || !isAlike(before, after)) return [{ path, oldValue: before, newValue: after }]
  const keys = new Set([...Object.keys(was), ...Object.keys(is)])
  return [...keys].flatMap((key) => listEdits(own(was, key), own(is, key), path === '' ? nameOf(key) : `${path}.${nameOf(key)}`))
}

// An argument may have the name of a member that every object inherits.
const own = (entries: Readonly<Record<string, unknown>>, key: string): unknown => (Object.hasOwn(entries, key) ? entries[key] : undefined)

/** Quotes a name that could be taken for a path. */
const nameOf = (key: string): string => (/[."]/.test(key) || key === '' ? JSON.stringify(key) : key)

/** " with 2 edits", for "Approve with 2 edits"; empty without any. */
export const withEdits = ({ length }: readonly Edit[]): string =>
  length === 0 ? '' : ` with ${length === 1 ? '1 edit' : `${length} edits`}`

const entriesOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null ? { ...value } : undefined

function isAlike(before: unknown, after: unknown): boolean {
  if (Array.isArray(before) && Array.isArray(after)) return before.length === after.length
  return Array.isArray(before) === Array.isArray(after)
}

// The order of keys is ignored, because digests use canonical JSON.
const isSame = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]) => [key, sorted(child)]),
  )
}
