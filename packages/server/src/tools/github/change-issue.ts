import { type JsonValue, type PreviewField, ToolError } from '@countersign/core'
import { z } from 'zod'
import type { ToolDraft } from '../tool-draft.ts'
import { Body, IssueNumber, Label, Login, Title } from './fields.ts'
import { doneWhen } from './found.ts'
import type { Hub } from './hub.ts'
import { repositoryOf } from './repository.ts'
import { changed, holds, same, sameSet, withAdded, without } from './shown.ts'
import { type GithubGround, writeTool } from './tool.ts'
import { assigneesOf, type GithubIssue, issueResult, labelsOf } from './views.ts'

/** Changes of an issue, most of which a pull request takes too. All of them leave it the same when they are made twice. */
export const issueChanges = (ground: GithubGround): ToolDraft[] => [
  updateIssue(ground),
  closeIssue(ground),
  reopenIssue(ground),
  addLabels(ground),
  removeLabel(ground),
  assignIssue(ground),
  unassignIssue(ground),
]

interface Where {
  repository: string
  number: number
}

const lookAt = (hub: Hub, { repository, number }: Where, signal: AbortSignal): Promise<GithubIssue> =>
  hub.look(signal, repositoryOf(repository), (rest, at) => rest.issues.get({ ...at, issue_number: number }))

/** `issue #7`, or what it is. */
const kindOf = ({ pull_request }: GithubIssue): string => (pull_request === undefined ? 'issue' : 'pull request')

/** What every card about an issue begins with. */
const heading = (issue: GithubIssue): PreviewField => same(kindOf(issue), `#${issue.number} ${issue.title}`)

/** The state that a decision about an issue rests on besides what is changed. */
const restsOn = (issue: GithubIssue, fields: readonly PreviewField[]): JsonValue => ({
  title: issue.title,
  state: issue.state,
  values: fields.map(({ field, oldValue = null }) => ({ field, oldValue })),
})

const preview = (issue: GithubIssue, fields: PreviewField[]) => ({
  fields: [heading(issue), ...fields],
  precondition: restsOn(issue, fields),
})

const updateIssue = (ground: GithubGround): ToolDraft =>
  writeTool(
    ground,
    z
      .object({
        repository: ground.repository,
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
      describe: ({ repository, number, ...changes }) => `Change ${Object.keys(changes).join(', ')} of issue #${number} in ${repository}`,
      async look(args, signal) {
        const { title, body, state, labels, assignees, milestone } = args
        const issue = await lookAt(ground.hub, args, signal)
        const fields = [
          ...(title === undefined ? [] : [changed('title', issue.title, title)]),
          ...(body === undefined ? [] : [changed('body', issue.body ?? '', body)]),
          ...(state === undefined ? [] : [changed('state', issue.state, state)]),
          ...(labels === undefined ? [] : [changed('labels', labelsOf(issue), [...labels].sort())]),
          ...(assignees === undefined ? [] : [changed('assignees', assigneesOf(issue), [...assignees].sort())]),
          ...(milestone === undefined ? [] : [changed('milestone', issue.milestone?.number ?? null, milestone)]),
        ]
        return preview(issue, fields)
      },
      async execute({ repository, number, ...changes }, { signal }) {
        const { data } = await update(ground.hub, { repository, number }, changes, signal)
        return issueResult(data)
      },
      async verify({ repository, number, ...wanted }, { signal }) {
        const issue = await lookAt(ground.hub, { repository, number }, signal)
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

const update = async (hub: Hub, { repository, number }: Where, changes: Changes, signal: AbortSignal): Promise<{ data: GithubIssue }> => ({
  data: await hub.write(signal, repositoryOf(repository), (rest, at) => rest.issues.update({ ...at, issue_number: number, ...changes })),
})

const closeIssue = (ground: GithubGround): ToolDraft =>
  writeTool(
    ground,
    z.object({
      repository: ground.repository,
      number: IssueNumber,
      reason: z.enum(['completed', 'not_planned']).default('completed'),
    }),
    {
      name: 'closeIssue',
      description: 'Closes an issue, as completed or as not planned.',
      describe: ({ repository, number, reason }) =>
        `Close issue #${number} of ${repository} as ${reason === 'completed' ? 'completed' : 'not planned'}`,
      look: async (args, signal) => {
        const issue = await lookAt(ground.hub, args, signal)
        const reason = changed('reason', issue.state_reason ?? null, args.reason)
        return preview(issue, [changed('state', issue.state, 'closed'), reason, same('assignees', assigneesOf(issue))])
      },
      execute: async ({ reason, ...where }, { signal }) =>
        issueResult((await update(ground.hub, where, { state: 'closed', state_reason: reason }, signal)).data),
      async verify(args, { signal }) {
        const issue = await lookAt(ground.hub, args, signal)
        return doneWhen(issue.state === 'closed' && issue.state_reason === args.reason, issueResult(issue))
      },
    },
  )

const reopenIssue = (ground: GithubGround): ToolDraft =>
  writeTool(ground, z.object({ repository: ground.repository, number: IssueNumber }), {
    name: 'reopenIssue',
    description: 'Opens a closed issue again.',
    describe: ({ repository, number }) => `Reopen issue #${number} of ${repository}`,
    look: async (args, signal) => {
      const issue = await lookAt(ground.hub, args, signal)
      return preview(issue, [changed('state', issue.state, 'open')])
    },
    execute: async (where, { signal }) =>
      issueResult((await update(ground.hub, where, { state: 'open', state_reason: 'reopened' }, signal)).data),
    async verify(args, { signal }) {
      const issue = await lookAt(ground.hub, args, signal)
      return doneWhen(issue.state === 'open', issueResult(issue))
    },
  })

const addLabels = (ground: GithubGround): ToolDraft =>
  writeTool(ground, z.object({ repository: ground.repository, number: IssueNumber, labels: z.array(Label).min(1).max(50) }), {
    name: 'addLabels',
    description: 'Adds labels to an issue or a pull request. A label that the repository does not have is made.',
    describe: ({ repository, number, labels }) => `Label #${number} of ${repository} ${labels.join(', ')}`,
    look: async (args, signal) => {
      const issue = await lookAt(ground.hub, args, signal)
      return preview(issue, [changed('labels', labelsOf(issue), withAdded(labelsOf(issue), args.labels))])
    },
    async execute({ repository, number, labels }, { signal }) {
      const now = await ground.hub.write(signal, repositoryOf(repository), (rest, at) =>
        rest.issues.addLabels({ ...at, issue_number: number, labels }),
      )
      return { number, labels: now.map(({ name }) => name), url: issueUrl(ground, { repository, number }) }
    },
    async verify(args, { signal }) {
      const issue = await lookAt(ground.hub, args, signal)
      return doneWhen(holds(labelsOf(issue), args.labels), issueResult(issue))
    },
  })

/** The page of an issue where GitHub's answer has no address of it. It leads to the pull request where it is one. */
const issueUrl = ({ webOrigin }: GithubGround, { repository, number }: Where): string => `${webOrigin}/${repository}/issues/${number}`

const removeLabel = (ground: GithubGround): ToolDraft =>
  writeTool(ground, z.object({ repository: ground.repository, number: IssueNumber, label: Label }), {
    name: 'removeLabel',
    description: 'Takes one label off an issue or a pull request.',
    describe: ({ repository, number, label }) => `Take the label ${label} off #${number} of ${repository}`,
    look: async (args, signal) => {
      const issue = await lookAt(ground.hub, args, signal)
      const labels = labelsOf(issue)
      if (!holds(labels, [args.label])) throw new ToolError('refused', `#${args.number} does not have the label ${args.label}.`)
      return preview(issue, [changed('labels', labels, without(labels, [args.label]))])
    },
    async execute({ repository, number, label }, { signal }) {
      const now = await ground.hub.write(signal, repositoryOf(repository), (rest, at) =>
        rest.issues.removeLabel({ ...at, issue_number: number, name: label }),
      )
      return { number, labels: now.map(({ name }) => name), url: issueUrl(ground, { repository, number }) }
    },
    async verify(args, { signal }) {
      const issue = await lookAt(ground.hub, args, signal)
      return doneWhen(!holds(labelsOf(issue), [args.label]), issueResult(issue))
    },
  })

const Assigned = (ground: GithubGround) =>
  z.object({ repository: ground.repository, number: IssueNumber, assignees: z.array(Login).min(1).max(10) })

const assignIssue = (ground: GithubGround): ToolDraft =>
  writeTool(ground, Assigned(ground), {
    name: 'assignIssue',
    description: 'Assigns people to an issue or a pull request, besides those who are.',
    describe: ({ repository, number, assignees }) => `Assign ${assignees.join(', ')} to #${number} of ${repository}`,
    look: async (args, signal) => {
      const [issue] = await Promise.all([
        lookAt(ground.hub, args, signal),
        // GitHub leaves out whom it cannot assign, and says that it succeeded.
        ...args.assignees.map((login) => assertAssignable(ground.hub, args.repository, login, signal)),
      ])
      return preview(issue, [changed('assignees', assigneesOf(issue), withAdded(assigneesOf(issue), args.assignees))])
    },
    async execute({ repository, number, assignees }, { signal }) {
      const issue = await ground.hub.write(signal, repositoryOf(repository), (rest, at) =>
        rest.issues.addAssignees({ ...at, issue_number: number, assignees }),
      )
      const missing = without(assignees, assigneesOf(issue))
      return { ...issueResult(issue), ...(missing.length > 0 && { notAssigned: missing }) }
    },
    async verify(args, { signal }) {
      const issue = await lookAt(ground.hub, args, signal)
      return doneWhen(holds(assigneesOf(issue), args.assignees), issueResult(issue))
    },
  })

async function assertAssignable(hub: Hub, repository: string, login: string, signal: AbortSignal): Promise<void> {
  await hub.look(signal, repositoryOf(repository), (rest, at) => rest.issues.checkUserCanBeAssigned({ ...at, assignee: login }))
}

const unassignIssue = (ground: GithubGround): ToolDraft =>
  writeTool(ground, Assigned(ground), {
    name: 'unassignIssue',
    description: 'Takes people off an issue or a pull request that they are assigned to.',
    describe: ({ repository, number, assignees }) => `Take ${assignees.join(', ')} off #${number} of ${repository}`,
    look: async (args, signal) => {
      const issue = await lookAt(ground.hub, args, signal)
      return preview(issue, [changed('assignees', assigneesOf(issue), without(assigneesOf(issue), args.assignees))])
    },
    execute: async ({ repository, number, assignees }, { signal }) =>
      issueResult(
        await ground.hub.write(signal, repositoryOf(repository), (rest, at) =>
          rest.issues.removeAssignees({ ...at, issue_number: number, assignees }),
        ),
      ),
    async verify(args, { signal }) {
      const issue = await lookAt(ground.hub, args, signal)
      return doneWhen(without(args.assignees, assigneesOf(issue)).length === args.assignees.length, issueResult(issue))
    },
  })
