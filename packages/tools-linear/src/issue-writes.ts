import type { PreviewField } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { asName } from '@countersign/toolkit/internal'
import type { LinearDocument } from '@linear/sdk'
import { z } from 'zod'
import type { LinearClient } from './client.ts'
import { cycleWords, findCycle, findLabel, findProject, findState, findTeam, findUser } from './find.ts'
import { Cycle, Day, Estimate, Issue, Label, Priority, Project, Status, Team, Text, Title, User } from './inputs.ts'
import { findStanding, issuePlan, lookForIssue, updateTool } from './issue-tool.ts'
import { CREATE_ISSUE, DELETE_ISSUE } from './mutations.ts'
import type { Workspace } from './read-tool.ts'
import { changed, given } from './rows.ts'
import { issueView, PRIORITIES, priorityWord, userWords } from './views.ts'
import { refuse } from './words.ts'
import { inputOf, type Plan, writeTool } from './write-tool.ts'

const NewIssue = z.object({
  team: Team,
  title: Title,
  description: Text.optional(),
  assignee: User.optional(),
  status: Status.optional(),
  priority: Priority.optional(),
  estimate: Estimate.optional(),
  dueDate: Day.optional(),
  labels: z.array(Label).max(20).optional(),
  project: Project.optional(),
  cycle: Cycle.optional(),
})

const Changes = z.object({
  issue: Issue,
  title: Title.optional(),
  description: Text.optional(),
  priority: Priority.optional(),
  estimate: Estimate.nullable().optional(),
  dueDate: Day.nullable().optional(),
  project: Project.nullable().optional(),
})

/** Tools that create, change and delete issues. */
export const issueWrites = (workspace: Workspace): ToolDraft[] => [
  writeTool(workspace, {
    name: 'createIssue',
    description: 'Creates an issue in a team.',
    input: NewIssue,
    describe: ({ team, title, assignee }) =>
      `Create the issue "${title}" in team ${team}${assignee === undefined ? '' : `, assigned to ${assignee}`}`,
    document: CREATE_ISSUE,
    plan: planIssue,
    view: issueView,
    creates: true,
    look: lookForIssue,
  }),
  updateTool(workspace, {
    name: 'updateIssue',
    description: 'Changes title, description, priority, estimate, due date or project of an issue. null takes a value away.',
    input: Changes,
    describe: ({ issue, ...changes }) => `Change ${Object.keys(changes).join(', ') || 'nothing'} of ${issue}`,
    plan: planChanges,
  }),
  writeTool(workspace, {
    name: 'deleteIssue',
    description: 'Moves an issue to the trash, from where Linear removes it after 30 days.',
    input: z.object({ issue: Issue }),
    describe: ({ issue }) => `Delete ${issue}`,
    document: DELETE_ISSUE,
    async plan(linear, { issue: words }, signal) {
      const issue = await findStanding(linear, words, signal)
      const { identifier, title, url, trashed, updatedAt, id, ...shown } = issueView(issue)
      const fields = Object.entries(shown).flatMap(([field, oldValue]): PreviewField[] => (oldValue === null ? [] : [{ field, oldValue }]))
      const description: PreviewField[] = issue.description ? [{ field: 'description', oldValue: issue.description }] : []
      return {
        fields: [{ field: 'issue', oldValue: `${issue.identifier} ${issue.title}` }, ...fields, ...description],
        named: { issue: issue.identifier },
        variables: { id: issue.id },
        updatedAt: issue.updatedAt,
      }
    },
    view: issueView,
    look: lookForIssue,
    isDone: (issue) => issue.trashed === true,
  }),
]

async function planIssue(linear: LinearClient, args: z.output<typeof NewIssue>, signal: AbortSignal): Promise<Plan> {
  const team = await findTeam(linear, args.team, signal)
  const find = <Words, Found>(words: Words | undefined, how: (words: Words) => Promise<Found>) =>
    words === undefined ? undefined : how(words)
  const [assignee, state, labels, project, cycle] = await Promise.all([
    find(args.assignee, (words) => findUser(linear, words, signal)),
    find(args.status, (words) => findState(linear, team, words, signal)),
    find(args.labels, (all) => Promise.all(all.map((words) => findLabel(linear, team, words, signal)))),
    find(args.project, (words) => findProject(linear, words, signal)),
    find(args.cycle, (words) => findCycle(linear, team, words, signal)),
  ])
  const { title, description, estimate, dueDate } = args
  const input = inputOf<LinearDocument.IssueCreateInput>({
    teamId: team.id,
    title,
    description,
    priority: args.priority && PRIORITIES.indexOf(args.priority),
    estimate,
    dueDate,
    assigneeId: assignee?.id,
    stateId: state?.id,
    labelIds: labels?.map(({ id }) => id),
    projectId: project?.id,
    cycleId: cycle?.id,
  })
  return {
    fields: [
      { field: 'team', newValue: `${team.key} (${team.name})` },
      { field: 'title', newValue: title },
      ...given('description', description),
      ...given('assignee', assignee && (userWords(assignee) ?? undefined)),
      ...given('status', state?.name),
      ...given('priority', args.priority),
      ...given('estimate', estimate),
      ...given('due date', dueDate),
      ...given(
        'labels',
        labels?.map(({ name }) => name),
      ),
      ...given('project', project?.name),
      ...given('cycle', cycle && cycleWords(cycle)),
    ],
    named: { team: team.key, ...(assignee && { assignee: asName(assignee.name) }) },
    variables: { input },
  }
}

async function planChanges(linear: LinearClient, args: z.output<typeof Changes>, signal: AbortSignal): Promise<Plan> {
  const { issue: words, project: projectWords, priority, ...plain } = args
  if (Object.keys(args).length === 1) throw refuse('There is nothing to change: name a value.')
  const issue = await findStanding(linear, words, signal)
  const project = projectWords === undefined || projectWords === null ? projectWords : await findProject(linear, projectWords, signal)
  const input: LinearDocument.IssueUpdateInput = {
    ...plain,
    ...(priority !== undefined && { priority: PRIORITIES.indexOf(priority) }),
    ...(project !== undefined && { projectId: project?.id ?? null }),
  }
  return issuePlan(
    issue,
    [
      ...changed('title', issue.title, plain.title),
      ...changed('description', issue.description, plain.description),
      ...changed('priority', priorityWord(issue.priority), priority),
      ...changed('estimate', issue.estimate, plain.estimate),
      ...changed('due date', issue.dueDate, plain.dueDate),
      ...changed('project', issue.project?.name ?? null, project === null ? null : project?.name),
    ],
    input,
  )
}
