import { type JsonValue, type PreviewField, ToolError } from '@countersign/core'
import { z } from 'zod'
import type { ToolDraft } from '../tool-draft.ts'
import { before } from './before.ts'
import { Body, Branch, IssueNumber, Login, Title } from './fields.ts'
import { doneWhen, earliestOf, findMade } from './found.ts'
import type { Hub } from './hub.ts'
import { hasMarker, MARKER_SHOWN, withMarker } from './marker.ts'
import { repositoryOf } from './repository.ts'
import { added, changed, holds, same, withAdded, without } from './shown.ts'
import { type GithubGround, writeTool } from './tool.ts'
import { commitLine, type GithubPull, pullResult, reviewersOf } from './views.ts'

/** Pull requests: open, change, close, ask for a review. */
export const pullWrites = (ground: GithubGround): ToolDraft[] => [
  createPullRequest(ground),
  updatePullRequest(ground),
  closePullRequest(ground),
  requestReview(ground),
]

export interface PullWhere {
  repository: string
  number: number
}

export const lookAtPull = (hub: Hub, { repository, number }: PullWhere, signal: AbortSignal) =>
  hub.look(signal, repositoryOf(repository), (rest, at) => rest.pulls.get({ ...at, pull_number: number }))

/** What every card about a pull request begins with. */
export const pullHeading = (pull: GithubPull): PreviewField => same('pull request', `#${pull.number} ${pull.title}`)

const MAX_SHOWN = 50

/** What one branch has that another has not, as the card shows it. */
async function compare(hub: Hub, repository: string, base: string, head: string, signal: AbortSignal) {
  const {
    ahead_by,
    commits,
    files = [],
    merge_base_commit,
  } = await hub.look(signal, repositoryOf(repository), (rest, at) =>
    rest.repos.compareCommitsWithBasehead({ ...at, basehead: `${base}...${head}`, per_page: 100 }),
  )
  const additions = files.reduce((sum, file) => sum + file.additions, 0)
  const deletions = files.reduce((sum, file) => sum + file.deletions, 0)
  const lines = files.slice(0, MAX_SHOWN).map((file) => `${file.filename} +${file.additions} −${file.deletions}`)
  const more = files.length > MAX_SHOWN ? [`and ${files.length - MAX_SHOWN} more files`] : []
  return {
    ahead: ahead_by,
    mergeBase: merge_base_commit.sha,
    commits: commits.slice(-MAX_SHOWN).map(({ sha, commit }) => commitLine({ sha, message: commit.message })),
    files: [...lines, ...more],
    total: `${files.length} ${files.length === 1 ? 'file' : 'files'}, +${additions} −${deletions}`,
  }
}

/** The base that is meant where none is named: the default branch. */
async function baseOf(
  hub: Hub,
  { repository, base }: { repository: string; base?: string | undefined },
  signal: AbortSignal,
): Promise<string> {
  if (base !== undefined) return base
  const { default_branch } = await hub.look(signal, repositoryOf(repository), (rest, at) => rest.repos.get(at))
  return default_branch
}

const createPullRequest = (ground: GithubGround): ToolDraft =>
  writeTool(
    ground,
    z.object({
      repository: ground.repository,
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
        const { hub } = ground
        const base = await baseOf(hub, args, signal)
        const place = repositoryOf(args.repository)
        const [branch, between] = await Promise.all([
          hub.look(signal, place, (rest, at) => rest.repos.getBranch({ ...at, branch: args.head })),
          compare(hub, args.repository, base, args.head, signal),
        ])
        if (between.ahead === 0) throw new ToolError('refused', `${args.head} has nothing that ${base} does not have.`)
        const { sha } = branch.commit
        return {
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
        const base = await before(baseOf(ground.hub, args, signal))
        const pull = await ground.hub.write(signal, repositoryOf(repository), (rest, at) =>
          rest.pulls.create({ ...at, title, head, base, body: withMarker(body, idempotencyKey), draft }),
        )
        return pullResult(pull)
      },
      async verify({ repository, head }, context) {
        const place = repositoryOf(repository)
        return findMade<GithubPull>(
          {
            login: await ground.hub.login(context.signal),
            order: 'newest',
            isOurs: ({ body }) => hasMarker(body, context.idempotencyKey),
            output: pullResult,
            list: (page) =>
              ground.hub.read(context.signal, place, (rest, at) =>
                rest.pulls.list({
                  ...at,
                  head: `${place.owner}:${head}`,
                  state: 'all',
                  sort: 'created',
                  direction: 'desc',
                  per_page: 100,
                  page,
                }),
              ),
          },
          context,
        )
      },
    },
  )

const preview = (pull: GithubPull, fields: PreviewField[]) => ({
  fields: [pullHeading(pull), ...fields],
  precondition: {
    title: pull.title,
    state: pull.state,
    values: fields.map(({ field, oldValue = null }): JsonValue => ({ field, oldValue })),
  },
})

const updatePullRequest = (ground: GithubGround): ToolDraft =>
  writeTool(
    ground,
    z
      .object({
        repository: ground.repository,
        number: IssueNumber,
        title: Title.optional(),
        body: Body.optional().describe('Takes the place of the whole text'),
        base: Branch.optional().describe('The branch that it goes into'),
      })
      .refine(({ repository: _, number: __, ...changes }) => Object.keys(changes).length > 0, 'must name something to change'),
    {
      name: 'updatePullRequest',
      description: 'Changes title, text or base of a pull request; what is not named stays.',
      describe: ({ repository, number, ...changes }) =>
        `Change ${Object.keys(changes).join(', ')} of pull request #${number} in ${repository}`,
      async look({ title, body, base, ...where }, signal) {
        const pull = await lookAtPull(ground.hub, where, signal)
        return preview(pull, [
          ...(title === undefined ? [] : [changed('title', pull.title, title)]),
          ...(body === undefined ? [] : [changed('body', pull.body ?? '', body)]),
          ...(base === undefined ? [] : [changed('base', pull.base.ref, base)]),
        ])
      },
      execute: async ({ repository, number, ...changes }, { signal }) =>
        pullResult(
          await ground.hub.write(signal, repositoryOf(repository), (rest, at) =>
            rest.pulls.update({ ...at, pull_number: number, ...changes }),
          ),
        ),
      async verify({ title, body, base, ...where }, { signal }) {
        const pull = await lookAtPull(ground.hub, where, signal)
        const isSo =
          (title === undefined || pull.title === title) &&
          (body === undefined || (pull.body ?? '') === body) &&
          (base === undefined || pull.base.ref === base)
        return doneWhen(isSo, pullResult(pull))
      },
    },
  )

const closePullRequest = (ground: GithubGround): ToolDraft =>
  writeTool(ground, z.object({ repository: ground.repository, number: IssueNumber }), {
    name: 'closePullRequest',
    description: 'Closes a pull request without merging it.',
    describe: ({ repository, number }) => `Close pull request #${number} of ${repository} without merging it`,
    look: async (args, signal) => {
      const pull = await lookAtPull(ground.hub, args, signal)
      if (pull.merged) throw new ToolError('refused', `#${args.number} is merged already.`)
      return preview(pull, [changed('state', pull.state, 'closed'), same('from', `${pull.head.ref} at ${pull.head.sha}`)])
    },
    execute: async ({ repository, number }, { signal }) =>
      pullResult(
        await ground.hub.write(signal, repositoryOf(repository), (rest, at) =>
          rest.pulls.update({ ...at, pull_number: number, state: 'closed' }),
        ),
      ),
    async verify(args, { signal }) {
      const pull = await lookAtPull(ground.hub, args, signal)
      return doneWhen(pull.state === 'closed', pullResult(pull))
    },
  })

const requestReview = (ground: GithubGround): ToolDraft =>
  writeTool(
    ground,
    z
      .object({
        repository: ground.repository,
        number: IssueNumber,
        reviewers: z.array(Login).max(15).default([]),
        teams: z
          .array(z.string().regex(/^[a-z0-9][\w-]{0,99}$/))
          .max(15)
          .default([])
          .describe('Slugs of teams of the organization'),
      })
      .refine(({ reviewers, teams }) => reviewers.length + teams.length > 0, 'must name a reviewer or a team'),
    {
      name: 'requestReview',
      description: 'Asks people or teams to review a pull request.',
      describe: ({ repository, number, reviewers, teams }) =>
        `Ask ${[...reviewers, ...teams.map((slug) => `team ${slug}`)].join(', ')} to review pull request #${number} of ${repository}`,
      async look(args, signal) {
        const pull = await lookAtPull(ground.hub, args, signal)
        const author = pull.user.login
        if (holds(args.reviewers, [author])) throw new ToolError('refused', `${author} wrote #${args.number} and cannot review it.`)
        const asked = reviewersOf(pull)
        const { fields, precondition } = preview(pull, [
          changed('reviewers', asked, withAdded(asked, wanted(args))),
          same('from', `${pull.head.ref} at ${pull.head.sha}`),
        ])
        return { fields, precondition }
      },
      execute: async ({ repository, number, reviewers, teams }, { signal }) =>
        pullResult(
          await ground.hub.write(signal, repositoryOf(repository), (rest, at) =>
            rest.pulls.requestReviewers({ ...at, pull_number: number, reviewers, team_reviewers: teams }),
          ),
        ),
      async verify(args, context) {
        const { hub } = ground
        const { signal } = context
        const [pull, reviews] = await Promise.all([
          lookAtPull(hub, args, signal),
          hub.look(signal, repositoryOf(args.repository), (rest, at) =>
            rest.pulls.listReviews({ ...at, pull_number: args.number, per_page: 100 }),
          ),
        ])
        const missing = without(wanted(args), reviewersOf(pull))
        if (missing.length === 0) return { done: true, output: pullResult(pull) }
        // Who gives a review is not asked for one any more: it may have been given since, or not long before.
        const gave = reviews.filter(
          ({ submitted_at }) => submitted_at !== undefined && Date.parse(submitted_at) >= earliestOf(context).getTime(),
        )
        const logins = gave.flatMap(({ user }) => user?.login ?? [])
        return { done: without(missing, logins).length < missing.length ? 'unknown' : false }
      },
    },
  )

const wanted = ({ reviewers, teams }: { reviewers: string[]; teams: string[] }): string[] => [
  ...reviewers,
  ...teams.map((slug) => `team:${slug}`),
]
