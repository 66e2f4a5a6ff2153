import type { JsonValue, Verification, VerifyContext } from '@countersign/core'
import type { Answered, At, GithubClient, Rest } from './client.ts'
import { hasMarker } from './marker.ts'
import { repositoryOf } from './repository.ts'
import { hasMore } from './views.ts'

/** The maximum difference between the clocks of GitHub and this server, in ms. */
const SKEW_MS = 10 * 60_000
const MAX_PAGES = 5

interface Listed {
  /** Needed only for lists that are read newest first. */
  created_at?: string
  body?: string | null
  user?: { login: string } | null
  /** The user who made a release. */
  author?: { login: string } | null
}

/** The item to look for: created after the proposal, by the token's user, with the marker of the attempt. */
export interface Search<T> {
  client: GithubClient
  repository: string
  /**
   * Asks for one page.
   * @param at The repository, the page, and the page size.
   * @param made The creator's login, undefined for a token without a user, and the earliest time of creation in ISO 8601.
   */
  list(rest: Rest, at: At & { page: number; per_page: number }, made: { login: string | undefined; since: string }): Promise<Answered<T[]>>
  /** The order of the list. With `newest`, reading stops at the first item that is too old. */
  order: 'newest' | 'oldest'
  output(item: T): JsonValue
}

/** Returns the earliest time at which the attempt may have created something. */
export const earliestOf = ({ proposedAtMs = 0 }: Pick<VerifyContext, 'proposedAtMs'>): Date => new Date(Math.max(0, proposedAtMs - SKEW_MS))

/**
 * Looks through a list for an item that the attempt created. It reads lists instead of the search, which finds new items late. A missing
 * item counts as not created only when the list was read to its end, or to items older than the proposal.
 */
export async function findMade<T extends Listed>(search: Search<T>, context: VerifyContext): Promise<Verification> {
  const { client, repository, order } = search
  const { signal, idempotencyKey } = context
  const earliest = earliestOf(context)
  const since = earliest.toISOString()
  // A token without a user has no login. Then the marker alone decides.
  const login = await client.login(signal)
  const isOurs = ({ user, author, body }: T) =>
    (login === undefined || (user ?? author)?.login === login) && hasMarker(body, idempotencyKey)
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { data, headers } = await client.read(signal, repositoryOf(repository), (rest, at) =>
      search.list(rest, { ...at, page, per_page: 100 }, { login, since }),
    )
    const made = data.find(isOurs)
    if (made !== undefined) return { done: true, output: search.output(made) }
    const last = data.at(-1)
    const isPast = order === 'newest' && last?.created_at !== undefined && Date.parse(last.created_at) < earliest.getTime()
    if (isPast || !hasMore(headers)) return { done: false }
  }
  return { done: 'unknown' }
}

/** Returns the verification of an idempotent change: it is done when the current state is the wanted one. */
export const doneWhen = (isSo: boolean, output: JsonValue): Verification => (isSo ? { done: true, output } : { done: false })
