import { GraphQLError } from 'graphql'
import { fits } from './filter.ts'
import { recordsOf } from './records.ts'
import { issueView, isTrashed, type ListArgs, labelView, page, projectView, says, teamView } from './views.ts'
import { addIssue, type Comment, type Cycle, type Issue, type Project, type Team, type World } from './world.ts'

/** An error in Linear's words and with its extensions. */
export const refusal = (message: string, type: string, code: string) =>
  new GraphQLError(message, { extensions: { type, code, userError: true, userPresentableMessage: message } })

const notFound = (kind: string) => refusal(`Could not find referenced ${kind}.`, 'invalid input', 'INPUT_ERROR')

/** The world's lists and changes as the roots of Linear's schema. */
export function rootOf(world: World) {
  const list =
    <Node extends { id?: string }>(of: () => readonly Node[], view: (node: Node) => object = (node) => node) =>
    (args: ListArgs) => {
      const found = page(
        of().filter((node) => (args.includeArchived || !isTrashed(node)) && fits(node, args.filter)),
        args,
      )
      return { ...found, nodes: found.nodes.map(view) }
    }
  const byId = <Node extends { id: string }>(nodes: readonly Node[], id: unknown, kind: string): Node => {
    const found = nodes.find((node) => node.id === id)
    if (!found) throw notFound(kind)
    return found
  }
  const orNull = <Node extends { id: string }>(nodes: readonly Node[], id: unknown, kind: string): Node | null =>
    id === null || id === undefined ? null : byId(nodes, id, kind)

  const newest = () => world.issues.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt))
  const issues = list(newest, issueView)

  /** The values of an input that an issue has by the same or another name. */
  function issueValues(input: Record<string, unknown>, team: Team): Partial<Issue> {
    const { assigneeId, stateId, projectId, projectMilestoneId, cycleId, labelIds, ...plain } = input
    const own = <Node extends { team: Team | null }>(node: Node | null, kind: string): Node | null => {
      if (node && node.team !== null && node.team !== team) throw refusal(`${kind} is of another team.`, 'invalid input', 'INPUT_ERROR')
      return node
    }
    const { teamId: _team, id: _id, ...values } = plain
    const state = own(orNull(world.states, stateId, 'WorkflowState'), 'The state')
    return {
      ...(values as Partial<Issue>),
      ...('assigneeId' in input && { assignee: orNull(world.users, assigneeId, 'User') }),
      ...(state && { state }),
      ...('projectId' in input && { project: orNull(world.projects, projectId, 'Project') }),
      ...('projectMilestoneId' in input && { projectMilestone: orNull(world.milestones, projectMilestoneId, 'ProjectMilestone') }),
      ...('cycleId' in input && { cycle: own(orNull(world.cycles, cycleId, 'Cycle'), 'The cycle') }),
      ...(Array.isArray(labelIds) && { labels: labelIds.map((id) => byId(world.labels, id, 'IssueLabel')) }),
    }
  }
  const unused = (nodes: readonly { id: string }[], { id }: Record<string, unknown>) => {
    if (nodes.some((node) => node.id === id)) throw refusal('An entity with this id exists.', 'invalid input', 'INPUT_ERROR')
    return typeof id === 'string' ? { id } : {}
  }
  const changed = (issue: Issue, values: Partial<Issue>) => {
    Object.assign(issue, values, { updatedAt: world.tick() })
    return { success: true, lastSyncId: 1, issue: issueView(issue), entity: issueView(issue) }
  }
  const issueOf = (id: string) => byId(world.issues, id, 'Issue')

  return {
    ...recordsOf(world, { list, byId, orNull, unused }),
    viewer: () => world.users.find(({ isMe }) => isMe),
    teams: list(() => world.teams, teamView),
    users: list(() => world.users),
    workflowStates: list(() => world.states),
    issueLabels: list(() => world.labels, labelView(world)),
    cycles: list(() => world.cycles),
    projects: list(() => world.projects, projectView),
    comments: list(() => world.comments),
    issues,
    searchIssues: ({ term, ...args }: ListArgs & { term: string }) =>
      list(() => newest().filter(({ title, description }) => says(`${title} ${description}`, term)), issueView)(args),

    issueCreate({ input }: { input: Record<string, unknown> }) {
      const team = byId(world.teams, input.teamId, 'Team')
      const issue = addIssue(world, {
        ...issueValues(input, team),
        title: String(input.title),
        team,
        ...unused(world.issues, input),
      })
      return { success: true, lastSyncId: 1, issue: issueView(issue) }
    },
    issueUpdate: ({ id, input }: { id: string; input: Record<string, unknown> }) =>
      changed(issueOf(id), issueValues(input, issueOf(id).team)),
    issueDelete: ({ id }: { id: string }) => changed(issueOf(id), { trashed: true }),
    issueAddLabel({ id, labelId }: { id: string; labelId: string }) {
      const issue = issueOf(id)
      return changed(issue, { labels: [...new Set([...issue.labels, byId(world.labels, labelId, 'IssueLabel')])] })
    },
    issueRemoveLabel({ id, labelId }: { id: string; labelId: string }) {
      const issue = issueOf(id)
      return changed(issue, { labels: issue.labels.filter((label) => label.id !== labelId) })
    },
    commentCreate({ input }: { input: Record<string, unknown> }) {
      const issue = issueOf(String(input.issueId))
      const at = world.tick()
      const comment: Comment = {
        id: crypto.randomUUID(),
        ...unused(world.comments, input),
        body: String(input.body),
        url: `${issue.url}#comment-${world.comments.length + 1}`,
        createdAt: at,
        user: world.users.find(({ isMe }) => isMe) ?? null,
        issue,
      }
      world.comments.push(comment)
      issue.comments.push(comment)
      issue.updatedAt = at
      return { success: true, lastSyncId: 1, comment }
    },
    projectCreate({ input }: { input: Record<string, unknown> }) {
      const { teamIds, leadId, id: _, ...values } = input
      const project: Project = {
        id: crypto.randomUUID(),
        ...unused(world.projects, input),
        url: `${world.origin}/acme/project/${world.projects.length + 1}`,
        description: '',
        startDate: null,
        targetDate: null,
        ...(values as { name: string }),
        updatedAt: world.tick(),
        status: { id: crypto.randomUUID(), name: 'Backlog' },
        lead: orNull(world.users, leadId, 'User'),
        teams: (teamIds as string[]).map((one) => byId(world.teams, one, 'Team')),
      }
      world.projects.push(project)
      return { success: true, lastSyncId: 1, project: projectView(project) }
    },
    projectUpdate({ id, input }: { id: string; input: Record<string, unknown> }) {
      const { leadId, ...values } = input
      const project = byId(world.projects, id, 'Project')
      Object.assign(project, values, { updatedAt: world.tick() })
      if ('leadId' in input) project.lead = orNull(world.users, leadId, 'User')
      return { success: true, lastSyncId: 1, project: projectView(project) }
    },
    cycleCreate({ input }: { input: Record<string, unknown> }) {
      const { teamId, id: _, name = null, ...values } = input
      const team = byId(world.teams, teamId, 'Team')
      const cycle: Cycle = {
        id: crypto.randomUUID(),
        ...unused(world.cycles, input),
        ...(values as { startsAt: string; endsAt: string }),
        name: name === null ? null : String(name),
        number: world.cycles.length + 6,
        isActive: false,
        isNext: false,
        team,
      }
      world.cycles.push(cycle)
      return { success: true, lastSyncId: 1, cycle }
    },
  }
}
