import { ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { Limit, Page } from './fields.ts'
import type { AllowList } from './repository.ts'
import { type GithubContext, readTool } from './tool.ts'
import { issueInList } from './views.ts'

/** The maximum number of places in a search. With more, the query would be too long for GitHub. */
const MAX_PLACES = 5

export const Query = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .refine(
    (text) => !/(^|[\s("-])(repo|org|user|owner|enterprise):/i.test(text),
    'must not say where to search: that is the argument repository',
  )

/** A text in quotes that GitHub reads as one word. */
const PHRASE = /(?<=^|[\s:])"[^"\\]*"(?=\s|$)/g

/**
 * The query of a search that the allowed repositories limit. They are named behind it, so GitHub would search
 * everywhere for what stands before an OR. What it makes of open brackets and quotes is not documented.
 */
export const queryWithin = ({ written }: AllowList): typeof Query =>
  written === undefined
    ? Query
    : Query.refine(
        (text) => !/["()]|(^|\s)or(\s|$)/i.test(text.replaceAll(PHRASE, 'x')),
        'must not use OR, brackets or an open quote, because only some repositories may be searched: search once for each',
      )

/** Tools that search the allowed repositories only. */
export function searches(github: GithubContext, allowed: AllowList): ToolDraft[] {
  const Limited = queryWithin(allowed)
  const repository = github.repositoryName.optional().describe('Only in this repository, as owner/name')
  return [
    readTool(
      github,
      z.object({
        query: Limited.describe('Words and qualifiers of GitHub: crash label:bug is:open author:ada'),
        kind: z.enum(['issue', 'pr']).default('issue'),
        repository,
        limit: Limit,
        page: Page,
      }),
      {
        name: 'searchIssues',
        description: "Searches issues or pull requests with GitHub's search. What was changed in the last minute may not be found yet.",
        describe: ({ query, kind }) => `Search ${kind === 'pr' ? 'pull requests' : 'issues'} for ${query}`,
        async execute({ query, kind, repository: place, limit, page }, { signal }) {
          const q = [query, `is:${kind}`, ...scopes(place, allowed)].join(' ')
          const { data } = await github.client.readAll(signal, (rest, sending) =>
            rest.search.issuesAndPullRequests({ ...sending, q, per_page: limit, page }),
          )
          const found = data.items.map((item) => ({ item, repository: repositoryIn(item.repository_url) }))
          return within({ found, total: data.total_count }, place, allowed, ({ item, repository }) => ({
            repository,
            ...issueInList(item),
          }))
        },
      },
    ),
    readTool(
      github,
      z.object({ query: Limited.describe('Words, and qualifiers such as path: and language:'), repository, limit: Limit, page: Page }),
      {
        name: 'searchCode',
        description: 'Searches the code of the default branches.',
        describe: ({ query }) => `Search the code for ${query}`,
        async execute({ query, repository: place, limit, page }, { signal }) {
          const q = [query, ...scopes(place, allowed)].join(' ')
          const { data } = await github.client.readAll(signal, (rest, sending) =>
            rest.search.code({ ...sending, q, per_page: limit, page }),
          )
          const found = data.items.map((item) => ({ item, repository: item.repository.full_name }))
          return within({ found, total: data.total_count }, place, allowed, ({ item, repository }) => ({
            repository,
            path: item.path,
            sha: item.sha,
            url: item.html_url,
          }))
        },
      },
    ),
  ]
}

/** Returns the qualifiers that limit a search to the allowed places. */
export function scopes(place: string | undefined, { written }: AllowList): string[] {
  if (place !== undefined) return [`repo:${place}`]
  if (written === undefined) return []
  if (written.length > MAX_PLACES) throw new ToolError('refused', 'Name a repository: there are too many for one search. Nothing was sent.')
  return written.map((text) => (text.endsWith('/*') ? `user:${text.slice(0, -2)}` : `repo:${text}`))
}

const repositoryIn = (url: string): string => url.split('/').slice(-2).join('/')

/**
 * Returns the results from allowed places, however GitHub interpreted the query, and how many there are. Where a list limits the places, the
 * number of all results, and of those that were taken out, could say what stands in others.
 */
export function within<T extends { repository: string }, V>(
  { found, total }: { found: readonly T[]; total: number },
  place: string | undefined,
  allowed: AllowList,
  view: (found: T) => V,
): { items: V[]; total?: number; leftOut?: number } {
  const isMeant = ({ repository }: T) =>
    allowed.allows(repository) && (place === undefined || repository.toLowerCase() === place.toLowerCase())
  const items = found.filter(isMeant).map(view)
  const leftOut = found.length - items.length
  const isLimited = allowed.written !== undefined
  if (leftOut > 0) return { items, total: items.length, ...(!isLimited && { leftOut }) }
  // Nothing on this page shows that the number is that of the allowed places.
  return isLimited && items.length === 0 && total > 0 ? { items } : { items, total }
}
