import type { JsonValue } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { Limit, Page } from './fields.ts'
import type { AllowList } from './repository.ts'
import { Query, queryWithin, scopes, within } from './search.ts'
import { type GithubContext, readTool } from './tool.ts'
import { cutText } from './views.ts'

/** Tools that search for allowed repositories and for people. */
export const placeSearches = (github: GithubContext, allowed: AllowList): ToolDraft[] => [
  searchRepositories(github, allowed),
  searchUsers(github),
]

const searchRepositories = (github: GithubContext, allowed: AllowList): ToolDraft =>
  readTool(
    github,
    z.object({
      query: queryWithin(allowed).describe('Words and qualifiers of GitHub: cart language:go archived:false'),
      limit: Limit,
      page: Page,
    }),
    {
      name: 'searchRepositories',
      description: "Searches repositories with GitHub's search.",
      describe: ({ query }) => `Search repositories for ${query}`,
      async execute({ query, limit, page }, { signal }): Promise<JsonValue> {
        const q = [query, ...scopes(undefined, allowed)].join(' ')
        const { data } = await github.client.readAll(signal, (rest, sending) => rest.search.repos({ ...sending, q, per_page: limit, page }))
        const found = data.items.map((item) => ({ item, repository: item.full_name }))
        return within({ found, total: data.total_count }, undefined, allowed, ({ item, repository }) => ({
          ...{ repository, description: cutText(item.description, 500), private: item.private, archived: item.archived },
          ...{ defaultBranch: item.default_branch, language: item.language, url: item.html_url },
        }))
      },
    },
  )

const searchUsers = (github: GithubContext): ToolDraft =>
  readTool(
    github,
    z.object({
      query: Query.describe('Words and qualifiers of GitHub: ada location:Paris'),
      kind: z.enum(['user', 'org']).default('user'),
      limit: Limit,
      page: Page,
    }),
    {
      name: 'searchUsers',
      description: "Searches people or organizations on all of GitHub with GitHub's search.",
      describe: ({ query, kind }) => `Search ${kind === 'user' ? 'people' : 'organizations'} for ${query}`,
      async execute({ query, kind, limit, page }, { signal }): Promise<JsonValue> {
        const q = `${query} type:${kind}`
        const { data } = await github.client.readAll(signal, (rest, sending) => rest.search.users({ ...sending, q, per_page: limit, page }))
        return { items: data.items.map(({ login, type, html_url: url }) => ({ login, type, url })), total: data.total_count }
      },
    },
  )
