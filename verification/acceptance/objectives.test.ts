import { fileURLToPath } from 'node:url'
import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { loadConfig } from '../../packages/server/src/config/index.ts'
import { objectivesStarter } from '../../packages/tools-objectives/src/starter.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/objectives/countersign.config.ts', import.meta.url))

const startDesk = (): Promise<TestServer> =>
  startTestServer({ config: { tools: { goals: { objectives: {} } }, policy: { rules: objectivesStarter('goals') } } })

const propose = (server: TestServer, tool: string, args: object): Promise<Action> =>
  server.admin.post('/api/actions', { tool: `goals.${tool}`, arguments: args })

async function approve(server: TestServer, { id, revision, digest }: Action): Promise<Action> {
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
  await server.settle()
  return server.admin.get(`/api/actions/${id}`)
}

/** Proposes and approves an action, and returns it once it is settled. */
const runAttempt = async (server: TestServer, tool: string, args: object): Promise<Action> =>
  approve(server, await propose(server, tool, args))

const objectiveOf = ({ result }: Action) => (result as { objective: { id: string; keyResults: { id: string }[] } }).objective

test('the example: an objective is set and measured through the gate, stands on the page, and its history names who and through what', async () => {
  await using server = await startTestServer({ config: await loadConfig(EXAMPLE, {}) })
  const say = async (message: string, sessionId?: string) => {
    using stream = await server.admin.stream('/api/chat', { body: { message, ...(sessionId && { sessionId }) } })
    const session = await stream.next('session')
    const { proposal } = await stream.next('action_proposed', (data) => data.proposal.effect === 'write')
    expect(proposal.state).toBe('proposed')
    const { id, revision, digest } = proposal
    await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
    await stream.next('done')
    return { sessionId: session.sessionId, action: (await server.admin.get(`/api/actions/${id}`)) as Action }
  }
  const { sessionId, action: set } = await say('Set an objective for support')
  expect(set).toMatchObject({
    tool: 'goals.createObjective',
    description: 'Create the objective "Answer customers faster" of Support for 2026-Q4',
    risk: { level: 'medium' },
    state: 'succeeded',
  })
  expect(set.preview).toContainEqual({ field: 'key result', newValue: 'Median wait for an answer: 14 → 5 hours' })
  const { id } = objectiveOf(set)
  expect(set.resultUrl).toBe(`/objectives/${id}`)
  const { action: measured } = await say('Median wait is 9.5 now', sessionId)
  expect(measured.preview).toContainEqual({ field: 'current', oldValue: 14, newValue: 9.5 })

  const [objective] = (await server.admin.get('/api/objectives?state=open')).items
  // 4.5 of 9 hours is 50 %; the other key result stands at 0 %.
  expect(objective).toMatchObject({
    id,
    owner: 'Support',
    progress: 25,
    keyResults: [{ progress: 50, direction: 'down' }, { progress: 0 }],
  })
  expect(await server.admin.get(`/api/objectives/${id}`)).toEqual(objective)
  const { items } = await server.admin.get(`/api/objectives/${id}/history`)
  expect(items).toMatchObject([
    {
      kind: 'progress_recorded',
      before: { current: 14 },
      after: { current: 9.5 },
      note: 'Median wait is 9.5 now',
      by: measured.requestedBy,
      actionId: measured.id,
    },
    { kind: 'created', before: null, after: { title: 'Answer customers faster' }, actionId: set.id },
  ])
  expect(await server.admin.get('/api/me')).toMatchObject({ objectives: true })
})

test('the card of a new objective shows every value of its key results, also what is measured and where it is now', async () => {
  await using server = await startDesk()
  const { preview } = await propose(server, 'createObjective', {
    ...{ title: 'Grow', owner: 'Ana', period: '2026' },
    keyResults: [
      { title: 'Users', metric: 'active in a week', unit: 'people', start: 10, target: 90, current: 40 },
      { title: 'Churn', start: 7, target: 3, current: 7 },
      { title: 'Rating', metric: 'stars', start: 1, target: 5, current: 0 },
    ],
  })
  expect(preview).toEqual([
    { field: 'title', newValue: 'Grow' },
    { field: 'owner', newValue: 'Ana' },
    { field: 'period', newValue: '2026' },
    { field: 'key result', newValue: 'Users: 10 → 90 people' },
    { field: 'metric', newValue: 'active in a week' },
    { field: 'current', newValue: 40 },
    { field: 'key result', newValue: 'Churn: 7 → 3' },
    { field: 'key result', newValue: 'Rating: 1 → 5' },
    { field: 'metric', newValue: 'stars' },
    { field: 'current', newValue: 0 },
  ])
})

test('every change of an objective and its key results waits, happens once, and is kept in its history', async () => {
  await using server = await startDesk()
  const created = await runAttempt(server, 'createObjective', { title: 'Grow', owner: 'Ana', period: '2026-H2', description: 'Why' })
  const { id } = objectiveOf(created)
  expect(await server.admin.get(`/api/objectives/${id}`)).toMatchObject({ progress: null, standing: 'unmeasured', keyResults: [] })
  const added = await runAttempt(server, 'addKeyResult', { objective: id, title: 'Users', unit: 'people', start: 0.1, target: 0.3 })
  const [{ id: keyResult } = { id: '' }] = objectiveOf(added).keyResults
  expect((await runAttempt(server, 'recordProgress', { keyResult, current: 0.2, note: 'half' })).state).toBe('succeeded')
  // 0.1 of 0.2; binary floating point would give 50.00000000000001 or 49.9.
  expect((await server.admin.get(`/api/objectives/${id}`)).progress).toBe(50)
  await runAttempt(server, 'updateKeyResult', { keyResult, target: 0.5, title: 'All users' })
  await runAttempt(server, 'updateObjective', { objective: id, owner: 'Bo' })
  const closed = await runAttempt(server, 'closeObjective', { objective: id, outcome: 'missed' })
  expect(closed).toMatchObject({ state: 'succeeded', preview: [{}, { field: 'state', oldValue: 'open', newValue: 'missed' }, {}] })
  await expect(propose(server, 'recordProgress', { keyResult, current: 1 })).rejects.toThrow(
    'The objective is closed (missed). Reopen it first.',
  )
  await runAttempt(server, 'reopenObjective', { objective: id })
  const removed = await runAttempt(server, 'removeKeyResult', { keyResult })
  expect(removed).toMatchObject({ state: 'succeeded', risk: { level: 'high' } })
  expect(await server.admin.get(`/api/objectives/${id}`)).toMatchObject({ owner: 'Bo', state: 'open', keyResults: [], progress: null })

  const { items } = await server.admin.get(`/api/objectives/${id}/history`)
  expect(items.map(({ kind }: { kind: string }) => kind).toReversed()).toEqual([
    'created',
    'key_result_added',
    'progress_recorded',
    'key_result_updated',
    'updated',
    'closed',
    'reopened',
    'key_result_removed',
  ])
  const history = await propose(server, 'keyResultHistory', { keyResult })
  await server.settle()
  expect((await server.admin.get(`/api/actions/${history.id}`)).result).toMatchObject([
    { kind: 'key_result_removed', before: { title: 'All users', current: 0.2 } },
    { kind: 'key_result_updated', before: { target: 0.3, title: 'Users' }, after: { target: 0.5, title: 'All users' } },
    { kind: 'progress_recorded', note: 'half' },
    { kind: 'key_result_added' },
  ])
  const summary = await propose(server, 'objectivesSummary', {})
  await server.settle()
  expect((await server.admin.get(`/api/actions/${summary.id}`)).result).toMatchObject({ open: 1, standings: { unmeasured: 1 } })
})

test('a value that changed while a card waited is asked again; two changes side by side both count', async () => {
  await using server = await startDesk()
  const measures = [
    { title: 'A', start: 0, target: 10 },
    { title: 'B', start: 0, target: 10 },
  ]
  const created = await runAttempt(server, 'createObjective', { title: 'Grow', owner: 'Ana', period: '2026', keyResults: measures })
  const [a, b] = objectiveOf(created).keyResults
  const first = await propose(server, 'recordProgress', { keyResult: a?.id, current: 3 })
  const second = await propose(server, 'recordProgress', { keyResult: a?.id, current: 4 })
  const other = await propose(server, 'recordProgress', { keyResult: b?.id, current: 5 })
  expect((await approve(server, first)).state).toBe('succeeded')
  expect(await approve(server, second)).toMatchObject({
    state: 'proposed',
    revision: 2,
    revised: { reason: expect.stringContaining('current was 0 and is 3 now') },
  })
  expect((await approve(server, other)).state).toBe('succeeded')
  expect((await approve(server, await server.admin.get(`/api/actions/${second.id}`))).state).toBe('succeeded')
  const { keyResults } = (await server.admin.get('/api/objectives')).items[0]
  expect(keyResults.map(({ current }: { current: number }) => current)).toEqual([4, 5])
  // Invalid values are refused before the action goes to approval.
  await expect(propose(server, 'updateKeyResult', { keyResult: a?.id, target: 0 })).rejects.toThrow('cannot have its start as its target')
  const tooFine = await server.admin.send('POST', '/api/actions', {
    body: { tool: 'goals.recordProgress', arguments: { keyResult: a?.id, current: 1.23456789 } },
  })
  expect(tooFine).toMatchObject({ status: 422, body: { code: 'invalid_arguments' } })
})

test('people with a role look at objectives, whoever else does not; an action that one may not see is not named', async () => {
  await using server = await startDesk()
  const nasty = 'x\u0000\u202e"><script>\n'
  const created = await runAttempt(server, 'createObjective', { title: nasty, owner: nasty, period: '2026', description: nasty })
  const { id } = objectiveOf(created)
  const finance = await server.as({ name: 'Fin', kind: 'person', roles: ['finance'] })
  const agent = await server.as({ name: 'bot', kind: 'agent' })
  expect((await finance.get(`/api/objectives/${id}`)).description).toBe(nasty)
  expect((await finance.get(`/api/objectives/${id}/history`)).items).toMatchObject([{ kind: 'created', actionId: null }])
  for (const path of ['/api/objectives', `/api/objectives/${id}`, `/api/objectives/${id}/history`]) {
    expect((await agent.send('GET', path)).status).toBe(403)
  }
  for (const path of ['/api/objectives/obj_none', '/api/objectives/obj_none/history']) {
    expect(await finance.send('GET', path)).toMatchObject({ status: 404, body: { code: 'not_found' } })
  }
  for (const n of [1, 2]) await runAttempt(server, 'createObjective', { title: `More ${n}`, owner: 'Bo', period: '2026-Q1' })
  const page = await finance.get('/api/objectives?limit=2')
  expect(page.items.map(({ title }: { title: string }) => title)).toEqual(['More 2', 'More 1'])
  expect((await finance.get(`/api/objectives?limit=2&cursor=${page.nextCursor}`)).items).toHaveLength(1)
  expect((await finance.get('/api/objectives?owner=Bo&period=2026-Q1')).items).toHaveLength(2)
  expect((await finance.get('/api/objectives?state=missed')).items).toEqual([])
})
