import { fits } from './filter.ts'
import type { Attachment, Document, Issue, Label, Milestone, Project, ProjectUpdate, Relation, Team, World } from './world.ts'

// Builds answers from the state. Lists are paginated as by Linear.

export interface ListArgs {
  filter?: unknown
  first?: number
  after?: string
  includeArchived?: boolean
}

/** One page of a list, as Linear gives it. */
export function page<Node extends { id?: string }>(nodes: readonly Node[], { first = 50, after }: ListArgs) {
  const from = after === undefined || after === null ? 0 : nodes.findIndex(({ id }) => id === after) + 1
  const shown = nodes.slice(from, from + first)
  return { nodes: shown, pageInfo: { hasNextPage: from + first < nodes.length, endCursor: shown.at(-1)?.id ?? null } }
}

export const isTrashed = (node: object): boolean => 'trashed' in node && node.trashed === true
export const says = (text: string, term: string): boolean => text.toLowerCase().includes(term.toLowerCase())

export const teamView = (team: Team) => ({
  ...team,
  members: (args: ListArgs) =>
    page(
      team.members.filter((member) => member.active && fits(member, args.filter)),
      args,
    ),
})
export const projectView = (project: Project) => ({ ...project, teams: (args: ListArgs) => page(project.teams, args) })

export function issueView(issue: Issue): object {
  return {
    ...issue,
    parent: () => issue.parent && issueView(issue.parent),
    project: () => issue.project && projectView(issue.project),
    projectMilestone: () => issue.projectMilestone && { ...issue.projectMilestone, project: projectView(issue.projectMilestone.project) },
    attachments: ({ filter, ...args }: ListArgs) => page(issue.attachments.filter((one) => fits(one, filter)).map(attachmentView), args),
    labels: (args: ListArgs) => page(issue.labels, args),
    comments: (args: ListArgs) => page(issue.comments, args),
    relations: (args: ListArgs) => page(issue.relations.filter((one) => one.issue === issue).map(relationView), args),
    inverseRelations: (args: ListArgs) => page(issue.relations.filter((one) => one.relatedIssue === issue).map(relationView), args),
  }
}

export const attachmentView = (attachment: Attachment) => ({ ...attachment, issue: () => issueView(attachment.issue) })
export const relationView = (relation: Relation) => ({
  ...relation,
  issue: () => issueView(relation.issue),
  relatedIssue: () => issueView(relation.relatedIssue),
})
export const documentView = (document: Document) => ({
  ...document,
  project: () => document.project && projectView(document.project),
  issue: () => document.issue && issueView(document.issue),
})
export const updateView = (update: ProjectUpdate) => ({ ...update, project: () => projectView(update.project) })
export const labelView = (world: World) => (label: Label) => ({
  ...label,
  issues: (args: ListArgs) => page(world.issues.filter(({ labels }) => labels.includes(label)).map(issueView) as { id: string }[], args),
})
export const milestoneView = (world: World) => (milestone: Milestone) => ({
  ...milestone,
  project: () => projectView(milestone.project),
  issues: (args: ListArgs) =>
    page(world.issues.filter(({ projectMilestone }) => projectMilestone === milestone).map(issueView) as { id: string }[], args),
})
