import type { Action } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import { disablePerson } from '../../packages/server/src/identity/people.ts'
import { openBeside } from '../../packages/server/src/store/index.ts'
import type { ApiClient } from '../testing/api-client.ts'
import type { BrainSpeech } from '../testing/brain-says.ts'
import { type BrainCall, type LiveBrain, startLiveBrain } from '../testing/live-brain.ts'
import { startTarget, type Target, toolsOf } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { startTestServer, type TestServer, temporaryFolder } from '../testing/test-server.ts'

// A person leaves while an agent works for them.

const call = (id: string, tool: string) => ({ id, tool, input: { what: id } })
type Person = ApiClient & { principal: { id: string } }

interface Desk extends AsyncDisposable {
  server: TestServer
  target: Target
  brain: LiveBrain
  lea: Person
  bob: Person
}

const POLICY: NonNullable<ConfigInput['policy']> = {
  rules: [
    { name: 'leads write', match: { tool: 'keyed', when: '"lead" in requester.roles' }, verdict: 'allow' },
    { name: 'no interns', match: { tool: 'unkeyed', when: '"intern" in requester.roles' }, verdict: 'deny' },
  ],
}

async function openDesk(speak: (call: BrainCall) => BrainSpeech | Promise<BrainSpeech>): Promise<Desk> {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const brain = stack.use(await startLiveBrain(speak))
  const server = stack.use(
    await startTestServer({
      config: {
        agents: { desk: { model: `remote/${brain.baseUrl}`, tools: ['*'], actionsPerStep: 'many' } },
        tools: toolsOf(target),
        policy: POLICY,
      },
    }),
  )
  const lea = await server.as({ name: 'Lea', kind: 'person', roles: ['approver', 'lead', 'intern'] })
  const bob = await server.as({ name: 'Bob', kind: 'person', roles: ['approver', 'lead'] })
  return { server, target, brain, lea, bob, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const disable = (server: TestServer, { principal }: Person) => server.admin.post(`/api/people/${principal.id}/disable`)
const write = (who: ApiClient, sessionId: string, content: string) => who.post(`/api/sessions/${sessionId}/messages`, { content })
const sessionOf = async (who: ApiClient): Promise<string> => (await who.post('/api/sessions', {})).id
const actionsIn = async ({ admin }: TestServer, sessionId: string): Promise<Action[]> =>
  (await admin.get(`/api/actions?session=${sessionId}`)).items
const saidIn = async ({ admin }: TestServer, sessionId: string): Promise<string[]> =>
  (await admin.get(`/api/sessions/${sessionId}/messages`)).items.map(({ content }: { content: string }) => content)

/** Resolves when the brain has been called this often. */
const asked = ({ brain }: Pick<Desk, 'brain'>, times: number) => expect.poll(() => brain.calls.length).toBe(times)
const STOPPED = /Lea was disabled, so their run was stopped/

test('the run of somebody who is disabled ends while the model speaks: the call is aborted, nothing is carried out, session and record say why', async () => {
  const hold = Promise.withResolvers<BrainSpeech>()
  await using desk = await openDesk(() => hold.promise)
  const { server, brain, lea } = desk
  const sessionId = await sessionOf(lea)
  await write(lea, sessionId, 'go')
  await asked(desk, 1)
  await disable(server, lea)
  await expect.poll(() => brain.calls[0]?.state).toBe('lost')
  hold.resolve({ calls: [call('a', 'keyed')] })
  await server.settle()
  expect(desk.target.writes).toEqual([])
  expect(await actionsIn(server, sessionId)).toEqual([])
  expect(await server.admin.get(`/api/sessions/${sessionId}`)).toMatchObject({ status: 'completed' })
  expect((await saidIn(server, sessionId))[0]).toMatch(STOPPED)
  const { items } = await server.admin.get('/api/audit?kind=run_stopped')
  expect(items).toMatchObject([{ data: { session: sessionId, run: expect.any(String), person: lea.principal.id } }])
  expect(items[0].actor.id).toBe('prn_local')
  // Enabling the person again does not resume the run.
  await server.admin.post(`/api/people/${lea.principal.id}/enable`)
  await server.restart()
  await server.settle()
  expect(brain.calls).toHaveLength(1)
})

test('what waits in a run of somebody who is disabled is cancelled; what their agent asked for outside of a session waits for others', async () => {
  await using desk = await openDesk(() => ({ calls: [call('a', 'unkeyed')] }))
  const { server, bob } = desk
  const una = await server.as({ name: 'Una', kind: 'person', roles: ['approver'] })
  const agent = await server.as({ name: 'hers', kind: 'agent', person: una.principal.id })
  const sessionId = await sessionOf(agent)
  await write(agent, sessionId, 'go')
  await server.settle()
  const [inSession] = await actionsIn(server, sessionId)
  expect(inSession?.state).toBe('proposed')
  const outside: Action = await agent.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'x' } })
  await write(agent, sessionId, 'and then this')
  await disable(server, una)
  await server.settle()
  expect((await actionsIn(server, sessionId)).map(({ state }) => state)).toEqual(['cancelled'])
  const late = await bob.send('POST', `/api/actions/${inSession?.id}/decision`, { body: { verdict: 'approve' } })
  expect(late.status).toBe(409)
  expect((await bob.post(`/api/actions/${outside.id}/decision`, { verdict: 'decline' })).state).toBe('declined')
  expect(desk.brain.calls).toHaveLength(1)
  expect(await server.admin.get(`/api/sessions/${sessionId}`)).toMatchObject({ status: 'completed' })
})

test('in a session of somebody else only what the disabled person wrote ends: the run that others began goes on, and is not told it', async () => {
  const hold = Promise.withResolvers<void>()
  await using desk = await openDesk(async ({ messages }) => {
    await hold.promise
    return { text: `heard ${messages.filter(({ role }) => role === 'user').map(({ content }) => content)}` }
  })
  const { server, brain, lea, bob } = desk
  const sessionId = await sessionOf(bob)
  await bob.post(`/api/sessions/${sessionId}/participants`, { person: lea.principal.id })
  await write(bob, sessionId, 'first')
  await asked(desk, 1)
  expect((await write(lea, sessionId, 'pay me')).queued).toBe(true)
  await write(bob, sessionId, 'second')
  await disable(server, lea)
  hold.resolve()
  await server.settle()
  expect(brain.calls.map(({ state }) => state)).toEqual(['answered', 'answered'])
  const said = await saidIn(server, sessionId)
  expect(said).toContain('heard first,second')
  expect(said).toContain('pay me')
  const { items } = await server.admin.get(`/api/sessions/${sessionId}/messages`)
  expect(items.filter(({ queued }: { queued?: boolean }) => queued)).toEqual([])
})

test('the stream of a message that waits ends when its session’s owner is disabled, and says that nobody acts on it', async () => {
  const hold = Promise.withResolvers<BrainSpeech>()
  await using desk = await openDesk(() => hold.promise)
  const { server, lea, bob } = desk
  const sessionId = await sessionOf(lea)
  await lea.post(`/api/sessions/${sessionId}/participants`, { person: bob.principal.id })
  await write(lea, sessionId, 'go')
  await asked(desk, 1)
  using chat = await bob.stream('/api/chat', { body: { sessionId, message: 'by chat' } })
  await chat.next('message', ({ message }) => message.queued === true)
  const others = [
    bob.send('POST', '/api/ai-sdk/chat', {
      body: { id: sessionId, messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'by AI SDK' }] }] },
    }),
    bob.send('POST', '/api/ag-ui/desk', {
      body: { threadId: sessionId, runId: 'run-1', messages: [{ id: 'm2', role: 'user', content: 'by AG-UI' }] },
    }),
  ]
  const waiting = async () =>
    (await server.admin.get(`/api/sessions/${sessionId}/messages`)).items.filter(({ queued }: { queued?: boolean }) => queued)
  await expect.poll(waiting).toHaveLength(3)
  await disable(server, lea)
  const dropped = 'This message is not acted on: its author or the owner of the session may not write in it any more.'
  const seen = await chat.ended()
  expect(seen.at(-1)).toMatchObject({ type: 'error', data: { code: 'forbidden', error: dropped } })
  const [aiSdk, agUi] = await Promise.all(others)
  expect(aiSdk?.text).toContain(JSON.stringify({ type: 'error', errorText: dropped }))
  expect(agUi?.text).toContain(JSON.stringify({ type: 'RUN_ERROR', message: dropped }))
  hold.resolve({ text: 'too late' })
})

test('what waits of somebody whose role was taken away is not acted on at its turn: a message, and a request, which is rejected', async () => {
  const hold = Promise.withResolvers<void>()
  await using desk = await openDesk(async ({ messages }) => {
    await hold.promise
    return { text: `heard ${messages.filter(({ role }) => role === 'user').map(({ content }) => content)}` }
  })
  const { server, brain, bob } = desk
  const mia = await server.as({ name: 'Mia', kind: 'person', roles: ['member'] })
  const sessionId = await sessionOf(bob)
  await bob.post(`/api/sessions/${sessionId}/participants`, { person: mia.principal.id })
  const { requestId } = await mia.post('/api/agent-requests', { sessionId, message: 'pay me later' })
  await write(bob, sessionId, 'first')
  await asked(desk, 1)
  expect((await write(mia, sessionId, 'pay me')).queued).toBe(true)
  await write(bob, sessionId, 'second')
  await server.admin.send('PATCH', `/api/people/${mia.principal.id}`, { body: { roles: ['viewer'] } })
  expect((await mia.send('POST', `/api/sessions/${sessionId}/messages`, { body: { content: 'more' } })).status).toBe(403)
  hold.resolve()
  await server.settle()
  const called = await bob.post(`/api/agent-requests/${requestId}/execute`, {})
  expect(called).toMatchObject({ status: 'rejected', message: expect.stringMatching(/^Mia has no role to ask for anything any more/) })
  await server.settle()
  expect(brain.calls).toHaveLength(2)
  const said = await saidIn(server, sessionId)
  expect(said).toContain('heard first,second')
  expect(said).toEqual(expect.arrayContaining(['pay me', 'pay me later']))
  const { items } = await server.admin.get(`/api/sessions/${sessionId}/messages`)
  expect(items.filter(({ queued }: { queued?: boolean }) => queued)).toEqual([])
})

test('a held request of somebody who is no longer invited is rejected when somebody calls it', async () => {
  await using desk = await openDesk(() => ({ text: 'Done.' }))
  const { server, brain, bob } = desk
  const mia = await server.as({ name: 'Mia', kind: 'person', roles: ['member'] })
  const sessionId = await sessionOf(bob)
  await bob.post(`/api/sessions/${sessionId}/participants`, { person: mia.principal.id })
  const { requestId } = await mia.post('/api/agent-requests', { sessionId, message: 'pay me' })
  const own = await bob.post('/api/agent-requests', { sessionId, message: 'go' })
  await bob.send('DELETE', `/api/sessions/${sessionId}/participants/${mia.principal.id}`)
  const execute = (id: string) => bob.post(`/api/agent-requests/${id}/execute`, {})
  const rejected = { status: 'rejected', message: expect.stringMatching(/^Mia is no longer invited to this session/) }
  expect(await execute(requestId)).toMatchObject(rejected)
  expect(await execute(requestId), 'called again').toMatchObject(rejected)
  expect(await bob.get(`/api/agent-requests/${requestId}`)).toMatchObject(rejected)
  expect(brain.calls).toEqual([])
  expect(await execute(own.requestId)).toMatchObject({ status: 'completed' })
  expect(brain.calls).toHaveLength(1)
})

test('nobody writes on in a session whose owner is disabled', async () => {
  await using desk = await openDesk(() => ({ text: 'Done.' }))
  const { server, lea, bob } = desk
  const sessionId = await sessionOf(lea)
  const { requestId } = await lea.post('/api/agent-requests', { sessionId, message: 'later' })
  await lea.post(`/api/sessions/${sessionId}/participants`, { person: bob.principal.id })
  await disable(server, lea)
  for (const [path, body] of [
    [`/api/sessions/${sessionId}/messages`, { content: 'go on' }],
    ['/api/agent-requests', { sessionId, message: 'go on' }],
    [`/api/agent-requests/${requestId}/execute`, {}],
  ] as const) {
    const refused = await bob.send('POST', path, { body })
    expect(refused, path).toMatchObject({ status: 403, body: { detail: expect.stringMatching(/Lea is disabled/) } })
  }
  await server.settle()
  expect(desk.brain.calls).toHaveLength(0)
})

test('somebody who is disabled is invited to no session: the refusal is that for a person who does not exist', async () => {
  await using desk = await openDesk(() => ({ text: 'Done.' }))
  const { server, lea, bob } = desk
  const sessionId = await sessionOf(bob)
  const invite = (person: string) => bob.send('POST', `/api/sessions/${sessionId}/participants`, { body: { person } })
  await disable(server, lea)
  for (const id of [lea.principal.id, 'prn_nobody']) {
    const refused = { code: 'invalid_arguments', detail: `there is no person ${id} to invite` }
    expect(await invite(id)).toMatchObject({ status: 422, body: refused })
  }
  expect((await bob.get(`/api/sessions/${sessionId}`)).participants).toEqual([])

  await server.admin.post(`/api/people/${lea.principal.id}/enable`)
  expect((await invite(lea.principal.id)).body.participants).toEqual([{ id: lea.principal.id, name: 'Lea' }])
})

test('where the process that disabled somebody died right after it, their run ends at its next step, and nothing of that step is stored', async () => {
  const hold = Promise.withResolvers<BrainSpeech>()
  await using desk = await openDesk(() => hold.promise)
  const { server, lea, bob } = desk
  const sessionId = await sessionOf(lea)
  await write(lea, sessionId, 'go')
  await asked(desk, 1)
  const store = await openBeside(server.database)
  const admin = { ...(await server.admin.get('/api/me')).principal, roles: ['admin'] }
  await store.transact((outbox) => disablePerson({ outbox, by: admin, nowMs: Date.now(), signedIn: 0 }, lea.principal.id))
  await store.close()
  hold.resolve({ calls: [call('a', 'keyed')] })
  await expect.poll(() => saidIn(server, sessionId)).toContainEqual(expect.stringMatching(STOPPED))
  await server.settle()
  expect(desk.target.writes).toEqual([])
  expect(await actionsIn(server, sessionId)).toEqual([])
  expect(bob.principal.id).not.toBe(lea.principal.id)
})

test('what somebody wrote before they were disabled allows nothing by their roles any more, and refuses as before', async () => {
  await using desk = await openDesk(({ messages, results }) =>
    messages.at(-1)?.role === 'user' ? { calls: [call(`a${results}`, 'keyed'), call(`b${results}`, 'unkeyed')] } : { text: 'Done.' },
  )
  const { server, lea, bob } = desk
  const sessionId = await sessionOf(bob)
  await bob.post(`/api/sessions/${sessionId}/participants`, { person: lea.principal.id })
  await write(lea, sessionId, 'go')
  await server.settle()
  const states = async () => Object.fromEntries((await actionsIn(server, sessionId)).map((action) => [action.arguments.what, action.state]))
  expect(await states()).toEqual({ a0: 'succeeded', b0: 'declined' })
  await disable(server, lea)
  await write(bob, sessionId, 'again')
  await server.settle()
  expect(await states()).toMatchObject({ a2: 'proposed', b2: 'declined' })
  expect(desk.target.writes).toHaveLength(1)
})

// SQLite allows one process at a time.
test.skipIf(inject('database') === 'sqlite')(
  'a run ends in the process that makes its model call when another process disables its owner',
  async () => {
    await using database = await openServerDatabase()
    using folder = temporaryFolder()
    const hold = Promise.withResolvers<BrainSpeech>()
    await using brain = await startLiveBrain(() => hold.promise)
    const options = {
      config: { agents: { desk: { model: `remote/${brain.baseUrl}` } } },
      place: { dataDir: folder.path, environment: database.environment },
    }
    await using here = await startTestServer(options)
    await using there = await startTestServer(options)
    const lea = await here.as({ name: 'Lea', kind: 'person', roles: ['approver'] })
    const sessionId = await sessionOf(lea)
    await write(lea, sessionId, 'go')
    await asked({ brain }, 1)
    await disable(there, lea)
    await expect.poll(() => brain.calls[0]?.state).toBe('lost')
    expect((await saidIn(here, sessionId))[0]).toMatch(STOPPED)
    hold.resolve({ text: 'too late' })
  },
)
