import type { LinearDocument } from '@linear/sdk'
import type { LinearClient } from './client.ts'
import type { CycleNode, LabelNode, ProjectNode, StateNode, TeamNode, UserNode } from './nodes.ts'
import { CYCLES, FIND_ISSUE, LABELS, PROJECTS, STATES, TEAMS, USERS, VIEWER } from './queries.ts'
import { choose, oneLine, refuse } from './words.ts'

// People write names, Linear needs ids. Names are resolved when the preview is read. The results are shown on the card, are part of what
// the decision is bound to, and are what is sent.

type Json = Parameters<LinearClient['ask']>[1]
/** Filters are checked against the library's types, then sent as JSON. */
const asJson = (filter: object): Json => filter as Json

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Returns the filter for the allowed teams; `only` is one of them. */
export function teamFilter({ teams }: Pick<LinearClient, 'teams'>, only?: TeamNode): LinearDocument.TeamFilter | undefined {
  if (only) return { id: { eq: only.id } }
  return teams && { key: { in: [...teams] } }
}

/** True for an allowed team. Callers report other teams with the same words as missing ones. */
export const isOurs = ({ teams }: Pick<LinearClient, 'teams'>, { key }: Pick<TeamNode, 'key'>): boolean =>
  teams === undefined || teams.includes(key.toUpperCase())

/** Returns the filter for one issue, by identifier (`ENG-12`) or id. */
export function issueFilter(linear: LinearClient, words: string): LinearDocument.IssueFilter {
  const [, key, number] = /^([A-Za-z][A-Za-z0-9]*)-(\d+)$/.exec(words) ?? []
  const ours = teamFilter(linear)
  const one: LinearDocument.IssueFilter =
    key === undefined ? { id: { eq: words } } : { team: { key: { eq: key.toUpperCase() } }, number: { eq: Number(number) } }
  return ours ? { and: [one, { team: ours }] } : one
}

/** @throws ToolError `refused` for an issue that does not exist or belongs to a team that is not allowed. */
export async function findIssue(linear: LinearClient, words: string, signal: AbortSignal) {
  const { issues } = await linear.ask(FIND_ISSUE, { filter: asJson(issueFilter(linear, words)) }, signal)
  const [issue] = issues.nodes
  // The filter already limits the teams. The check does not rely on the service to apply it.
  if (!issue || !isOurs(linear, issue.team)) throw refuse(`There is no issue ${oneLine(words)}.`)
  return issue
}

/** @throws ToolError `refused` */
export async function findTeam(linear: LinearClient, words: string, signal: AbortSignal): Promise<TeamNode> {
  const filter = teamFilter(linear)
  const { teams } = await linear.ask(TEAMS, { first: 100, ...(filter && { filter: asJson(filter) }) }, signal)
  const ours = teams.nodes.filter((team) => isOurs(linear, team))
  return choose(
    { kind: 'team', words },
    ours,
    ({ key, name }) => [key, name],
    ({ key, name }) => `${key} (${name})`,
  )
}

/** Finds an active user by name, display name, e-mail address or id; `me` is the key's user. @throws ToolError `refused` */
export async function findUser(linear: LinearClient, words: string, signal: AbortSignal): Promise<UserNode> {
  if (words.toLowerCase() === 'me') return (await linear.ask(VIEWER, {}, signal)).viewer
  const same = { eqIgnoreCase: words }
  const named: LinearDocument.UserFilter = UUID.test(words)
    ? { id: { eq: words } }
    : { or: [{ name: same }, { displayName: same }, { email: same }] }
  const filter: LinearDocument.UserFilter = { and: [{ active: { eq: true } }, named] }
  const { users } = await linear.ask(USERS, { filter: asJson(filter), first: 20 }, signal)
  return choose(
    { kind: 'active member', words },
    users.nodes,
    ({ name, displayName, email }) => [name, displayName, email],
    ({ name, email, id }) => `${name} <${email}> ${id}`,
  )
}

/** @throws ToolError `refused` */
export async function findState(linear: LinearClient, team: TeamNode, words: string, signal: AbortSignal): Promise<StateNode> {
  const filter: LinearDocument.WorkflowStateFilter = { team: { id: { eq: team.id } } }
  const { workflowStates } = await linear.ask(STATES, { filter: asJson(filter) }, signal)
  return choose(
    { kind: 'status', words, where: ` in team ${team.key}` },
    workflowStates.nodes,
    ({ name }) => [name],
    ({ name }) => name,
  )
}

/** Returns the filter for the labels that an issue of the team can have: the team's and the workspace's. */
export const labelFilter = (team: LinearDocument.NullableTeamFilter): LinearDocument.IssueLabelFilter => ({
  or: [{ team: { null: true } }, { team }],
})

/** @throws ToolError `refused`, also for a group, which cannot be put on an issue. */
export async function findLabel(linear: LinearClient, team: TeamNode, words: string, signal: AbortSignal): Promise<LabelNode> {
  const { issueLabels } = await linear.ask(LABELS, { filter: asJson(labelFilter({ id: { eq: team.id } })) }, signal)
  return choose(
    { kind: 'label', words, where: ` in team ${team.key}` },
    issueLabels.nodes.filter(({ isGroup }) => !isGroup),
    ({ name, parent }) => [name, parent && `${parent.name}/${name}`],
    ({ name, parent }) => (parent ? `${parent.name}/${name}` : name),
  )
}

/** @throws ToolError `refused` */
export async function findProject(linear: LinearClient, words: string, signal: AbortSignal): Promise<ProjectNode> {
  const named: LinearDocument.ProjectFilter = UUID.test(words) ? { id: { eq: words } } : { name: { eqIgnoreCase: words } }
  const { projects } = await linear.ask(PROJECTS, { filter: asJson(named), first: 20 }, signal)
  return choose(
    { kind: 'project', words },
    projects.nodes.filter((project) => isOurProject(linear, project)),
    ({ name }) => [name],
    ({ name, id }) => `${name} ${id}`,
  )
}

/** True for a project of allowed teams only. A project shared with other teams belongs to them too. */
export const isOurProject = (linear: LinearClient, { teams }: Pick<ProjectNode, 'teams'>): boolean =>
  linear.teams === undefined || (teams.nodes.length > 0 && teams.nodes.every((team) => isOurs(linear, team)))

/** Finds a cycle by `current`, `next`, a number, a name or an id. @throws ToolError `refused` */
export async function findCycle(linear: LinearClient, team: TeamNode, words: string, signal: AbortSignal): Promise<CycleNode> {
  const filter: LinearDocument.CycleFilter = { team: { id: { eq: team.id } } }
  const { cycles } = await linear.ask(CYCLES, { filter: asJson(filter) }, signal)
  return choose(
    { kind: 'cycle', words, where: ` in team ${team.key}` },
    cycles.nodes,
    ({ name, number, isActive, isNext }) => [name, String(number), isActive ? 'current' : null, isNext ? 'next' : null],
    cycleWords,
  )
}

/** Returns `Cycle 7`, with its name if it has one. */
export const cycleWords = ({ number, name }: { number: number; name: string | null }): string =>
  name === null || name === '' ? `Cycle ${number}` : `Cycle ${number} (${name})`
