import type { JsonObject } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import type { LinearDocument } from '@linear/sdk'
import { z } from 'zod'
import type { LinearClient } from './client.ts'
import { cycleWords, findTeam, findUser, isOurProject, isOurs, issueFilter, labelFilter, teamFilter } from './find.ts'
import { Issue, Label, Limit, Project, Status, Team, User } from './inputs.ts'
import type { IssueNode, UserNode } from './nodes.ts'
import { CYCLES, ISSUES, LABELS, PROJECTS, SEARCH_ISSUES, STATES, TEAM_MEMBERS, TEAMS, USERS, WHOLE_ISSUE } from './queries.ts'
import { readTool, type Workspace } from './read-tool.ts'
import { issueView, projectView, userWords, wholeIssueView } from './views.ts'
import { refuse } from './words.ts'

/** Matches unfinished issues: all types except `completed`, `canceled` and `duplicate`. */
export const OPEN: LinearDocument.IssueFilter = { state: { type: { nin: ['completed', 'canceled', 'duplicate'] } } }

const quoted = (what: string, value: string | undefined) => (value === undefined ? '' : ` ${what} "${value}"`)

/** The read tools, except for the workload. */
export const readTools = (workspace: Workspace): ToolDraft[] => [
  searchIssues(workspace),
  myIssues(workspace),
  getIssue(workspace),
  listTeams(workspace),
  listMembers(workspace),
  listStatuses(workspace),
  listLabels(workspace),
  listProjects(workspace),
  listCycles(workspace),
]

const searchIssues = (workspace: Workspace): ToolDraft =>
  readTool(workspace, {
    name: 'searchIssues',
    description: 'Finds issues by words and by team, status, assignee, label, project or cycle; without words the ones changed last.',
    input: z.object({
      text: z.string().min(1).max(500).optional(),
      team: Team.optional(),
      status: Status.optional(),
      assignee: User.optional(),
      label: Label.optional(),
      project: Project.optional(),
      inCurrentCycle: z.boolean().optional(),
      openOnly: z.boolean().default(true),
      limit: Limit,
    }),
    describe: ({ text, team, assignee }) =>
      `Search issues${quoted('for', text)}${quoted('in team', team)}${quoted('assigned to', assignee)}`,
    async execute(linear, { text, team, status, assignee, label, project, inCurrentCycle, openOnly, limit }, signal) {
      const [inTeam, of] = await Promise.all([
        team === undefined ? undefined : findTeam(linear, team, signal),
        assignee === undefined ? undefined : findUser(linear, assignee, signal),
      ])
      const ours = teamFilter(linear, inTeam)
      const parts: LinearDocument.IssueFilter[] = [
        ...(ours ? [{ team: ours }] : []),
        ...(status === undefined ? [] : [{ state: { name: { eqIgnoreCase: status } } }]),
        ...(of ? [{ assignee: { id: { eq: of.id } } }] : []),
        ...(label === undefined ? [] : [{ labels: { some: { name: { eqIgnoreCase: label } } } }]),
        ...(project === undefined ? [] : [{ project: { name: { eqIgnoreCase: project } } }]),
        ...(inCurrentCycle ? [{ cycle: { isActive: { eq: true } } }] : []),
        ...(openOnly ? [OPEN] : []),
      ]
      return issuesOf(linear, { text, parts, limit }, signal)
    },
  })

const myIssues = (workspace: Workspace): ToolDraft =>
  readTool(workspace, {
    name: 'myIssues',
    description: 'The open issues of the person whose key it is.',
    input: z.object({ limit: Limit }),
    describe: () => 'List my open issues',
    execute: (linear, { limit }, signal) => {
      const ours = teamFilter(linear)
      const parts = [{ assignee: { isMe: { eq: true } } }, ...(ours ? [{ team: ours }] : []), OPEN]
      return issuesOf(linear, { parts, limit }, signal)
    },
  })

const getIssue = (workspace: Workspace): ToolDraft =>
  readTool(workspace, {
    name: 'getIssue',
    description: 'One issue with its description, labels, comments and relations.',
    input: z.object({ issue: Issue }),
    describe: ({ issue }) => `Read ${issue}`,
    async execute(linear, args, signal) {
      const { issues } = await linear.ask(WHOLE_ISSUE, { filter: issueFilter(linear, args.issue) as JsonObject }, signal)
      const [issue] = issues.nodes
      if (!issue || !isOurs(linear, issue.team)) throw refuse(`There is no issue ${args.issue}.`)
      return wholeIssueView(issue, (team) => isOurs(linear, team))
    },
  })

const listTeams = (workspace: Workspace): ToolDraft =>
  readTool(workspace, {
    name: 'listTeams',
    description: 'The teams with their keys.',
    input: z.object({}),
    describe: () => 'List the teams',
    async execute(linear, _, signal) {
      const filter = teamFilter(linear)
      const { teams } = await linear.ask(TEAMS, { first: 100, ...(filter && { filter: filter as JsonObject }) }, signal)
      return teams.nodes.filter((team) => isOurs(linear, team)).map(({ id, key, name }) => ({ id, key, name }))
    },
  })

const listMembers = (workspace: Workspace): ToolDraft =>
  readTool(workspace, {
    name: 'listMembers',
    description: 'The active people, of one team or of all.',
    input: z.object({ team: Team.optional() }),
    describe: ({ team }) => `List the members${quoted('of team', team)}`,
    async execute(linear, { team }, signal) {
      const members = await membersOf(linear, team, signal)
      return members.map(({ id, name, displayName, email }) => ({ id, name, displayName, email }))
    },
  })

const listStatuses = (workspace: Workspace): ToolDraft =>
  readTool(workspace, {
    name: 'listStatuses',
    description: 'The statuses that issues of a team go through.',
    input: z.object({ team: Team }),
    describe: ({ team }) => `List the statuses of team ${team}`,
    async execute(linear, { team }, signal) {
      const { id } = await findTeam(linear, team, signal)
      const { workflowStates } = await linear.ask(STATES, { filter: { team: { id: { eq: id } } } }, signal)
      return workflowStates.nodes.map(({ name, type }) => ({ name, type }))
    },
  })

const listLabels = (workspace: Workspace): ToolDraft =>
  readTool(workspace, {
    name: 'listLabels',
    description: "The labels of a team and of the workspace, or without a team the workspace's and those of all teams.",
    input: z.object({ team: Team.optional() }),
    describe: ({ team }) => `List the labels${quoted('of team', team)}`,
    async execute(linear, { team }, signal) {
      const filter = teamFilter(linear, team === undefined ? undefined : await findTeam(linear, team, signal))
      const { issueLabels } = await linear.ask(LABELS, filter ? { filter: labelFilter(filter) as JsonObject } : {}, signal)
      return issueLabels.nodes
        .filter((label) => !label.isGroup && (label.team === null || isOurs(linear, label.team)))
        .map(({ id, name, color, description, parent, team }) => ({
          id,
          name: parent ? `${parent.name}/${name}` : name,
          color,
          description,
          team: team?.key ?? null,
        }))
    },
  })

const listProjects = (workspace: Workspace): ToolDraft =>
  readTool(workspace, {
    name: 'listProjects',
    description: 'The projects, of one team or of all.',
    input: z.object({ team: Team.optional(), limit: Limit }),
    describe: ({ team }) => `List the projects${quoted('of team', team)}`,
    async execute(linear, { team, limit }, signal) {
      const some = teamFilter(linear, team === undefined ? undefined : await findTeam(linear, team, signal))
      const filter: LinearDocument.ProjectFilter | undefined = some && { accessibleTeams: { some } }
      const { projects } = await linear.ask(PROJECTS, { first: limit, ...(filter && { filter: filter as JsonObject }) }, signal)
      return projects.nodes.filter((project) => isOurProject(linear, project)).map(projectView)
    },
  })

const listCycles = (workspace: Workspace): ToolDraft =>
  readTool(workspace, {
    name: 'listCycles',
    description: 'The cycles of a team with their dates; one is current, one is next.',
    input: z.object({ team: Team }),
    describe: ({ team }) => `List the cycles of team ${team}`,
    async execute(linear, args, signal) {
      const team = await findTeam(linear, args.team, signal)
      const { cycles } = await linear.ask(CYCLES, { filter: { team: { id: { eq: team.id } } } }, signal)
      return cycles.nodes.map((cycle) => ({
        id: cycle.id,
        cycle: cycleWords(cycle),
        number: cycle.number,
        startsAt: cycle.startsAt,
        endsAt: cycle.endsAt,
        isCurrent: cycle.isActive,
        isNext: cycle.isNext,
      }))
    },
  })

async function issuesOf(
  linear: LinearClient,
  { text, parts, limit }: { text?: string | undefined; parts: readonly LinearDocument.IssueFilter[]; limit: number },
  signal: AbortSignal,
) {
  const variables = { first: limit, ...(parts.length > 0 && { filter: { and: parts } as unknown as JsonObject }) }
  const { nodes, pageInfo } =
    text === undefined
      ? (await linear.ask(ISSUES, variables, signal)).issues
      : (await linear.ask(SEARCH_ISSUES, { term: text, ...variables }, signal)).searchIssues
  const issues: IssueNode[] = nodes.filter(({ team }) => isOurs(linear, team))
  return { issues: issues.map(issueView), hasMore: pageInfo.hasNextPage }
}

/** Returns the active members of a team, of all allowed teams, or of the workspace, each once, sorted by name. */
export async function membersOf(linear: LinearClient, team: string | undefined, signal: AbortSignal): Promise<UserNode[]> {
  const filter = teamFilter(linear, team === undefined ? undefined : await findTeam(linear, team, signal))
  const found = filter
    ? (await linear.ask(TEAM_MEMBERS, { filter: filter as JsonObject }, signal)).teams.nodes
        .filter((one) => isOurs(linear, one))
        .flatMap(({ members }) => members.nodes)
    : (await linear.ask(USERS, { filter: { active: { eq: true } }, first: 250 }, signal)).users.nodes
  const members = new Map(found.map((user) => [user.id, user]))
  return [...members.values()].sort((a, b) => (userWords(a) ?? '').localeCompare(userWords(b) ?? '', 'en'))
}
