import { canonicalJson, type JsonValue, type PreviewField } from '@countersign/core'
import { asTitle } from '@countersign/toolkit/internal'

/** What stays as it is, so that the card says what this is about. */
export const same = (field: string, value: JsonValue): PreviewField => ({ field, oldValue: value, newValue: value })

/** What is made. */
export const added = (field: string, newValue: JsonValue): PreviewField => ({ field, newValue })

export const changed = (field: string, oldValue: JsonValue, newValue: JsonValue): PreviewField => ({ field, oldValue, newValue })

/** What a headline calls an issue or a pull request: `#12 “Crash on start”`. */
export const numbered = ({ number, title }: { number: number; title: string }): string => `#${number} ${asTitle(title)}`

/** The first seven digits of a commit, as GitHub writes it. */
export const short = (sha: string): string => sha.slice(0, 7)

/** The members that a call changes, in one order: that of its arguments says nothing. */
export const namesOf = ({ repository: _, number: __, ...changes }: { repository: string; number: number }): string =>
  Object.keys(changes).sort().join(', ')

/** True when both lists hold the same, in whatever order. GitHub tells logins and labels apart without their case. */
export function sameSet(a: readonly string[], b: readonly string[]): boolean {
  const plain = (list: readonly string[]) => [...new Set(list.map((text) => text.toLowerCase()))].sort()
  return canonicalJson(plain(a)) === canonicalJson(plain(b))
}

/** True when `all` holds each of `some`. */
export const holds = (all: readonly string[], some: readonly string[]): boolean => without(some, all).length === 0

/** `all` without `some`. */
export function without(all: readonly string[], some: readonly string[]): string[] {
  const gone = new Set(some.map((text) => text.toLowerCase()))
  return all.filter((text) => !gone.has(text.toLowerCase()))
}

/** `some` added to `all`, in one order. */
export const withAdded = (all: readonly string[], some: readonly string[]): string[] => [...all, ...without(some, all)].sort()
