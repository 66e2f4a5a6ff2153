import type { ToolDraft } from '@countersign/toolkit'
import { asName } from '@countersign/toolkit/internal'
import { z } from 'zod'
import { cycleWords, findCycle, findLabel, findState, findUser } from './find.ts'
import { Cycle, Issue, Label, Status, Text, User } from './inputs.ts'
import { findStanding, issuePlan, issueRow, lookForIssue, updateTool } from './issue-tool.ts'
import { ADD_LABEL, CREATE_COMMENT, REMOVE_LABEL } from './mutations.ts'
import { FIND_COMMENT } from './queries.ts'
import type { Workspace } from './read-tool.ts'
import { issueView, userWords } from './views.ts'
import { oneLine, refuse } from './words.ts'
import { writeTool } from './write-tool.ts'

/** Tools for the progress of an issue: assignee, status, cycle, labels and comments. */
export const issueMoves = (workspace: Workspace): ToolDraft[] => [
  assignIssue(workspace),
  unassignIssue(workspace),
  changeStatus(workspace),
  moveToCycle(workspace),
  removeFromCycle(workspace),
  addLabel(workspace),
  removeLabel(workspace),
  comment(workspace),
]

const assignIssue = (workspace: Workspace): ToolDraft =>
  updateTool(workspace, {
    name: 'assignIssue',
    description: 'Gives an issue to somebody.',
    input: z.object({ issue: Issue, assignee: User }),
    describe: ({ issue, assignee }) => `Assign ${issue} to ${assignee}`,
    async plan(linear, args, signal) {
      const [issue, assignee] = await Promise.all([findStanding(linear, args.issue, signal), findUser(linear, args.assignee, signal)])
      const fields = [{ field: 'assignee', oldValue: userWords(issue.assignee), newValue: userWords(assignee) }]
      return issuePlan(issue, fields, { assigneeId: assignee.id }, { assignee: asName(assignee.name) })
    },
  })

const unassignIssue = (workspace: Workspace): ToolDraft =>
  updateTool(workspace, {
    name: 'unassignIssue',
    description: 'Takes an issue from whoever has it.',
    input: z.object({ issue: Issue }),
    describe: ({ issue }) => `Take ${issue} from its assignee`,
    async plan(linear, args, signal) {
      const issue = await findStanding(linear, args.issue, signal)
      if (!issue.assignee) throw refuse(`${issue.identifier} is assigned to nobody.`)
      return issuePlan(issue, [{ field: 'assignee', oldValue: userWords(issue.assignee), newValue: null }], { assigneeId: null })
    },
  })

const changeStatus = (workspace: Workspace): ToolDraft =>
  updateTool(workspace, {
    name: 'changeStatus',
    description: 'Moves an issue to another status of its team.',
    input: z.object({ issue: Issue, status: Status }),
    describe: ({ issue, status }) => `Set ${issue} to ${status}`,
    async plan(linear, args, signal) {
      const issue = await findStanding(linear, args.issue, signal)
      const state = await findState(linear, issue.team, args.status, signal)
      return issuePlan(
        issue,
        [{ field: 'status', oldValue: issue.state.name, newValue: state.name }],
        { stateId: state.id },
        { status: asName(state.name) },
      )
    },
  })

const moveToCycle = (workspace: Workspace): ToolDraft =>
  updateTool(workspace, {
    name: 'moveToCycle',
    description: 'Puts an issue into a cycle of its team.',
    input: z.object({ issue: Issue, cycle: Cycle }),
    describe: ({ issue, cycle }) => `Move ${issue} to ${/^\d+$/.test(cycle) ? `cycle ${cycle}` : `the cycle ${cycle}`}`,
    async plan(linear, args, signal) {
      const issue = await findStanding(linear, args.issue, signal)
      const cycle = await findCycle(linear, issue.team, args.cycle, signal)
      const fields = [{ field: 'cycle', oldValue: issue.cycle && cycleWords(issue.cycle), newValue: cycleWords(cycle) }]
      return issuePlan(issue, fields, { cycleId: cycle.id }, { cycle: String(cycle.number) })
    },
  })

const removeFromCycle = (workspace: Workspace): ToolDraft =>
  updateTool(workspace, {
    name: 'removeFromCycle',
    description: 'Takes an issue out of its cycle.',
    input: z.object({ issue: Issue }),
    describe: ({ issue }) => `Take ${issue} out of its cycle`,
    async plan(linear, args, signal) {
      const issue = await findStanding(linear, args.issue, signal)
      if (!issue.cycle) throw refuse(`${issue.identifier} is in no cycle.`)
      return issuePlan(issue, [{ field: 'cycle', oldValue: cycleWords(issue.cycle), newValue: null }], { cycleId: null })
    },
  })

const addLabel = (workspace: Workspace): ToolDraft =>
  labelTool(workspace, {
    name: 'addLabel',
    description: 'Puts a label on an issue.',
    describe: ({ issue, label }) => `Put the label ${label} on ${issue}`,
    adds: true,
  })

const removeLabel = (workspace: Workspace): ToolDraft =>
  labelTool(workspace, {
    name: 'removeLabel',
    description: 'Takes a label off an issue.',
    describe: ({ issue, label }) => `Take the label ${label} off ${issue}`,
    adds: false,
  })

const comment = (workspace: Workspace): ToolDraft =>
  writeTool(workspace, {
    name: 'comment',
    description: 'Comments on an issue, for everybody to read.',
    input: z.object({ issue: Issue, body: Text.min(1) }),
    describe: ({ issue }) => `Comment on ${issue}`,
    document: CREATE_COMMENT,
    async plan(linear, args, signal) {
      const issue = await findStanding(linear, args.issue, signal)
      return {
        fields: [issueRow(issue), { field: 'comment', newValue: args.body }],
        named: { issue: issue.identifier },
        variables: { input: { issueId: issue.id, body: args.body } },
      }
    },
    view: ({ id, url, createdAt, body }) => ({ id, url, createdAt, body }),
    creates: true,
    async look(linear, id, signal) {
      const { comments } = await linear.ask(FIND_COMMENT, { filter: { id: { eq: id } } }, signal)
      return comments.nodes[0]
    },
  })

function labelTool(
  workspace: Workspace,
  { adds, ...words }: { name: string; description: string; describe(args: { issue: string; label: string }): string; adds: boolean },
): ToolDraft {
  return writeTool(workspace, {
    ...words,
    input: z.object({ issue: Issue, label: Label }),
    document: adds ? ADD_LABEL : REMOVE_LABEL,
    async plan(linear, args, signal) {
      const issue = await findStanding(linear, args.issue, signal)
      const label = await findLabel(linear, issue.team, args.label, signal)
      const has = issue.labels.nodes.map(({ name }) => name)
      const isThere = issue.labels.nodes.some(({ id }) => id === label.id)
      if (isThere === adds)
        throw refuse(`${issue.identifier} ${adds ? 'has the label' : 'does not have the label'} ${oneLine(label.name)}.`)
      const willHave = adds ? [...has, label.name] : issue.labels.nodes.filter(({ id }) => id !== label.id).map(({ name }) => name)
      return {
        fields: [issueRow(issue), { field: 'labels', oldValue: has, newValue: willHave }],
        named: { issue: issue.identifier, label: asName(label.name) },
        variables: { id: issue.id, labelId: label.id },
        updatedAt: issue.updatedAt,
      }
    },
    view: issueView,
    look: lookForIssue,
    isDone: (issue, { labelId }) => issue.labels.nodes.some(({ id }) => id === labelId) === adds,
  })
}
