import { ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import type { GithubClient } from './client.ts'
import { IssueNumber, Label, Login } from './fields.ts'
import { doneWhen } from './found.ts'
import { lookAt, preview, type Where } from './issue-look.ts'
import { repositoryOf } from './repository.ts'
import { changed, holds, numbered, withAdded, without } from './shown.ts'
import { type GithubContext, writeTool } from './tool.ts'
import { assigneesOf, issueResult, labelsOf } from './views.ts'

/** Tools that add and remove labels and assignees of an issue or a pull request. All of them are idempotent. */
export const issueListChanges = (github: GithubContext): ToolDraft[] => [
  addLabels(github),
  removeLabel(github),
  assignIssue(github),
  unassignIssue(github),
]

const addLabels = (github: GithubContext): ToolDraft =>
  writeTool(github, z.object({ repository: github.repository, number: IssueNumber, labels: z.array(Label).min(1).max(50) }), {
    name: 'addLabels',
    description: 'Adds labels to an issue or a pull request. A label that the repository does not have is made.',
    describe: ({ repository, number, labels }) => `Label #${number} of ${repository} ${labels.join(', ')}`,
    look: async (args, signal) => {
      const issue = await lookAt(github.client, args, signal)
      const labels = withAdded(labelsOf(issue), args.labels)
      const headline = `Label ${numbered(issue)} of ${args.repository} ${args.labels.join(', ')}`
      return preview(issue, headline, [changed('labels', labelsOf(issue), labels)])
    },
    async execute({ repository, number, labels }, { signal }) {
      const now = await github.client.write(signal, repositoryOf(repository), (rest, at) =>
        rest.issues.addLabels({ ...at, issue_number: number, labels }),
      )
      return { number, labels: now.map(({ name }) => name), url: issueUrl(github, { repository, number }) }
    },
    async verify(args, { signal }) {
      const issue = await lookAt(github.client, args, signal)
      return doneWhen(holds(labelsOf(issue), args.labels), issueResult(issue))
    },
  })

/** Returns the URL of an issue when GitHub's answer has none. For a pull request GitHub redirects it. */
const issueUrl = ({ webOrigin }: GithubContext, { repository, number }: Where): string => `${webOrigin}/${repository}/issues/${number}`

const removeLabel = (github: GithubContext): ToolDraft =>
  writeTool(github, z.object({ repository: github.repository, number: IssueNumber, label: Label }), {
    name: 'removeLabel',
    description: 'Takes one label off an issue or a pull request.',
    describe: ({ repository, number, label }) => `Take the label ${label} off #${number} of ${repository}`,
    look: async (args, signal) => {
      const issue = await lookAt(github.client, args, signal)
      const labels = labelsOf(issue)
      if (!holds(labels, [args.label])) throw new ToolError('refused', `#${args.number} does not have the label ${args.label}.`)
      const headline = `Take the label ${args.label} off ${numbered(issue)} of ${args.repository}`
      return preview(issue, headline, [changed('labels', labels, without(labels, [args.label]))])
    },
    async execute({ repository, number, label }, { signal }) {
      const now = await github.client.write(signal, repositoryOf(repository), (rest, at) =>
        rest.issues.removeLabel({ ...at, issue_number: number, name: label }),
      )
      return { number, labels: now.map(({ name }) => name), url: issueUrl(github, { repository, number }) }
    },
    async verify(args, { signal }) {
      const issue = await lookAt(github.client, args, signal)
      return doneWhen(!holds(labelsOf(issue), [args.label]), issueResult(issue))
    },
  })

const Assigned = (github: GithubContext) =>
  z.object({ repository: github.repository, number: IssueNumber, assignees: z.array(Login).min(1).max(10) })

const assignIssue = (github: GithubContext): ToolDraft =>
  writeTool(github, Assigned(github), {
    name: 'assignIssue',
    description: 'Assigns people to an issue or a pull request, besides those who are.',
    describe: ({ repository, number, assignees }) => `Assign ${assignees.join(', ')} to #${number} of ${repository}`,
    look: async (args, signal) => {
      const [issue] = await Promise.all([
        lookAt(github.client, args, signal),
        // GitHub silently ignores users that it cannot assign, so each is checked first.
        ...args.assignees.map((login) => assertAssignable(github.client, args.repository, login, signal)),
      ])
      const headline = `Assign ${args.assignees.join(', ')} to ${numbered(issue)} of ${args.repository}`
      return preview(issue, headline, [changed('assignees', assigneesOf(issue), withAdded(assigneesOf(issue), args.assignees))])
    },
    async execute({ repository, number, assignees }, { signal }) {
      const issue = await github.client.write(signal, repositoryOf(repository), (rest, at) =>
        rest.issues.addAssignees({ ...at, issue_number: number, assignees }),
      )
      const missing = without(assignees, assigneesOf(issue))
      return { ...issueResult(issue), ...(missing.length > 0 && { notAssigned: missing }) }
    },
    async verify(args, { signal }) {
      const issue = await lookAt(github.client, args, signal)
      return doneWhen(holds(assigneesOf(issue), args.assignees), issueResult(issue))
    },
  })

async function assertAssignable(client: GithubClient, repository: string, login: string, signal: AbortSignal): Promise<void> {
  await client.look(signal, repositoryOf(repository), (rest, at) => rest.issues.checkUserCanBeAssigned({ ...at, assignee: login }))
}

const unassignIssue = (github: GithubContext): ToolDraft =>
  writeTool(github, Assigned(github), {
    name: 'unassignIssue',
    description: 'Takes people off an issue or a pull request that they are assigned to.',
    describe: ({ repository, number, assignees }) => `Take ${assignees.join(', ')} off #${number} of ${repository}`,
    look: async (args, signal) => {
      const issue = await lookAt(github.client, args, signal)
      const headline = `Take ${args.assignees.join(', ')} off ${numbered(issue)} of ${args.repository}`
      return preview(issue, headline, [changed('assignees', assigneesOf(issue), without(assigneesOf(issue), args.assignees))])
    },
    execute: async ({ repository, number, assignees }, { signal }) =>
      issueResult(
        await github.client.write(signal, repositoryOf(repository), (rest, at) =>
          rest.issues.removeAssignees({ ...at, issue_number: number, assignees }),
        ),
      ),
    async verify(args, { signal }) {
      const issue = await lookAt(github.client, args, signal)
      return doneWhen(without(args.assignees, assigneesOf(issue)).length === args.assignees.length, issueResult(issue))
    },
  })
