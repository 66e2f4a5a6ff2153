import type { JsonObject, PreviewField } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
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
import { hasInput, type Plan, writeTool } from './write-tool.ts'

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

/**
 * Returns the plan of a change: its issue, its fields, the input of the mutation, and other names for the headline.
 * @throws ToolError `refused` for an issue that has all these values.
 */
export function issuePlan(issue: FoundIssue, fields: PreviewField[], input: LinearDocument.IssueUpdateInput, named: JsonObject = {}): Plan {
  const variables = { id: issue.id, input: input as JsonObject }
  if (hasInput(valuesOf(issue), variables)) throw refuse(`${issue.identifier} is like that already.`)
  return {
    fields: [issueRow(issue), ...fields],
    named: { issue: issue.identifier, ...named },
    variables,
    updatedAt: issue.updatedAt,
  }
}

/** Reads the issue that was sent or created, by its id; undefined when it does not exist. */
export async function lookForIssue(linear: LinearClient, id: string, signal: AbortSignal): Promise<FoundIssue | undefined> {
  const { issues } = await linear.ask(FIND_ISSUE, { filter: { id: { eq: id } } }, signal)
  return issues.nodes[0]
}

/** True when the key sees an issue, in the trash or not. */
export const seesIssue = async (linear: LinearClient, id: string, signal: AbortSignal): Promise<boolean> =>
  (await lookForIssue(linear, id, signal)) !== undefined

/** Returns the current values of an issue by the fields of an update. */
const valuesOf = ({ assignee, state, project, projectMilestone, cycle, ...issue }: FoundIssue): JsonObject => ({
  title: issue.title,
  description: issue.description,
  priority: issue.priority,
  estimate: issue.estimate,
  dueDate: issue.dueDate,
  assigneeId: assignee?.id ?? null,
  stateId: state.id,
  projectId: project?.id ?? null,
  projectMilestoneId: projectMilestone?.id ?? null,
  cycleId: cycle?.id ?? null,
})

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
    // The mutation's answer has no description. Only an issue that was read by itself is compared.
    document: UPDATE_ISSUE,
    view: issueView,
    look: lookForIssue,
    isDone: (issue, sent) => 'description' in issue && hasInput(valuesOf(issue as FoundIssue), sent),
  })
}
