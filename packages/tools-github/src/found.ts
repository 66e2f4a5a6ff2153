import type { JsonValue, Verification, VerifyContext } from '@countersign/core'
import type { Answered } from './client.ts'
import { hasMore } from './views.ts'

/** Clocks of ours and theirs may differ by so much. */
const SKEW_MS = 10 * 60_000
const MAX_PAGES = 5

interface Listed {
  /** Only lists that are read from the newest on need it. */
  created_at?: string
  user: { login: string } | null
}

/** What to look for: younger than the proposal, made by whom the token is, with the mark of the attempt. */
export interface Search<T> {
  /** One page of at most 100. */
  list(page: number): Promise<Answered<T[]>>
  /** `newest`: a list that ends in what is too old, and then need not be read on. */
  order: 'newest' | 'oldest'
  isOurs(item: T): boolean
  /** Undefined for a token that is nobody's: then the mark alone tells. */
  login: string | undefined
  output(item: T): JsonValue
}

/** The earliest time at which the attempt may have made something. */
export const earliestOf = ({ proposedAtMs = 0 }: Pick<VerifyContext, 'proposedAtMs'>): Date => new Date(Math.max(0, proposedAtMs - SKEW_MS))

/**
 * Looks through a list for what an attempt made. Lists are asked and not the search, which finds new things late. What is not there was not
 * made only when the list was seen to the end, or to what is older than the proposal.
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

/** For a change that is the same however often it is made: it was done when things are as it would make them. */
export const doneWhen = (isSo: boolean, output: JsonValue): Verification => (isSo ? { done: true, output } : { done: false })
