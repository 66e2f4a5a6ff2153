import type { JsonObject } from '@countersign/core'
import { cycleWords } from './find.ts'
import type { IssueNode, ProjectNode, UserNode, WholeIssueNode } from './nodes.ts'

/** The priorities, in the order of Linear's numbers. */
export const PRIORITIES = ['none', 'urgent', 'high', 'medium', 'low'] as const

export const priorityWord = (priority: number): string => PRIORITIES[priority] ?? String(priority)
export const userWords = (user: UserNode | null): string | null => user && `${user.name} <${user.email}>`

/** Returns an issue for the model and for results: names, with the ids that another call may need. */
export const issueView = (issue: IssueNode): JsonObject => ({
  id: issue.id,
  identifier: issue.identifier,
  title: issue.title,
  url: issue.url,
  team: issue.team.key,
  status: issue.state.name,
  assignee: userWords(issue.assignee),
  priority: priorityWord(issue.priority),
  estimate: issue.estimate,
  dueDate: issue.dueDate,
  project: issue.project?.name ?? null,
  milestone: issue.projectMilestone?.name ?? null,
  cycle: issue.cycle && cycleWords(issue.cycle),
  labels: issue.labels.nodes.map(({ name }) => name),
  updatedAt: issue.updatedAt,
  ...(issue.trashed === true && { trashed: true }),
})

/** @param isShown False for teams that are not allowed. Their objects are left out. */
export function wholeIssueView(issue: WholeIssueNode, isShown: (team: { key: string }) => boolean): JsonObject {
  const related = (type: string, { identifier, title, state }: { identifier: string; title: string; state: { name: string } }) => ({
    type,
    identifier,
    title,
    status: state.name,
  })
  const relations = [
    ...(issue.parent && isShown(issue.parent.team) ? [related('parent', issue.parent)] : []),
    ...issue.relations.nodes.filter((one) => isShown(one.relatedIssue.team)).map((one) => related(one.type, one.relatedIssue)),
    ...issue.inverseRelations.nodes.filter((one) => isShown(one.issue.team)).map((one) => related(`${one.type} (inverse)`, one.issue)),
  ]
  return {
    ...issueView(issue),
    description: issue.description,
    createdAt: issue.createdAt,
    relations,
    comments: issue.comments.nodes.map(({ id, body, createdAt, user }) => ({ id, by: userWords(user), at: createdAt, body })),
  }
}

export const projectView = (project: ProjectNode): JsonObject => ({
  id: project.id,
  name: project.name,
  url: project.url,
  status: project.status.name,
  description: project.description,
  lead: userWords(project.lead),
  startDate: project.startDate,
  targetDate: project.targetDate,
  teams: project.teams.nodes.map(({ key }) => key),
})
