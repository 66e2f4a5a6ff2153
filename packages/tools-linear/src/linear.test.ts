import type { JsonObject, JsonValue } from '@countersign/core'
import { expect, test } from 'vitest'
import type { Mishap, SentDocument } from '../../../examples/linear/stand-in/server.ts'
import { failure, issueOf, mutationsOf, verify } from './testing/calls.ts'
import { runEveryTool } from './testing/every-tool.ts'
import { API_KEY, type OpenWorkspace, openWorkspace } from './testing/open-workspace.ts'
import { idOf } from './write-tool.ts'

const LINKLESS = ['createCycle', 'removeAttachment', 'createLabel', 'updateLabel', 'deleteLabel', 'deleteMilestone', 'removeRelation']

test('every Linear tool does what it says: reads answer in words, each write is shown and sent once', async () => {
  await using workspace = await openWorkspace()
  const done = await runEveryTool(workspace)
  const writes = done.filter(({ fields }) => fields !== undefined)
  expect(new Set(done.map(({ name }) => name)).size).toBe(50)
  expect(mutationsOf(workspace)).toHaveLength(writes.length)
  const { world } = workspace.standIn
  expect(issueOf(workspace, 'ENG-1')).toMatchObject({ title: 'Renamed', description: 'Why', priority: 4, estimate: null, assignee: null })
  expect(issueOf(workspace, 'ENG-1').state.name).toBe('Done')
  expect(issueOf(workspace, 'ENG-2')).toMatchObject({ cycle: null, labels: [] })
  expect(issueOf(workspace, 'ENG-3').trashed).toBe(true)
  expect(world.issues.at(-1)).toMatchObject({ title: 'New', priority: 2, estimate: 3, dueDate: '2026-12-01', assignee: world.users[0] })
  expect(world.issues.at(-1)?.labels.map(({ name }) => name)).toEqual(['Bug', 'API'])
  expect(world.projects.at(-1)).toMatchObject({ name: 'Fast exports', lead: null, targetDate: '2027-02-28' })
  expect(world.cycles.at(-1)).toMatchObject({ name: 'New year' })
  // Cards show names. Ids would not tell people what is changed.
  expect(JSON.stringify(writes.map(({ fields }) => fields))).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/)
  const linked = writes.filter(({ url }) => url?.startsWith(world.origin))
  const unlinked = new Set(writes.filter((write) => !linked.includes(write)).map(({ name }) => name))
  // Labels and cycles have no page, and removed objects no longer have one.
  expect([...unlinked]).toEqual(LINKLESS)
  expect(JSON.stringify(done)).not.toContain(API_KEY)
})

test('a card is headed by the names that ids and words such as "me" and "next" mean', async () => {
  await using workspace = await openWorkspace()
  const { world } = workspace.standIn
  const id = issueOf(workspace, 'ENG-1').id
  const heading = async (name: string, args: JsonObject) => (await workspace.look(name, args)).headline
  expect(await heading('assignIssue', { issue: id, assignee: 'me' })).toBe('Assign ENG-1 to Ana Ruiz')
  expect(await heading('createIssue', { team: 'engineering', title: 'New', assignee: 'me' })).toBe(
    'Create the issue "New" in team ENG, assigned to Ana Ruiz',
  )
  expect(await heading('moveToCycle', { issue: 'ENG-2', cycle: 'next' })).toMatch(/^Move ENG-2 to cycle \d+$/)
  expect(await heading('changeStatus', { issue: id, status: 'done' })).toBe('Set ENG-1 to Done')
  expect(await heading('updateIssue', { issue: id, title: 'X', estimate: 1 })).toBe('Change title, estimate of ENG-1')
  expect(await heading('deleteIssue', { issue: id })).toBe('Delete ENG-1')
  expect(await heading('comment', { issue: id, body: 'Seen.' })).toBe('Comment on ENG-1')
  const project = world.projects.find(({ name }) => name === 'Sign-in')?.id ?? ''
  expect(await heading('updateProject', { project, name: 'Y' })).toBe('Change name of the project “Sign-in”')
  const done = await runEveryTool(workspace)
  const headings = done.filter(({ fields }) => fields !== undefined).map(({ headline }) => headline)
  expect(headings).not.toContain(undefined)
  expect(headings.join('\n')).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-|\bme\b|@/)
})

test('a card shows which issue it is and what becomes of it, from what is there now', async () => {
  await using workspace = await openWorkspace()
  const { fields } = await workspace.look('assignIssue', { issue: 'ENG-1', assignee: 'cleo' })
  const issue = 'ENG-1 Sign-in fails on Safari'
  expect(fields).toEqual([
    { field: 'issue', oldValue: issue, newValue: issue },
    { field: 'assignee', oldValue: 'Bo Chen <bo@example.com>', newValue: 'Cleo Marsh <cleo@example.com>' },
  ])
  const gone = await workspace.look('deleteIssue', { issue: 'ENG-1' })
  expect(gone.fields).toContainEqual({ field: 'status', oldValue: 'Todo' })
})

test('who is overloaded: points of the cycle first, everybody counted, compared with the average', async () => {
  await using workspace = await openWorkspace()
  expect(await workspace.run('workload', { team: 'ENG' })).toMatchObject({
    team: 'ENG',
    average: { openIssues: 2, points: 7, cycleIssues: 1.33, cyclePoints: 6 },
    members: [
      { member: 'Bo Chen <bo@example.com>', openIssues: 4, points: 18, cycleIssues: 3, cyclePoints: 16, urgent: 1, timesAverage: 2.67 },
      { member: 'Ana Ruiz <ana@example.com>', cyclePoints: 2, timesAverage: 0.33 },
      { member: 'Cleo Marsh <cleo@example.com>', openIssues: 1, cyclePoints: 0, timesAverage: 0 },
    ],
    unassigned: { openIssues: 1, withoutEstimate: 1 },
  })
})

test('the workload counts every page, and says so when it stops', async () => {
  await using workspace = await openWorkspace()
  const { world } = workspace.standIn
  const first = issueOf(workspace, 'ENG-7')
  for (let n = 0; n < 300; n++) world.issues.push({ ...first, id: `many-${n}`, identifier: `ENG-${n + 100}`, number: n + 100 })
  expect(await workspace.run('workload', { team: 'ENG' })).toMatchObject({ unassigned: { openIssues: 301 } })
  for (let n = 0; n < 2_000; n++) world.issues.push({ ...first, id: `more-${n}`, identifier: `ENG-${n + 1_000}`, number: n + 1_000 })
  expect(await workspace.run('workload', { team: 'ENG' })).toMatchObject({ note: 'Only 2000 open issues counted.' })
})

test('what was shown is what is sent: names that mean somebody else by then change nothing', async () => {
  await using workspace = await openWorkspace()
  const { world } = workspace.standIn
  const [, bo, cleo] = world.users
  const args = { issue: 'ENG-5', assignee: 'cleo@example.com' }
  const { precondition, version } = await workspace.look('assignIssue', args)
  if (bo && cleo) [bo.email, cleo.email] = [cleo.email, bo.email]
  expect((await workspace.look('assignIssue', args)).precondition).not.toEqual(precondition)
  await workspace.run('assignIssue', args, { version })
  expect(issueOf(workspace, 'ENG-5').assignee).toBe(cleo)
})

test.each<[string, JsonObject, (workspace: OpenWorkspace) => void]>([
  ['changeStatus', { issue: 'ENG-1', status: 'Done' }, (at) => Object.assign(issueOf(at, 'ENG-1'), { state: at.standIn.world.states[2] })],
  ['updateIssue', { issue: 'ENG-1', title: 'B' }, (at) => Object.assign(issueOf(at, 'ENG-1'), { title: 'Another' })],
  ['comment', { issue: 'ENG-1', body: 'Hm.' }, (at) => Object.assign(issueOf(at, 'ENG-1'), { title: 'Another' })],
  ['removeLabel', { issue: 'ENG-1', label: 'Bug' }, (at) => issueOf(at, 'ENG-1').labels.push(...at.standIn.world.labels.slice(1, 2))],
  ['deleteIssue', { issue: 'ENG-1' }, (at) => Object.assign(issueOf(at, 'ENG-1'), { description: 'Another' })],
  [
    'moveToCycle',
    { issue: 'ENG-4', cycle: 'current' },
    (at) =>
      Object.assign(
        at.standIn.world.cycles[1] ?? {},
        { isActive: false },
        Object.assign(at.standIn.world.cycles[2] ?? {}, { isActive: true }) && {},
      ),
  ],
  ['updateProject', { project: 'Sign-in', lead: 'bo' }, (at) => Object.assign(at.standIn.world.projects[0] ?? {}, { lead: null })],
])('%s rests on what was shown: a change in between is found', async (name, args, change) => {
  await using workspace = await openWorkspace()
  const before = await workspace.look(name, args)
  expect((await workspace.look(name, args)).precondition).toEqual(before.precondition)
  change(workspace)
  expect((await workspace.look(name, args)).precondition).not.toEqual(before.precondition)
})

test.each<[string, JsonObject]>([
  ['assignIssue', { issue: 'ENG-1', assignee: 'bo' }],
  ['changeStatus', { issue: 'ENG-1', status: 'todo' }],
  ['moveToCycle', { issue: 'ENG-1', cycle: 'current' }],
  ['updateIssue', { issue: 'ENG-1', title: 'Sign-in fails on Safari', priority: 'urgent' }],
])('nobody is asked about %s that would change nothing', async (name, args) => {
  await using workspace = await openWorkspace()
  const refused = { kind: 'refused', impossible: true, message: 'ENG-1 is like that already.' }
  expect(await failure(workspace.look(name, args))).toMatchObject(refused)
  expect((await workspace.look('updateIssue', { issue: 'ENG-1', title: 'Else', priority: 'urgent' })).precondition).toBeDefined()
})

test('what else happens to an issue does not make people decide again about its status', async () => {
  await using workspace = await openWorkspace()
  const args = { issue: 'ENG-1', status: 'Done' }
  const before = await workspace.look('changeStatus', args)
  await workspace.run('comment', { issue: 'ENG-1', body: 'Still so?' })
  expect((await workspace.look('changeStatus', args)).precondition).toEqual(before.precondition)
})

test('a name that several have is not guessed at, and one that nobody has is told with those there are', async () => {
  await using workspace = await openWorkspace()
  const { users, labels } = workspace.standIn.world
  users.push({
    id: '0b4c1c8e-0000-4000-8000-000000000001',
    name: 'Bo Chen',
    displayName: 'bo2',
    email: 'bo.chen@example.com',
    active: true,
    isMe: false,
  })
  const twice = await failure(workspace.look('assignIssue', { issue: 'ENG-1', assignee: 'bo chen' }))
  expect(twice).toMatchObject({ kind: 'refused', retryable: false })
  expect(twice.message).toMatch(/^"bo chen" may be several: Bo Chen <bo@example.com> \S+, Bo Chen <bo\.chen@example\.com> \S+\. Use the id/)
  labels.push({
    ...(labels[0] as (typeof labels)[0]),
    id: 'l-2',
    name: 'bug',
    isGroup: false,
    parent: null,
    team: workspace.standIn.world.teams[0] ?? null,
  })
  expect((await failure(workspace.look('addLabel', { issue: 'ENG-2', label: 'Bug' }))).message).toContain('may be several')
  const none = await failure(workspace.look('changeStatus', { issue: 'ENG-1', status: 'Shipped' }))
  expect(none.message).toBe('There is no status "Shipped" in team ENG. There are: Backlog, Todo, In Progress, Done, Canceled.')
  expect((await failure(workspace.look('addLabel', { issue: 'ENG-2', label: 'Area' }))).message).toContain('There is no label "Area"')
  expect(
    (await failure(workspace.look('getIssue', { issue: 'ENG-99' }).catch(() => workspace.run('getIssue', { issue: 'ENG-99' })))).message,
  ).toBe('There is no issue ENG-99.')
  expect(mutationsOf(workspace)).toEqual([])
})

test('with an allow-list of teams, what belongs to others is not there: not read, not listed, not changed', async () => {
  await using workspace = await openWorkspace({ teams: ['eng'] })
  const { world } = workspace.standIn
  const mine = issueOf(workspace, 'ENG-1')
  const theirs = issueOf(workspace, 'OPS-1')
  mine.relations.push({ id: 'r-1', createdAt: mine.createdAt, type: 'blocks', issue: mine, relatedIssue: theirs })
  const ops = world.teams[1]
  if (ops) world.projects.push({ ...(world.projects[0] as (typeof world.projects)[0]), id: 'p2', name: 'Shared', teams: [...world.teams] })
  const reads: [string, JsonObject][] = [
    ['searchIssues', { openOnly: false, limit: 100 }],
    ['myIssues', {}],
    ['getIssue', { issue: 'ENG-1' }],
    ['listTeams', {}],
    ['listLabels', {}],
    ['listProjects', {}],
    ['workload', {}],
  ]
  for (const [name, args] of reads)
    expect(JSON.stringify(await workspace.run(name, args)), name).not.toMatch(/OPS|On call|Shared|certificates/)
  const refused: [string, JsonObject][] = [
    ['getIssue', { issue: 'OPS-1' }],
    ['getIssue', { issue: theirs.id }],
    ['assignIssue', { issue: 'OPS-1', assignee: 'me' }],
    ['deleteIssue', { issue: theirs.id }],
    ['createIssue', { team: 'OPS', title: 'x' }],
    ['createProject', { name: 'x', teams: ['ENG', 'OPS'] }],
    ['updateProject', { project: 'Shared', name: 'Mine' }],
    ['createCycle', { team: ops?.id ?? '', startsAt: '2027-01-01T00:00:00Z', endsAt: '2027-01-15T00:00:00Z' }],
  ]
  for (const [name, args] of refused)
    expect((await failure(workspace.run(name, args))).message, name).toMatch(/^There is no (issue|team|project)/)
  expect(mutationsOf(workspace)).toEqual([])
})

const CREATES: [string, JsonObject][] = [
  ['createIssue', { team: 'ENG', title: 'Once' }],
  ['comment', { issue: 'ENG-1', body: 'Once.' }],
  ['createProject', { name: 'Once', teams: ['ENG'] }],
  ['createCycle', { team: 'ENG', startsAt: '2027-01-01T00:00:00Z', endsAt: '2027-01-15T00:00:00Z' }],
]

test.each(CREATES)(
  '%s whose answer was lost is found by its own id; one that never arrived is known not to be there',
  async (name, args) => {
    let fate: Mishap | undefined
    await using workspace = await openWorkspace({ mishap: ({ query }) => (query.startsWith('mutation') ? fate : undefined) })
    const { version } = await workspace.look(name, args)
    fate = 'torn'
    expect(await failure(workspace.run(name, args, { key: 'act_1.1', version }))).toMatchObject({ kind: 'ambiguous' })
    expect(await verify(workspace, name, args, 'act_1.1', version)).toEqual({ done: false })
    fate = 'lost'
    expect(await failure(workspace.run(name, args, { key: 'act_1.2', version }))).toMatchObject({ kind: 'ambiguous' })
    expect(await verify(workspace, name, args, 'act_1.2', version)).toMatchObject({ done: true, output: { id: idOf('act_1.2') } })
    // A second request with the same key has no second effect, because Linear already has that id.
    fate = undefined
    expect(await failure(workspace.run(name, args, { key: 'act_1.2', version }))).toMatchObject({ kind: 'refused' })
  },
)

test('hostile texts of a workspace stay data: in variables, in one line of an error, never a link elsewhere', async () => {
  const hostile = '"}) { issueDelete(id: "x") { success } } #\u202e\u200b\n<script>'
  await using workspace = await openWorkspace()
  const { world } = workspace.standIn
  const issue = issueOf(workspace, 'ENG-1')
  issue.title = hostile
  issue.url = 'https://linear.app.evil.example/ENG-1'
  for (const state of world.states) state.name = `${hostile}${state.name}`
  const { fields, version } = await workspace.look('assignIssue', { issue: 'ENG-1', assignee: 'ana' })
  expect(fields).toMatchObject([{ newValue: `ENG-1 ${hostile}` }, {}])
  const output = await workspace.run('assignIssue', { issue: 'ENG-1', assignee: 'ana' }, { version })
  expect(workspace.tool('assignIssue').resultUrl?.({}, output)).toBeUndefined()
  const said = (await failure(workspace.look('changeStatus', { issue: 'ENG-1', status: hostile }))).message
  expect(said).not.toMatch(/[\n\u202e\u200b]/)
  await workspace.run('createIssue', { team: 'ENG', title: hostile, description: hostile })
  expect(world.issues.at(-1)).toMatchObject({ title: hostile, description: hostile })
  expect(world.issues.every(({ trashed }) => trashed !== true)).toBe(true)
  const texts = new Set(workspace.standIn.sent.map(({ query }: SentDocument) => query))
  expect([...texts].filter((text) => text.includes('<script>') || text.includes('issueDelete(id: "x")'))).toEqual([])
})

test('the id of what an attempt creates is a UUID that belongs to the attempt', () => {
  const ids = Array.from({ length: 200 }, (_, n): JsonValue => idOf(`act_${n}.1`))
  expect(new Set(ids).size).toBe(200)
  expect(ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(String(id)))).toBe(true)
  expect(idOf('act_7.1')).toBe(ids[7])
})
