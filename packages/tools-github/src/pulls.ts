import { type JsonValue, type Preview, type PreviewField, ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { Body, Branch, IssueNumber, Login, Title } from './fields.ts'
import { doneWhen, earliestOf } from './found.ts'
import { lookAtPull, pullHeading, readReviews } from './pull-look.ts'
import { repositoryOf } from './repository.ts'
import { changed, holds, namesOf, numbered, same, withAdded, without } from './shown.ts'
import { type GithubContext, writeTool } from './tool.ts'
import { type GithubPull, pullResult, reviewersOf } from './views.ts'

/** Tools that change a pull request: its texts and base, closing it, requesting reviews. */
export const pullChanges = (github: GithubContext): ToolDraft[] => [
  updatePullRequest(github),
  closePullRequest(github),
  requestReview(github),
]

const preview = (pull: GithubPull, headline: string, fields: PreviewField[]): Preview => ({
  headline,
  fields: [pullHeading(pull), ...fields],
  precondition: {
    title: pull.title,
    state: pull.state,
    values: fields.map(({ field, oldValue = null }): JsonValue => ({ field, oldValue })),
  },
})

const updatePullRequest = (github: GithubContext): ToolDraft =>
  writeTool(
    github,
    z
      .object({
        repository: github.repository,
        number: IssueNumber,
        title: Title.optional(),
        body: Body.optional().describe('Takes the place of the whole text'),
        base: Branch.optional().describe('The branch that it goes into'),
      })
      .refine(({ repository: _, number: __, ...changes }) => Object.keys(changes).length > 0, 'must name something to change'),
    {
      name: 'updatePullRequest',
      description: 'Changes title, text or base of a pull request; what is not named stays.',
      describe: (args) => `Change ${namesOf(args)} of pull request #${args.number} in ${args.repository}`,
      async look(args, signal) {
        const { title, body, base } = args
        const pull = await lookAtPull(github.client, args, signal)
        return preview(pull, `Change ${namesOf(args)} of ${numbered(pull)} in ${args.repository}`, [
          ...(title === undefined ? [] : [changed('title', pull.title, title)]),
          ...(body === undefined ? [] : [changed('body', pull.body ?? '', body)]),
          ...(base === undefined ? [] : [changed('base', pull.base.ref, base)]),
        ])
      },
      execute: async ({ repository, number, ...changes }, { signal }) =>
        pullResult(
          await github.client.write(signal, repositoryOf(repository), (rest, at) =>
            rest.pulls.update({ ...at, pull_number: number, ...changes }),
          ),
        ),
      async verify({ title, body, base, ...where }, { signal }) {
        const pull = await lookAtPull(github.client, where, signal)
        const isSo =
          (title === undefined || pull.title === title) &&
          (body === undefined || (pull.body ?? '') === body) &&
          (base === undefined || pull.base.ref === base)
        return doneWhen(isSo, pullResult(pull))
      },
    },
  )

const closePullRequest = (github: GithubContext): ToolDraft =>
  writeTool(github, z.object({ repository: github.repository, number: IssueNumber }), {
    name: 'closePullRequest',
    description: 'Closes a pull request without merging it.',
    describe: ({ repository, number }) => `Close pull request #${number} of ${repository} without merging it`,
    look: async (args, signal) => {
      const pull = await lookAtPull(github.client, args, signal)
      if (pull.merged) throw new ToolError('refused', `#${args.number} is merged already.`)
      const headline = `Close ${numbered(pull)} of ${args.repository} without merging it`
      return preview(pull, headline, [changed('state', pull.state, 'closed'), same('from', `${pull.head.ref} at ${pull.head.sha}`)])
    },
    execute: async ({ repository, number }, { signal }) =>
      pullResult(
        await github.client.write(signal, repositoryOf(repository), (rest, at) =>
          rest.pulls.update({ ...at, pull_number: number, state: 'closed' }),
        ),
      ),
    async verify(args, { signal }) {
      const pull = await lookAtPull(github.client, args, signal)
      return doneWhen(pull.state === 'closed', pullResult(pull))
    },
  })

const requestReview = (github: GithubContext): ToolDraft =>
  writeTool(
    github,
    z
      .object({
        repository: github.repository,
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
        `Ask ${peopleIn({ reviewers, teams })} to review pull request #${number} of ${repository}`,
      async look(args, signal) {
        const pull = await lookAtPull(github.client, args, signal)
        const author = pull.user.login
        if (holds(args.reviewers, [author])) throw new ToolError('refused', `${author} wrote #${args.number} and cannot review it.`)
        const asked = reviewersOf(pull)
        return preview(pull, `Ask ${peopleIn(args)} to review ${numbered(pull)} of ${args.repository}`, [
          changed('reviewers', asked, withAdded(asked, wanted(args))),
          same('from', `${pull.head.ref} at ${pull.head.sha}`),
        ])
      },
      execute: async ({ repository, number, reviewers, teams }, { signal }) =>
        pullResult(
          await github.client.write(signal, repositoryOf(repository), (rest, at) =>
            rest.pulls.requestReviewers({ ...at, pull_number: number, reviewers, team_reviewers: teams }),
          ),
        ),
      async verify(args, context) {
        const { client } = github
        const { signal } = context
        const [pull, { items, isWhole }] = await Promise.all([lookAtPull(client, args, signal), readReviews(client, args, signal)])
        const missing = without(wanted(args), reviewersOf(pull))
        if (missing.length === 0) return { done: true, output: pullResult(pull) }
        // A reviewer who submits a review is removed from the requested reviewers, so reviews since the proposal (or shortly before it)
        // count as requested.
        const gave = items.filter(
          ({ submitted_at }) => submitted_at !== undefined && Date.parse(submitted_at) >= earliestOf(context).getTime(),
        )
        const logins = gave.flatMap(({ user }) => user?.login ?? [])
        return { done: !isWhole || without(missing, logins).length < missing.length ? 'unknown' : false }
      },
    },
  )

const peopleIn = ({ reviewers, teams }: { reviewers: string[]; teams: string[] }): string =>
  [...reviewers, ...teams.map((slug) => `team ${slug}`)].join(', ')

const wanted = ({ reviewers, teams }: { reviewers: string[]; teams: string[] }): string[] => [
  ...reviewers,
  ...teams.map((slug) => `team:${slug}`),
]
