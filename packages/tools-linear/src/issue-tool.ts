import type { JsonObject, JsonValue, PreviewField } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { isObject } from '@countersign/toolkit/internal'
import type { LinearDocument } from '@linear/sdk'
import type { z } from 'zod'
import type { LinearClient } from './client.ts'
import { findIssue } from './find.ts'
import { UPDATE_ISSUE } from './mutations.ts'
import type { IssueNode } from './nodes.ts'
import { FIND_ISSUE } from './queries.ts'
import type { Workspace } from './read-tool.ts'
import { issueView } from './views.ts'
import { refuse } from './words.ts'
import { type Plan, writeTool } from './write-tool.ts'

export type FoundIssue = Awaited<ReturnType<typeof findIssue>>

/** Returns an unchanged row that identifies the issue on the card. */
export const issueRow = ({ identifier, title }: IssueNode): PreviewField => {
  const words = `${identifier} ${title}`
  return { field: 'issue', oldValue: words, newValue: words }
}

/** @throws ToolError `refused` for an issue in the trash, which cannot be changed. */
export async function findStanding(linear: LinearClient, words: string, signal: AbortSignal): Promise<FoundIssue> {
  const issue = await findIssue(linear, words, signal)
  if (issue.trashed === true) throw refuse(`${issue.identifier} is in the trash.`)
  return issue
}

/** Returns the plan of a change: its issue, its fields, the input of the mutation, and other names for the headline. */
export const issuePlan = (
  issue: IssueNode,
  fields: PreviewField[],
  input: LinearDocument.IssueUpdateInput,
  named: JsonObject = {},
): Plan => ({
  fields: [issueRow(issue), ...fields],
  named: { issue: issue.identifier, ...named },
  variables: { id: issue.id, input: input as JsonObject },
  updatedAt: issue.updatedAt,
})

/** Reads the issue that was sent or created, by its id; undefined when it does not exist. */
export async function lookForIssue(linear: LinearClient, id: string, signal: AbortSignal): Promise<FoundIssue | undefined> {
  const { issues } = await linear.ask(FIND_ISSUE, { filter: { id: { eq: id } } }, signal)
  return issues.nodes[0]
}

/** Returns the current value of an issue for each field of an update. */
const VALUE_OF: Record<string, (issue: FoundIssue) => JsonValue> = {
  title: ({ title }) => title,
  description: ({ description }) => description,
  priority: ({ priority }) => priority,
  estimate: ({ estimate }) => estimate,
  dueDate: ({ dueDate }) => dueDate,
  assigneeId: ({ assignee }) => assignee?.id ?? null,
  stateId: ({ state }) => state.id,
  projectId: ({ project }) => project?.id ?? null,
  projectMilestoneId: ({ projectMilestone }) => projectMilestone?.id ?? null,
  cycleId: ({ cycle }) => cycle?.id ?? null,
}

/** True when the issue has every value of the input. */
function hasAll(issue: FoundIssue, sent: JsonObject): boolean {
  const input = isObject(sent.input) ? Object.entries(sent.input) : []
  return input.length > 0 && input.every(([field, value]) => VALUE_OF[field]?.(issue) === value)
}

/** Defines a tool that sets values of one issue. */
export function updateTool<Input extends z.ZodObject>(
  workspace: Workspace,
  definition: {
    name: string
    description: string
    input: Input
    describe(args: z.output<Input>): string
    plan(linear: LinearClient, args: z.output<Input>, signal: AbortSignal): Promise<Plan>
  },
): ToolDraft {
  return writeTool(workspace, {
    ...definition,
    // The mutation's answer has no description. `hasAll` needs it only for issues that it reads itself.
    document: UPDATE_ISSUE,
    view: issueView,
    look: (linear, sent, signal) => lookForIssue(linear, String(sent.id), signal),
    isDone: (issue, sent) => 'description' in issue && hasAll(issue as FoundIssue, sent),
  })
}
