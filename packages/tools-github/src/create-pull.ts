import { ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { asTitle } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { before } from './before.ts'
import type { GithubClient } from './client.ts'
import { Body, Branch, Title } from './fields.ts'
import { findMade } from './found.ts'
import { MARKER_SHOWN, withMarker } from './marker.ts'
import { repositoryOf } from './repository.ts'
import { added, andMore, short } from './shown.ts'
import { type GithubContext, writeTool } from './tool.ts'
import { commitLine, type GithubPull, pullResult } from './views.ts'

const MAX_SHOWN = 50
/** GitHub lists at most this many files of a comparison, has no further page of them and does not give their number. */
const MAX_COMPARED_FILES = 300

/** Returns the commits and files that `head` has and `base` has not, for the preview. */
async function compare(
  client: GithubClient,
  { repository, base, head }: { repository: string; base: string; head: string },
  signal: AbortSignal,
) {
  const {
    ahead_by,
    commits,
    files = [],
    merge_base_commit,
  } = await client.look(signal, repositoryOf(repository), (rest, at) =>
    rest.repos.compareCommitsWithBasehead({ ...at, basehead: `${base}...${head}`, per_page: 100 }),
  )
  const additions = files.reduce((sum, file) => sum + file.additions, 0)
  const deletions = files.reduce((sum, file) => sum + file.deletions, 0)
  const lines = files.slice(0, MAX_SHOWN).map((file) => `${file.filename} +${file.additions} −${file.deletions}`)
  const isCut = files.length >= MAX_COMPARED_FILES
  const left = files.length - MAX_SHOWN
  const more = isCut ? [`and at least ${left} more files; GitHub lists no more than ${files.length}`] : andMore(left, 'file')
  const changes = `+${additions} −${deletions}`
  return {
    ahead: ahead_by,
    mergeBase: merge_base_commit.sha,
    commits: commits.slice(-MAX_SHOWN).map(({ sha, commit }) => commitLine({ sha, message: commit.message })),
    files: [...lines, ...more],
    total: isCut
      ? `at least ${files.length} files, ${changes} in the first ${files.length}`
      : `${files.length} ${files.length === 1 ? 'file' : 'files'}, ${changes}`,
  }
}

/** Returns the base of the pull request. Default: the default branch. */
async function baseOf(
  client: GithubClient,
  { repository, base }: { repository: string; base?: string | undefined },
  signal: AbortSignal,
): Promise<string> {
  if (base !== undefined) return base
  const { default_branch } = await client.look(signal, repositoryOf(repository), (rest, at) => rest.repos.get(at))
  return default_branch
}

export const createPullRequest = (github: GithubContext): ToolDraft =>
  writeTool(
    github,
    z.object({
      repository: github.repository,
      title: Title,
      head: Branch.describe('The branch with the changes, in the same repository'),
      base: Branch.optional().describe('The branch that they go into; the default branch where none is named'),
      body: Body.default('').describe('Markdown'),
      draft: z.boolean().default(false),
    }),
    {
      name: 'createPullRequest',
      description: 'Opens a pull request from one branch into another. Commit the files first.',
      describe: ({ repository, title, head, base }) =>
        `Open the pull request “${title}” from ${head} into ${base ?? 'the default branch'} of ${repository}`,
      async look(args, signal) {
        const { client } = github
        const base = await baseOf(client, args, signal)
        const place = repositoryOf(args.repository)
        const [branch, between] = await Promise.all([
          client.look(signal, place, (rest, at) => rest.repos.getBranch({ ...at, branch: args.head })),
          compare(client, { repository: args.repository, base, head: args.head }, signal),
        ])
        if (between.ahead === 0) throw new ToolError('refused', `${args.head} has nothing that ${base} does not have.`)
        const { sha } = branch.commit
        return {
          headline: `Open the pull request ${asTitle(args.title)} from ${args.head} at ${short(sha)} into ${base} of ${args.repository}`,
          fields: [
            added('title', args.title),
            added('body', args.body),
            added('from', `${args.head} at ${sha}`),
            added('into', base),
            added(`commits (${between.ahead})`, between.commits),
            added(`files (${between.total})`, between.files),
            ...(args.draft ? [added('draft', true)] : []),
            added('added to the body', MARKER_SHOWN),
          ],
          precondition: { base, head: sha, mergeBase: between.mergeBase },
        }
      },
      async execute(args, { idempotencyKey, signal }) {
        const { repository, title, head, body, draft } = args
        const base = await before(baseOf(github.client, args, signal))
        const pull = await github.client.write(signal, repositoryOf(repository), (rest, at) =>
          rest.pulls.create({ ...at, title, head, base, body: withMarker(body, idempotencyKey), draft }),
        )
        return pullResult(pull)
      },
      verify({ repository, head }, context) {
        const from = `${repositoryOf(repository).owner}:${head}`
        return findMade<GithubPull>(
          {
            client: github.client,
            repository,
            order: 'newest',
            output: pullResult,
            list: (rest, at) => rest.pulls.list({ ...at, head: from, state: 'all', sort: 'created', direction: 'desc' }),
          },
          context,
        )
      },
    },
  )
