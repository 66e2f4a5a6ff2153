import { randomUUID } from 'node:crypto'

// The things of a small Linear workspace, as they hang together. Names as in Linear's schema.

export interface Team {
  id: string
  key: string
  name: string
  members: User[]
  nextNumber: number
}
export interface User {
  id: string
  name: string
  displayName: string
  email: string
  active: boolean
  isMe: boolean
}
export interface State {
  id: string
  name: string
  type: string
  team: Team
}
export interface Label {
  id: string
  name: string
  color: string
  description: string | null
  updatedAt: string
  isGroup: boolean
  parent: Label | null
  team: Team | null
}
export interface Cycle {
  id: string
  number: number
  name: string | null
  isActive: boolean
  isNext: boolean
  startsAt: string
  endsAt: string
  team: Team
}
export interface Project {
  id: string
  name: string
  url: string
  description: string
  startDate: string | null
  targetDate: string | null
  updatedAt: string
  status: { id: string; name: string }
  lead: User | null
  teams: Team[]
}
export interface Comment {
  id: string
  body: string
  url: string
  createdAt: string
  user: User | null
  issue: Issue
}
export interface Document {
  id: string
  slugId: string
  title: string
  content: string | null
  url: string
  trashed: boolean | null
  createdAt: string
  updatedAt: string
  creator: User | null
  project: Project | null
  issue: Issue | null
}
export interface Attachment {
  id: string
  title: string
  subtitle: string | null
  url: string
  sourceType: string | null
  createdAt: string
  updatedAt: string
  creator: User | null
  issue: Issue
}
export interface Milestone {
  id: string
  name: string
  description: string | null
  targetDate: string | null
  updatedAt: string
  project: Project
}
export interface ProjectUpdate {
  id: string
  body: string
  health: string
  url: string
  createdAt: string
  updatedAt: string
  user: User
  project: Project
}
/** Both its issues have it. */
export interface Relation {
  id: string
  type: string
  createdAt: string
  issue: Issue
  relatedIssue: Issue
}
export interface Issue {
  id: string
  identifier: string
  number: number
  title: string
  description: string | null
  url: string
  priority: number
  estimate: number | null
  dueDate: string | null
  trashed: boolean | null
  createdAt: string
  updatedAt: string
  team: Team
  state: State
  assignee: User | null
  project: Project | null
  projectMilestone: Milestone | null
  cycle: Cycle | null
  parent: Issue | null
  labels: Label[]
  comments: Comment[]
  attachments: Attachment[]
  relations: Relation[]
}

export interface World {
  /** Where its links lead. */
  origin: string
  teams: Team[]
  users: User[]
  states: State[]
  labels: Label[]
  cycles: Cycle[]
  projects: Project[]
  issues: Issue[]
  comments: Comment[]
  documents: Document[]
  milestones: Milestone[]
  updates: ProjectUpdate[]
  /** The time of the next change: each is a second after the one before. */
  tick(): string
}

const DAY_MS = 86_400_000

/** A team of three with one who has too much to do, and a second team. @param nowMs When it is: cycles are around it. */
export function createWorld(origin: string, nowMs: number): World {
  let atMs = nowMs
  const tick = () => {
    atMs += 1_000
    return new Date(atMs).toISOString()
  }
  const user = (name: string, isMe = false): User => {
    const displayName = name.split(' ')[0]?.toLowerCase() ?? name
    return { id: randomUUID(), name, displayName, email: `${displayName}@example.com`, active: true, isMe }
  }
  const [ana, bo, cleo] = [user('Ana Ruiz', true), user('Bo Chen'), user('Cleo Marsh')]
  const team = (key: string, name: string, members: User[]): Team => ({ id: randomUUID(), key, name, members, nextNumber: 1 })
  const eng = team('ENG', 'Engineering', [ana, bo, cleo])
  const ops = team('OPS', 'Operations', [cleo])
  const states = [eng, ops].flatMap((of) =>
    [
      ['Backlog', 'backlog'],
      ['Todo', 'unstarted'],
      ['In Progress', 'started'],
      ['Done', 'completed'],
      ['Canceled', 'canceled'],
    ].map(([name = '', type = '']): State => ({ id: randomUUID(), name, type, team: of })),
  )
  const label = (name: string, of: Team | null, parent: Label | null = null, isGroup = false): Label => ({
    id: randomUUID(),
    name,
    color: '#5e6ad2',
    description: null,
    updatedAt: tick(),
    isGroup,
    parent,
    team: of,
  })
  const area = label('Area', null, null, true)
  const cycle = (number: number, from: number): Cycle => ({
    id: randomUUID(),
    number,
    name: null,
    isActive: from === -7,
    isNext: from === 7,
    startsAt: new Date(nowMs + from * DAY_MS).toISOString(),
    endsAt: new Date(nowMs + (from + 14) * DAY_MS).toISOString(),
    team: eng,
  })
  const world: World = {
    origin,
    tick,
    teams: [eng, ops],
    users: [ana, bo, cleo],
    states,
    labels: [label('Bug', null), label('Feature', null), area, label('API', null, area), label('On call', ops)],
    cycles: [cycle(6, -21), cycle(7, -7), cycle(8, 7)],
    projects: [],
    issues: [],
    comments: [],
    documents: [],
    milestones: [],
    updates: [],
  }
  world.projects.push({
    id: randomUUID(),
    name: 'Sign-in',
    url: `${origin}/acme/project/sign-in`,
    description: 'People sign in with what they have.',
    startDate: null,
    targetDate: null,
    updatedAt: tick(),
    status: { id: randomUUID(), name: 'In Progress' },
    lead: ana,
    teams: [eng],
  })
  const now = world.cycles[1] ?? null
  const add = (title: string, given: Partial<Issue> = {}) => addIssue(world, { team: eng, title, ...given })
  add('Sign-in fails on Safari', { assignee: bo, estimate: 5, cycle: now, priority: 1, labels: world.labels.slice(0, 1) })
  add('Sessions end too early', { assignee: bo, estimate: 3, cycle: now, priority: 2 })
  add('Export takes minutes', { assignee: bo, estimate: 8, cycle: now })
  add('Search forgets its filters', { assignee: bo, estimate: 2 })
  add('Dark colours for charts', { assignee: ana, estimate: 2, cycle: now })
  add('Tidy the settings page', { assignee: cleo, estimate: 1 })
  add('Write down how releases work')
  add('Rotate the certificates', { team: ops, assignee: cleo, estimate: 2 })
  return world
}

/** Puts an issue in, with the defaults of its team. */
export function addIssue(world: World, given: Partial<Issue> & { team: Team; title: string }): Issue {
  const { team } = given
  const number = team.nextNumber++
  const identifier = `${team.key}-${number}`
  const state = world.states.find((one) => one.team === team && one.type === 'unstarted')
  if (!state) throw new Error(`team ${team.key} has no status for what is not started`)
  const at = world.tick()
  const issue: Issue = {
    id: randomUUID(),
    description: null,
    priority: 0,
    estimate: null,
    dueDate: null,
    trashed: null,
    assignee: null,
    project: null,
    projectMilestone: null,
    cycle: null,
    parent: null,
    labels: [],
    comments: [],
    attachments: [],
    relations: [],
    state,
    ...given,
    number,
    identifier,
    url: `${world.origin}/acme/issue/${identifier}`,
    createdAt: at,
    updatedAt: at,
  }
  world.issues.push(issue)
  return issue
}
