import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import type { GithubClient } from './client.ts'
import { Body, IssueNumber, Label, Login, Title } from './fields.ts'
import { doneWhen } from './found.ts'
import { lookAt, preview, type Where } from './issue-look.ts'
import { repositoryOf } from './repository.ts'
import { changed, namesOf, numbered, same, sameSet } from './shown.ts'
import { type GithubContext, writeTool } from './tool.ts'
import { assigneesOf, type GithubIssue, issueResult, labelsOf } from './views.ts'

/** Tools that change an issue. All of them are idempotent. */
export const issueChanges = (github: GithubContext): ToolDraft[] => [updateIssue(github), closeIssue(github), reopenIssue(github)]

const updateIssue = (github: GithubContext): ToolDraft =>
  writeTool(
    github,
    z
      .object({
        repository: github.repository,
        number: IssueNumber,
        title: Title.optional(),
        body: Body.optional().describe('Takes the place of the whole text'),
        state: z.enum(['open', 'closed']).optional(),
        labels: z.array(Label).max(50).optional().describe('Take the place of all labels'),
        assignees: z.array(Login).max(10).optional().describe('Take the place of all assignees'),
        milestone: z.union([IssueNumber, z.null()]).optional().describe('The number of a milestone; null for none'),
      })
      .refine(({ repository: _, number: __, ...changes }) => Object.keys(changes).length > 0, 'must name something to change'),
    {
      name: 'updateIssue',
      description: 'Changes title, text, state, labels, assignees or milestone of an issue; what is not named stays.',
      describe: (args) => `Change ${namesOf(args)} of issue #${args.number} in ${args.repository}`,
      async look(args, signal) {
        const { title, body, state, labels, assignees, milestone } = args
        const issue = await lookAt(github.client, args, signal)
        const fields = [
          ...(title === undefined ? [] : [changed('title', issue.title, title)]),
          ...(body === undefined ? [] : [changed('body', issue.body ?? '', body)]),
          ...(state === undefined ? [] : [changed('state', issue.state, state)]),
          ...(labels === undefined ? [] : [changed('labels', labelsOf(issue), [...labels].sort())]),
          ...(assignees === undefined ? [] : [changed('assignees', assigneesOf(issue), [...assignees].sort())]),
          ...(milestone === undefined ? [] : [changed('milestone', issue.milestone?.number ?? null, milestone)]),
        ]
        return preview(issue, `Change ${namesOf(args)} of ${numbered(issue)} in ${args.repository}`, fields)
      },
      async execute({ repository, number, ...changes }, { signal }) {
        const { data } = await update(github.client, { repository, number }, changes, signal)
        return issueResult(data)
      },
      async verify({ repository, number, ...wanted }, { signal }) {
        const issue = await lookAt(github.client, { repository, number }, signal)
        const { title, body, state, labels, assignees, milestone } = wanted
        const isSo =
          (title === undefined || issue.title === title) &&
          (body === undefined || (issue.body ?? '') === body) &&
          (state === undefined || issue.state === state) &&
          (labels === undefined || sameSet(labelsOf(issue), labels)) &&
          (assignees === undefined || sameSet(assigneesOf(issue), assignees)) &&
          (milestone === undefined || (issue.milestone?.number ?? null) === milestone)
        return doneWhen(isSo, issueResult(issue))
      },
    },
  )

interface Changes {
  title?: string | undefined
  body?: string | undefined
  state?: 'open' | 'closed' | undefined
  state_reason?: 'completed' | 'not_planned' | 'reopened' | undefined
  labels?: string[] | undefined
  assignees?: string[] | undefined
  milestone?: number | null | undefined
}

const update = async (
  client: GithubClient,
  { repository, number }: Where,
  changes: Changes,
  signal: AbortSignal,
): Promise<{ data: GithubIssue }> => ({
  data: await client.write(signal, repositoryOf(repository), (rest, at) => rest.issues.update({ ...at, issue_number: number, ...changes })),
})

const WORDS = { completed: 'completed', not_planned: 'not planned' } as const

const closeIssue = (github: GithubContext): ToolDraft =>
  writeTool(
    github,
    z.object({
      repository: github.repository,
      number: IssueNumber,
      reason: z.enum(['completed', 'not_planned']).default('completed'),
    }),
    {
      name: 'closeIssue',
      description: 'Closes an issue, as completed or as not planned.',
      describe: ({ repository, number, reason }) => `Close issue #${number} of ${repository} as ${WORDS[reason]}`,
      look: async (args, signal) => {
        const issue = await lookAt(github.client, args, signal)
        const reason = changed('reason', issue.state_reason ?? null, args.reason)
        const headline = `Close ${numbered(issue)} of ${args.repository} as ${WORDS[args.reason]}`
        return preview(issue, headline, [changed('state', issue.state, 'closed'), reason, same('assignees', assigneesOf(issue))])
      },
      execute: async ({ reason, ...where }, { signal }) =>
        issueResult((await update(github.client, where, { state: 'closed', state_reason: reason }, signal)).data),
      async verify(args, { signal }) {
        const issue = await lookAt(github.client, args, signal)
        return doneWhen(issue.state === 'closed' && issue.state_reason === args.reason, issueResult(issue))
      },
    },
  )

const reopenIssue = (github: GithubContext): ToolDraft =>
  writeTool(github, z.object({ repository: github.repository, number: IssueNumber }), {
    name: 'reopenIssue',
    description: 'Opens a closed issue again.',
    describe: ({ repository, number }) => `Reopen issue #${number} of ${repository}`,
    look: async (args, signal) => {
      const issue = await lookAt(github.client, args, signal)
      return preview(issue, `Reopen ${numbered(issue)} of ${args.repository}`, [changed('state', issue.state, 'open')])
    },
    execute: async (where, { signal }) =>
      issueResult((await update(github.client, where, { state: 'open', state_reason: 'reopened' }, signal)).data),
    async verify(args, { signal }) {
      const issue = await lookAt(github.client, args, signal)
      return doneWhen(issue.state === 'open', issueResult(issue))
    },
  })
