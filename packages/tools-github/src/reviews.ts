import { type JsonObject, type PreviewField, ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { before } from './before.ts'
import type { GithubClient } from './client.ts'
import { excerptOf } from './diff-lines.ts'
import { Body, IssueNumber, Path } from './fields.ts'
import { findMade } from './found.ts'
import { MARKER_SHOWN, withMarker } from './marker.ts'
import { MOST_READ } from './pages.ts'
import { lookAtPull, type PullWhere, pullHeading, readReviews } from './pull-look.ts'
import { readChecks } from './read-pulls.ts'
import { repositoryOf } from './repository.ts'
import { added, changed, numbered, same, short } from './shown.ts'
import { type GithubContext, writeTool } from './tool.ts'
import { hasMore } from './views.ts'

const MAX_COMMENTS = 30
const LineNumber = z.int().min(1).max(10_000_000)

const Comment = z
  .object({
    path: Path,
    line: LineNumber.describe('The last line that it is about, by its number on that side'),
    side: z.enum(['LEFT', 'RIGHT']).default('RIGHT').describe('LEFT: the file as it was, for removed lines'),
    startLine: LineNumber.optional().describe('The first of several lines'),
    body: Body.refine((text) => text.trim() !== '', 'must hold a text').describe('Markdown'),
  })
  .strict()
  .refine(({ line, startLine = 0 }) => startLine < line, 'startLine must be above line')
type Comment = z.output<typeof Comment>

const VERBS = { APPROVE: 'Approve', REQUEST_CHANGES: 'Request changes on', COMMENT: 'Review' } as const

/** Submits a review of a pull request, only at the commit that was shown. */
export const createReview = (github: GithubContext): ToolDraft =>
  writeTool(
    github,
    z
      .object({
        repository: github.repository,
        number: IssueNumber,
        event: z.enum(['APPROVE', 'REQUEST_CHANGES', 'COMMENT']),
        body: Body.default('').describe('Markdown'),
        comments: z.array(Comment).max(MAX_COMMENTS).default([]).describe('Comments at lines of the diff'),
      })
      .refine(({ event, body }) => event !== 'REQUEST_CHANGES' || body.trim() !== '', 'a review that requests changes must have a body')
      .refine(({ event, body, comments }) => event !== 'COMMENT' || body.trim() !== '' || comments.length > 0, 'must hold a text'),
    {
      name: 'createReview',
      description: 'Reviews a pull request: approves it, requests changes or comments, also at lines of its diff. Read it before.',
      describe: ({ repository, number, event }) => `${VERBS[event]} pull request #${number} of ${repository}`,
      async look(args, signal) {
        const { client } = github
        const { event } = args
        const [pull, login] = await Promise.all([lookAtPull(client, args, signal), client.login(signal)])
        const author = pull.user.login
        if (event !== 'COMMENT' && author === login) {
          throw new ToolError('refused', `${author} wrote #${args.number}: nobody approves or refuses a pull request of their own.`)
        }
        const { sha } = pull.head
        const [checks, earlier, lines] = await Promise.all([
          readChecks(client, args.repository, sha, signal),
          stateOfReview(client, args, login, signal),
          commentFields(client, args, signal),
        ])
        const state = pull.merged ? 'merged' : pull.draft === true ? 'draft' : pull.state
        const mergesItself = pull.auto_merge === null ? 'no' : `yes, by ${pull.auto_merge.merge_method}`
        return {
          headline: `${VERBS[event]} ${numbered(pull)} of ${args.repository} by ${author} at ${short(sha)}`,
          fields: [
            pullHeading(pull),
            same('author', author),
            same('state', state),
            same('from', `${pull.head.ref} at ${sha}`),
            same('into', pull.base.ref),
            same('size', `${pull.commits} commits, ${pull.changed_files} files, +${pull.additions} −${pull.deletions}`),
            same('checks', checks),
            same('merges by itself when it may', mergesItself),
            changed(`review of ${login ?? 'the token'}`, earlier, event),
            ...(args.body === '' ? [] : [added('body', args.body)]),
            ...lines,
            added('added to the body', MARKER_SHOWN),
          ],
          precondition: { title: pull.title, author, state, head: sha, base: pull.base.ref, checks, mergesItself, earlier },
          version: sha,
        }
      },
      async execute({ repository, number, event, body, comments }, { idempotencyKey, signal, version }) {
        const { client } = github
        const { sha } = (await before(lookAtPull(client, { repository, number }, signal))).head
        // GitHub accepts and counts a review of an older commit, so the head is read once more.
        if (version !== undefined && sha !== version) {
          throw new ToolError('stale', `#${number} is at ${sha} now and not at the commit that was shown. No review was given.`)
        }
        const made = await client.write(signal, repositoryOf(repository), (rest, at) =>
          rest.pulls.createReview({
            ...{ ...at, pull_number: number, commit_id: sha, event, body: withMarker(body, idempotencyKey) },
            ...(comments.length > 0 && { comments: comments.map(asSent) }),
          }),
        )
        return reviewResult(made)
      },
      verify: ({ repository, number }, context) =>
        findMade<GithubReview>(
          {
            client: github.client,
            repository,
            order: 'oldest',
            output: reviewResult,
            list: (rest, at) => rest.pulls.listReviews({ ...at, pull_number: number }),
          },
          context,
        ),
    },
  )

const asSent = ({ path, line, side, startLine, body }: Comment) => ({
  ...{ path, line, side, body },
  ...(startLine !== undefined && { start_line: startLine, start_side: side }),
})

const reviewResult = ({ id, state, commit_id, html_url: url }: GithubReview): JsonObject => ({ id, state, commit: commit_id, url })

interface GithubReview {
  id: number
  state: string
  commit_id: string | null
  body: string
  user: { login: string } | null
  html_url: string
}

/** Returns the state of the user's earlier reviews: the last one that approves or requests changes. */
async function stateOfReview(client: GithubClient, where: PullWhere, login: string | undefined, signal: AbortSignal) {
  const { items, isWhole } = await readReviews(client, where, signal)
  const own = items.filter(({ user, state }) => login !== undefined && user?.login === login && state !== 'COMMENTED')
  const last = own.at(-1)?.state ?? 'none'
  return isWhole ? last : `${last} in the first ${MOST_READ} reviews`
}

/** The maximum number of pages of files in which the lines of comments are looked for. */
const MAX_FILE_PAGES = 3

/** Returns the diffs of a pull request's files by path. It stops when all wanted files are found. */
async function patchesOf(client: GithubClient, { repository, number }: PullWhere, wanted: ReadonlySet<string>, signal: AbortSignal) {
  const patches = new Map<string, string | undefined>()
  for (let page = 1; page <= MAX_FILE_PAGES; page++) {
    const { data, headers } = await client.read(signal, repositoryOf(repository), (rest, at) =>
      rest.pulls.listFiles({ ...at, pull_number: number, per_page: 100, page }),
    )
    for (const { filename, patch } of data) if (wanted.has(filename)) patches.set(filename, patch)
    if (patches.size === wanted.size || !hasMore(headers)) break
  }
  return patches
}

/** Returns the lines and the text of each comment. @throws ToolError for a line that the diff does not have. */
async function commentFields(
  client: GithubClient,
  args: PullWhere & { comments: readonly Comment[] },
  signal: AbortSignal,
): Promise<PreviewField[]> {
  const { number, comments } = args
  if (comments.length === 0) return []
  const patches = await patchesOf(client, args, new Set(comments.map(({ path }) => path)), signal)
  return comments.flatMap(({ path, line, side, startLine = line, body }) => {
    if (!patches.has(path)) throw new ToolError('refused', `${path} is not among the files that #${number} changes.`)
    const patch = patches.get(path)
    if (patch === undefined) throw new ToolError('refused', `GitHub shows no diff of ${path}, so nothing can be said at a line of it.`)
    const lines = startLine === line ? `line ${line}` : `lines ${startLine} to ${line}`
    const where = `${path} ${lines}${side === 'LEFT' ? ', as it was' : ''}`
    const excerpt = excerptOf(patch, { side, startLine, line })
    if (excerpt === undefined) throw new ToolError('refused', `${where}: the diff of #${number} does not have that in one piece.`)
    return [same(`at ${where}`, excerpt), added(`comment at ${where}`, body)]
  })
}
