import { canonicalJson, type JsonValue, type PreviewField } from '@countersign/core'
import { asTitle } from '@countersign/toolkit/internal'

/** Returns a field for an unchanged value, which identifies the subject of the card. */
export const same = (field: string, value: JsonValue): PreviewField => ({ field, oldValue: value, newValue: value })

/** Returns a field for a value that is created. */
export const added = (field: string, newValue: JsonValue): PreviewField => ({ field, newValue })

export const changed = (field: string, oldValue: JsonValue, newValue: JsonValue): PreviewField => ({ field, oldValue, newValue })

/** Returns the last line of a list that leaves out so many entries; no line when it has all. @param noun In the singular. */
export const andMore = (count: number, noun: string): string[] => (count > 0 ? [`and ${count} more ${noun}${count === 1 ? '' : 's'}`] : [])

/** Returns the name of an issue or a pull request in a headline: `#12 “Crash on start”`. */
export const numbered = ({ number, title }: { number: number; title: string }): string => `#${number} ${asTitle(title)}`

/** Returns the first seven digits of a commit id, as GitHub shows it. */
export const short = (sha: string): string => sha.slice(0, 7)

/** Returns the names of the members that a call changes, sorted. */
export const namesOf = ({ repository: _, number: __, ...changes }: { repository: string; number: number }): string =>
  Object.keys(changes).sort().join(', ')

/** True when both lists hold the same entries in any order. Case is ignored, as GitHub does for logins and labels. */
export function sameSet(a: readonly string[], b: readonly string[]): boolean {
  const plain = (list: readonly string[]) => [...new Set(list.map((text) => text.toLowerCase()))].sort()
  return canonicalJson(plain(a)) === canonicalJson(plain(b))
}

/** True when `all` contains each entry of `some`. */
export const holds = (all: readonly string[], some: readonly string[]): boolean => without(some, all).length === 0

/** Returns `all` without the entries of `some`. */
export function without(all: readonly string[], some: readonly string[]): string[] {
  const gone = new Set(some.map((text) => text.toLowerCase()))
  return all.filter((text) => !gone.has(text.toLowerCase()))
}

/** Returns the union of `all` and `some`, sorted. */
export const withAdded = (all: readonly string[], some: readonly string[]): string[] => [...all, ...without(some, all)].sort()
