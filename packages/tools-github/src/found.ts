import type { JsonValue, Verification, VerifyContext } from '@countersign/core'
import type { Answered } from './client.ts'
import { hasMore } from './views.ts'

/** The maximum difference between the clocks of GitHub and this server, in ms. */
const SKEW_MS = 10 * 60_000
const MAX_PAGES = 5

interface Listed {
  /** Needed only for lists that are read newest first. */
  created_at?: string
  user: { login: string } | null
}

/** The item to look for: created after the proposal, by the token's user, with the marker of the attempt. */
export interface Search<T> {
  /** Returns one page of at most 100 items. */
  list(page: number): Promise<Answered<T[]>>
  /** The order of the list. With `newest`, reading stops at the first item that is too old. */
  order: 'newest' | 'oldest'
  isOurs(item: T): boolean
  /** Undefined when the token has no user. Then the marker alone decides. */
  login: string | undefined
  output(item: T): JsonValue
}

/** Returns the earliest time at which the attempt may have created something. */
export const earliestOf = ({ proposedAtMs = 0 }: Pick<VerifyContext, 'proposedAtMs'>): Date => new Date(Math.max(0, proposedAtMs - SKEW_MS))

/**
 * Looks through a list for an item that the attempt created. It reads lists instead of the search, which finds new items late. A missing
 * item counts as not created only when the list was read to its end, or to items older than the proposal.
 */
export async function findMade<T extends Listed>(search: Search<T>, context: VerifyContext): Promise<Verification> {
  const earliest = earliestOf(context).getTime()
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { data, headers } = await search.list(page)
    const made = data.find((item) => (search.login === undefined || item.user?.login === search.login) && search.isOurs(item))
    if (made !== undefined) return { done: true, output: search.output(made) }
    const last = data.at(-1)
    const isPast = search.order === 'newest' && last?.created_at !== undefined && Date.parse(last.created_at) < earliest
    if (isPast || !hasMore(headers)) return { done: false }
  }
  return { done: 'unknown' }
}

/** Returns the verification of an idempotent change: it is done when the current state is the wanted one. */
export const doneWhen = (isSo: boolean, output: JsonValue): Verification => (isSo ? { done: true, output } : { done: false })
