import { isDeepStrictEqual } from 'node:util'
import type { PreviewField } from '@countersign/core'
import { isMembers, type Members, type Value } from './described.ts'

/**
 * The facts that a card is compared with: the thing before and after, and the members inside the envelopes of the request that was sent.
 */
export interface Truth {
  before: Members | undefined
  after: Members | undefined
  sent: Members
  counters: readonly string[]
}

/**
 * Lists the false statements on a card and the changes it leaves out. Ignores how cards are made and uses only the meaning of their words.
 */
export function judgeCard(fields: readonly PreviewField[], truth: Truth): string[] {
  const { before, after } = truth
  const faults: string[] = []
  const covered: string[][] = []
  for (const { field, oldValue, newValue } of fields) {
    const [name = '', about] = splitNote(field)
    const place = placeOf(name)
    covered.push(place)
    if (about === 'order') continue
    if (about === 'not sent') {
      if (oldValue !== newValue) faults.push(`${field} is shown as a change`)
      continue
    }
    const was = at(before, place)
    const is = at(after, place)
    const isNote = fields.some((other) => other.field === `${field}, not sent`)
    if (oldValue === undefined && was !== undefined && !isNote && !isEmpty(newValue)) faults.push(`${field} has no old value`)
    if (oldValue !== undefined && !isDeepStrictEqual(was, oldValue)) faults.push(`${field} was ${JSON.stringify(was)}`)
    if (newValue === undefined && is !== undefined) faults.push(`${field} is shown as removed and stays`)
    if (newValue !== undefined && !isNote && !isIn(newValue as Value, is, place))
      faults.push(`${field} is ${JSON.stringify(is)} afterwards`)
  }
  const isCovered = (path: string[]) => covered.some((place) => place.every((part, nth) => part === path[nth] || part.startsWith('new ')))
  for (const path of leaves(before, after)) {
    if (truth.counters.includes(path[0] ?? '') || path[0] === 'id') continue
    if (!isDeepStrictEqual(at(before, path), at(after, path)) && !isCovered(path))
      faults.push(`${path.join(' / ')} changes and is not shown`)
  }
  for (const name of Object.keys(truth.sent))
    if (!covered.some(([first]) => first === name) && !isEmpty(truth.sent[name])) faults.push(`${name} is sent and not shown`)
  return faults
}

const isEmpty = (value: unknown): boolean => (isMembers(value) || Array.isArray(value)) && Object.keys(value).length === 0

/** `lines[a], not sent` is about `lines[a]`; `not sent` alone about the whole. */
function splitNote(field: string): [name: string, about?: string] {
  const note = /^(?:(.*), )?(not sent|order)$/s.exec(field)
  return note ? [note[1] ?? '', note[2] ?? ''] : [field]
}

/** The parts of `address.city`, `lines["l.3"].count`, `"a.b"`. */
function placeOf(name: string): string[] {
  const parts = name.match(/"(?:[^"\\]|\\.)*"|[^.[\]]+/g) ?? []
  return parts.map((part) => (part.startsWith('"') ? JSON.parse(part) : part))
}

function at(value: Value | undefined, place: readonly string[]): Value | undefined {
  const [part, ...rest] = place
  if (part === undefined || value === undefined) return value
  if (Array.isArray(value))
    return at(
      value.find((entry) => isMembers(entry) && String(entry.id) === part),
      rest,
    )
  return isMembers(value) && Object.hasOwn(value, part) ? at(value[part], rest) : undefined
}

/** True when what is shown as new is there: an entry that its service gave an id is any that has its members. */
function isIn(shown: Value, there: Value | undefined, place: readonly string[]): boolean {
  if (place.at(-1)?.startsWith('new ')) return true
  if (isMembers(shown) && isMembers(there)) return Object.entries(shown).every(([name, value]) => isDeepStrictEqual(there[name], value))
  if (Array.isArray(shown) && Array.isArray(there)) {
    return shown.length === there.length && shown.every((value, nth) => isDeepStrictEqual(value, there[nth]) || isIn(value, there[nth], []))
  }
  return isDeepStrictEqual(shown, there)
}

/** The paths of all single values of both; those of entries by their id, a list of others is one value. */
function leaves(...things: (Value | undefined)[]): string[][] {
  const found = new Map<string, string[]>()
  const walk = (value: Value | undefined, path: string[]): void => {
    if (isMembers(value)) for (const [name, inner] of Object.entries(value)) walk(inner, [...path, name])
    else if (Array.isArray(value) && value.length > 0 && value.every((entry) => isMembers(entry) && entry.id !== undefined)) {
      for (const entry of value) walk(entry, [...path, String((entry as Members).id)])
    } else if (value !== undefined) found.set(JSON.stringify(path), path)
  }
  for (const thing of things) walk(thing, [])
  return [...found.values()]
}
