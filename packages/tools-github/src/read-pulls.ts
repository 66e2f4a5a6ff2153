import type { JsonObject, JsonValue } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import type { GithubClient } from './client.ts'
import { Branch, IssueNumber, Limit, Page } from './fields.ts'
import { statusOf } from './github-error.ts'
import { readPages } from './pages.ts'
import { repositoryOf } from './repository.ts'
import { type GithubContext, readTool } from './tool.ts'
import { cutText, hasMore, pullInList, textOf } from './views.ts'

/** Tools that read pull requests: one with its files, reviews and checks, and lists. */
export const pullReads = (github: GithubContext): ToolDraft[] => [getPullRequest(github), listPullRequests(github)]

const MAX_PATCH_CHARACTERS = 3_000

const getPullRequest = (github: GithubContext): ToolDraft =>
  readTool(github, z.object({ repository: github.repository, number: IssueNumber }), {
    name: 'getPullRequest',
    description: 'Reads one pull request with its first 100 changed files, its reviews and the state of its checks.',
    describe: ({ repository, number }) => `Read pull request #${number} of ${repository}`,
    async execute({ repository, number }, { signal }): Promise<JsonValue> {
      const { client } = github
      const place = repositoryOf(repository)
      const [pull, files, reviews] = await Promise.all([
        client.read(signal, place, (rest, at) => rest.pulls.get({ ...at, pull_number: number })),
        client.read(signal, place, (rest, at) => rest.pulls.listFiles({ ...at, pull_number: number, per_page: 100 })),
        client.read(signal, place, (rest, at) => rest.pulls.listReviews({ ...at, pull_number: number, per_page: 100 })),
      ])
      const { additions, deletions, commits, changed_files, mergeable } = pull.data
      return {
        ...pullInList(pull.data),
        body: textOf(pull.data.body),
        ...{ additions, deletions, commits, changedFiles: changed_files, mergeable },
        files: files.data.map((file) => ({
          ...{ path: file.filename, status: file.status, additions: file.additions, deletions: file.deletions },
          patch: cutText(file.patch, MAX_PATCH_CHARACTERS),
        })),
        moreFiles: hasMore(files.headers),
        reviews: reviews.data.map(({ user, state, body, submitted_at = null }) => ({
          ...{ by: user?.login ?? null, state, body: textOf(body, 1_000), submittedAt: submitted_at },
        })),
        checks: await readChecks(client, repository, pull.data.head.sha, signal),
      }
    },
  })

/**
 * Returns the checks of a commit, as counts by conclusion, with `not read: some` where there are more than {@link MOST_READ} of a kind; a
 * sentence if the token may not read them.
 */
export async function readChecks(client: GithubClient, repository: string, ref: string, signal: AbortSignal): Promise<JsonObject | string> {
  const of = { client, repository }
  try {
    const [runs, statuses] = await Promise.all([
      readPages(
        {
          ...of,
          ask: (rest, at) => rest.checks.listForRef({ ...at, ref }),
          itemsOf: (page) => page.check_runs.map(({ conclusion, status }) => conclusion ?? status),
        },
        signal,
      ),
      readPages(
        {
          ...of,
          ask: (rest, at) => rest.repos.getCombinedStatusForRef({ ...at, ref }),
          itemsOf: (page) => page.statuses.map(({ state }) => state),
        },
        signal,
      ),
    ])
    const states = [...runs.items, ...statuses.items]
    return {
      ...Object.fromEntries([...new Set(states)].sort().map((state) => [state, states.filter((other) => other === state).length])),
      ...(!(runs.isWhole && statuses.isWhole) && { 'not read': 'some' }),
    }
  } catch (error) {
    if (statusOf(error) === 403 || statusOf(error) === 404) return 'The token may not see the checks.'
    throw error
  }
}

const listPullRequests = (github: GithubContext): ToolDraft =>
  readTool(
    github,
    z.object({
      repository: github.repository,
      state: z.enum(['open', 'closed', 'all']).default('open'),
      base: Branch.optional().describe('Only those into this branch'),
      limit: Limit,
      page: Page,
    }),
    {
      name: 'listPullRequests',
      description: 'Lists pull requests, newest first.',
      describe: ({ repository, state }) => `List the ${state === 'all' ? '' : `${state} `}pull requests of ${repository}`,
      async execute({ repository, state, base, limit, page }, { signal }): Promise<JsonValue> {
        const { data, headers } = await github.client.read(signal, repositoryOf(repository), (rest, at) =>
          rest.pulls.list({ ...at, state, per_page: limit, page, ...(base !== undefined && { base }) }),
        )
        return { pullRequests: data.map(pullInList), more: hasMore(headers) }
      },
    },
  )
