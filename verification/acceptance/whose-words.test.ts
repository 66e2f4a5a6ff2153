import { type Action, type CreateKeyBody, EventData } from '@countersign/core'
import { expect, test } from 'vitest'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import { openBeside } from '../../packages/server/src/store/index.ts'
import { ask } from '../../packages/server/src/store/query.ts'
import type { ApiClient } from '../testing/api-client.ts'
import { shiftedClock } from '../testing/shifted-clock.ts'
import { startTarget, type Target, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

// A person acts as another: they write in that person's session, and the agent acts with its owner's permissions.

interface Desk extends AsyncDisposable {
  server: TestServer
  target: Target
  /** May run refunds without approval. */
  ana: ApiClient & { principal: { id: string } }
  /** Sees actions that wait for an approver; their refunds need approval. */
  bo: ApiClient & { principal: { id: string } }
  /** Sends a command word one second after the person has read the session. */
  type(who: ApiClient, sessionId: string, word: string): ReturnType<ApiClient['send']>
  /** Returns a session's actions, oldest first. */
  actionsOf(sessionId: string): Promise<Action[]>
}

const POLICY: NonNullable<ConfigInput['policy']> = {
  rules: [
    { name: 'leads refund', match: { tool: 'keyed', when: '"lead" in requester.roles' }, verdict: 'allow' },
    { name: 'interns never', match: { tool: 'keyed', when: '"intern" in requester.roles' }, verdict: 'deny' },
  ],
}

const ANA: CreateKeyBody = { name: 'Ana', kind: 'person', roles: ['approver', 'lead'] }
const BO: CreateKeyBody = { name: 'Bo', kind: 'person', roles: ['approver'] }

async function openDesk(tools: readonly string[], policy = POLICY): Promise<Desk> {
  const stack = new AsyncDisposableStack()
  const clock = shiftedClock()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const server = stack.use(
    await startTestServer({
      clock,
      config: { agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, tools: toolsOf(target), policy },
      scripts: { desk: tools.flatMap((tool, at) => [{ calls: [{ tool, arguments: { what: `${at}` } }] }, { text: 'Done.' }]) },
    }),
  )
  const [ana, bo] = [await server.as(ANA), await server.as(BO)]
  return {
    server,
    target,
    ana,
    bo,
    async type(who, sessionId, word) {
      await who.get(`/api/sessions/${sessionId}`)
      clock.pass(1_000)
      return write(who, sessionId, word)
    },
    async actionsOf(sessionId) {
      await server.settle()
      const { items } = await server.admin.get(`/api/actions?session=${sessionId}`)
      return items.reverse()
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const write = (who: ApiClient, sessionId: string, content: string) =>
  who.send('POST', `/api/sessions/${sessionId}/messages`, { body: { content } })
const invite = (who: ApiClient, sessionId: string, person: string) =>
  who.send('POST', `/api/sessions/${sessionId}/participants`, { body: { person } })

test('who sees a session and is not invited cannot write in it, by any route; what waits in it they still decide', async () => {
  await using desk = await openDesk(['unkeyed'])
  const { ana, bo, server } = desk
  const { id: sessionId } = await ana.post('/api/sessions', {})
  const held = await ana.post('/api/agent-requests', { sessionId, message: 'later' })
  await write(ana, sessionId, 'go')
  const [waiting] = await desk.actionsOf(sessionId)
  expect(waiting?.state).toBe('proposed')
  expect((await bo.send('GET', `/api/sessions/${sessionId}`)).status, 'Bo sees it').toBe(200)

  const tries: [string, object][] = [
    [`/api/sessions/${sessionId}/messages`, { content: 'refund me' }],
    ['/api/chat', { sessionId, message: 'refund me' }],
    ['/api/agent-requests', { sessionId, message: 'refund me' }],
    [`/api/agent-requests/${held.requestId}/execute`, {}],
  ]
  for (const [path, body] of tries) {
    for (const who of [bo, server.admin]) {
      const refused = await who.send('POST', path, { body })
      expect(refused, path).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    }
  }
  const { items } = await ana.get(`/api/sessions/${sessionId}/messages`)
  expect(JSON.stringify(items)).not.toContain('refund me')

  expect((await desk.type(bo, sessionId, 'yes')).body.decided).toMatchObject([{ id: waiting?.id, state: 'approved' }])
})

test('a rule that allows the owner does not allow what somebody else’s words led to: the strictest answer of all who asked counts', async () => {
  await using desk = await openDesk(['unkeyed', 'keyed', 'keyed', 'keyed'])
  const { ana, bo, server } = desk
  const { id: sessionId } = await ana.post('/api/sessions', {})
  // The action needs approvers, so Bo sees the session from here on.
  await write(ana, sessionId, 'something else')
  await server.settle()
  await desk.type(bo, sessionId, 'no')
  await server.settle()
  await write(ana, sessionId, 'refund 1')
  const [, first] = await desk.actionsOf(sessionId)
  expect(first).toMatchObject({ state: 'succeeded', policy: { rule: 'leads refund' } })

  await invite(ana, sessionId, bo.principal.id)
  await write(bo, sessionId, 'refund 2')
  const [, , second] = await desk.actionsOf(sessionId)
  expect(second?.state).toBe('proposed')
  expect(desk.target.writes).toHaveLength(1)
  expect(first?.requesters).toMatchObject([{ name: 'Ana' }])
  expect(second).toMatchObject({ requestedBy: { name: 'Ana' }, requesters: [{ name: 'Ana' }, { name: 'Bo' }] })
  await desk.type(server.admin, sessionId, 'no')

  const ivy = await server.as({ name: 'Ivy', kind: 'person', roles: ['approver', 'intern'] })
  await invite(server.admin, sessionId, ivy.principal.id)
  await server.settle()
  await write(ivy, sessionId, 'refund 3')
  const [, , , third] = await desk.actionsOf(sessionId)
  expect(third).toMatchObject({ state: 'declined', policy: { rule: 'interns never' } })
  expect(desk.target.writes).toHaveLength(1)

  const { items } = await server.admin.get(`/api/audit?action=${second?.id}`)
  const proposed = items.find(({ kind }: { kind: string }) => kind === 'proposed')
  expect(proposed.data.requesters, 'the record names all who asked').toEqual([ana.principal.id, bo.principal.id])
})

test('approve all holds for the words of those who had written when it was said, and of nobody after them', async () => {
  await using desk = await openDesk(['unkeyed', 'unkeyed', 'unkeyed'])
  const { ana, bo } = desk
  const { id: sessionId } = await ana.post('/api/sessions', {})
  await write(ana, sessionId, 'one')
  await desk.server.settle()
  await desk.type(ana, sessionId, 'approve all')
  await desk.server.settle()
  await write(ana, sessionId, 'two')
  expect(await desk.actionsOf(sessionId)).toMatchObject([{ state: 'succeeded' }, { state: 'succeeded' }])

  await invite(ana, sessionId, bo.principal.id)
  await write(bo, sessionId, 'three')
  const [, , third] = await desk.actionsOf(sessionId)
  expect(third?.state).toBe('proposed')
  expect(desk.target.writes).toHaveLength(2)
})

test('everybody who has a session open is told who may write in it, once for each invitation and each end of one, and again after a reconnect', async () => {
  await using desk = await openDesk(['keyed'])
  const { ana, bo, server } = desk
  const eve = await server.as({ name: 'Eve', kind: 'person', roles: ['member'] })
  const { id: sessionId } = await ana.post('/api/sessions', {})
  const path = `/api/sessions/${sessionId}/events`
  using owner = await ana.stream(path)
  await invite(server.admin, sessionId, bo.principal.id)
  const [first, second] = [
    { id: bo.principal.id, name: 'Bo' },
    { id: eve.principal.id, name: 'Eve' },
  ]
  expect((await owner.next('participants')).participants).toEqual([first])

  using guest = await bo.stream(path)
  await invite(ana, sessionId, eve.principal.id)
  await invite(ana, sessionId, eve.principal.id)
  for (const stream of [owner, guest]) await stream.next('participants', ({ participants }) => participants.length === 2)
  const end = await ana.send('DELETE', `/api/sessions/${sessionId}/participants/${eve.principal.id}`)
  for (const stream of [owner, guest]) await stream.next('participants', ({ participants }) => participants.length === 1)

  const told = [[first], [first, second], [first]]
  const heard = ({ seen }: typeof owner) =>
    seen.flatMap((event) => (event.type === 'participants' ? [EventData.participants.parse(event.data).participants] : []))
  expect(heard(owner)).toEqual(told)
  expect(heard(guest)).toEqual(told)
  expect(end.body.participants).toEqual([first])
  // A person who may not see the session learns nothing about it.
  expect((await eve.send('GET', path)).status).toBe(404)
})

test('who is invited sees the session and writes in it until that ends; what they wrote counts on, and messages say who wrote them', async () => {
  await using desk = await openDesk(['unkeyed', 'keyed'])
  const { ana, bo, server } = desk
  const eve = await server.as({ name: 'Eve', kind: 'person', roles: ['member'] })
  const { id: sessionId, owner } = await ana.post('/api/sessions', {})
  expect(owner).toEqual({ id: ana.principal.id, name: 'Ana' })
  expect((await eve.send('GET', `/api/sessions/${sessionId}`)).status).toBe(404)
  expect((await invite(eve, sessionId, eve.principal.id)).status).toBe(404)

  const invited = await invite(ana, sessionId, eve.principal.id)
  expect(invited.body.participants).toEqual([{ id: eve.principal.id, name: 'Eve' }])
  expect((await invite(ana, sessionId, eve.principal.id)).body.participants).toHaveLength(1)
  expect(await invite(ana, sessionId, 'prn_nobody')).toMatchObject({ status: 422 })
  const robot = await server.as({ name: 'robot', kind: 'agent' })
  expect(await invite(ana, sessionId, robot.principal.id)).toMatchObject({ status: 422 })
  // A participant cannot invite others.
  expect(await invite(eve, sessionId, bo.principal.id)).toMatchObject({ status: 403 })
  expect((await eve.get('/api/sessions')).items).toHaveLength(1)

  expect((await write(eve, sessionId, 'when Ana says so, refund me')).status).toBe(202)
  const [first] = await desk.actionsOf(sessionId)
  await server.admin.post(`/api/actions/${first?.id}/decision`, { verdict: 'decline' })
  await server.settle()
  const gone = await ana.send('DELETE', `/api/sessions/${sessionId}/participants/${eve.principal.id}`)
  expect(gone.body.participants).toEqual([])
  expect((await write(eve, sessionId, 'more')).status).toBe(404)
  await write(ana, sessionId, 'now')
  const [, second] = await desk.actionsOf(sessionId)
  expect(second).toMatchObject({ state: 'proposed', requesters: [{ name: 'Ana' }, { name: 'Eve' }] })

  const { items } = await ana.get(`/api/sessions/${sessionId}/messages`)
  const said = items.filter(({ role }: { role: string }) => role === 'user').reverse()
  expect(said.map(({ content, author }: { content: string; author: { name: string } }) => [author.name, content])).toEqual([
    ['Eve', 'when Ana says so, refund me'],
    ['Ana', 'now'],
  ])
  const record = (await server.admin.get('/api/audit?limit=200')).items as { kind: string; scope: string }[]
  expect(
    record
      .filter(({ scope, kind }) => scope === sessionId && kind.endsWith('invited'))
      .map(({ kind }) => kind)
      .sort(),
  ).toEqual(['invited', 'uninvited'])
})

test('a message that waits when the invitation of its author ends stays in the session, and nobody acts on it', async () => {
  await using desk = await openDesk(['unkeyed', 'keyed'])
  const { ana, bo } = desk
  const { id: sessionId } = await ana.post('/api/sessions', {})
  await invite(ana, sessionId, bo.principal.id)
  await write(ana, sessionId, 'first')
  expect(await desk.actionsOf(sessionId)).toMatchObject([{ state: 'proposed' }])
  // The action needs approvers, so Bo sees the session without an invitation, too.
  using stream = await bo.stream('/api/chat', { body: { sessionId, message: 'pay me' } })
  await stream.next('message', ({ message }) => message.queued === true)
  await ana.send('DELETE', `/api/sessions/${sessionId}/participants/${bo.principal.id}`)
  expect((await stream.ended()).at(-1)).toMatchObject({ type: 'error', data: { code: 'forbidden' } })
  await desk.type(ana, sessionId, 'no')
  expect(await desk.actionsOf(sessionId), 'no run answers it').toMatchObject([{ state: 'declined' }])

  await write(ana, sessionId, 'refund 1')
  const [, own] = await desk.actionsOf(sessionId)
  expect(own, 'the agent was not told it').toMatchObject({ state: 'succeeded', requesters: [{ name: 'Ana' }] })
  const { items } = await ana.get(`/api/sessions/${sessionId}/messages`)
  const dropped = items.filter(({ content }: { content: string }) => content === 'pay me')
  expect(dropped).toMatchObject([{ author: { name: 'Bo' }, runId: null }])
  expect(dropped[0].queued).toBeUndefined()
})

test('a message that waits is acted on when the invitation of its author ends and the session is that of their agent', async () => {
  await using desk = await openDesk(['unkeyed', 'unkeyed'])
  const { ana, server } = desk
  const robot = await server.as({ name: 'robot', kind: 'agent', person: ana.principal.id })
  const { id: sessionId } = await robot.post('/api/sessions', {})
  await invite(ana, sessionId, ana.principal.id)
  await write(robot, sessionId, 'go')
  await server.settle()
  expect((await write(ana, sessionId, 'go on')).body.queued).toBe(true)
  await ana.send('DELETE', `/api/sessions/${sessionId}/participants/${ana.principal.id}`)
  await desk.type(server.admin, sessionId, 'no')
  const [, second] = await desk.actionsOf(sessionId)
  expect(second?.requesters).toMatchObject([{ name: 'robot' }, { name: 'Ana' }])
})

test('a request that waits for its turn when the invitation of its author ends is rejected, and what waits behind it is answered', async () => {
  await using desk = await openDesk(['unkeyed', 'keyed'])
  const { ana, bo, server } = desk
  const { id: sessionId } = await ana.post('/api/sessions', {})
  await invite(ana, sessionId, bo.principal.id)
  await write(ana, sessionId, 'first')
  await server.settle()
  const { requestId } = await bo.post('/api/agent-requests', { sessionId, message: 'pay me' })
  expect((await bo.post(`/api/agent-requests/${requestId}/execute`)).status).toBe('awaiting_approval')
  expect((await write(ana, sessionId, 'refund 1')).body.queued).toBe(true)
  await ana.send('DELETE', `/api/sessions/${sessionId}/participants/${bo.principal.id}`)
  await desk.type(ana, sessionId, 'no')
  const [first, second, third] = await desk.actionsOf(sessionId)
  expect([first?.state, third]).toEqual(['declined', undefined])
  expect(second?.runId, 'it is that of the message behind it').not.toBe(requestId)
  expect(await server.admin.get(`/api/agent-requests/${requestId}`)).toMatchObject({
    status: 'rejected',
    message: expect.stringMatching(/Bo is no longer invited/),
  })
})

test('who is not invited any more reads nothing further on a stream that was open', async () => {
  await using desk = await openDesk(['keyed'])
  const { ana, bo, server } = desk
  const eve = await server.as({ name: 'Eve', kind: 'person', roles: ['member'] })
  const { id: sessionId } = await ana.post('/api/sessions', {})
  await invite(ana, sessionId, eve.principal.id)
  const path = `/api/sessions/${sessionId}/events`
  using owner = await ana.stream(path)
  using guest = await eve.stream(path)
  await invite(ana, sessionId, bo.principal.id)
  await guest.next('participants', ({ participants }) => participants.length === 2)
  await ana.send('DELETE', `/api/sessions/${sessionId}/participants/${eve.principal.id}`)
  await write(ana, sessionId, 'not for Eve')
  await owner.next('message', ({ message }) => message.content === 'not for Eve')
  expect(JSON.stringify(guest.seen)).not.toContain('not for Eve')
  expect(JSON.stringify(await guest.ended())).not.toContain('not for Eve')
})

test('the person behind an agent writes in its session, and is one of those who asked from then on', async () => {
  await using desk = await openDesk(['unkeyed', 'unkeyed'])
  const { ana, server } = desk
  const robot = await server.as({ name: 'robot', kind: 'agent', person: ana.principal.id })
  const { id: sessionId } = await robot.post('/api/sessions', {})
  await write(robot, sessionId, 'go')
  const [first] = await desk.actionsOf(sessionId)
  expect(first?.requesters).toMatchObject([{ name: 'robot' }])
  await server.admin.post(`/api/actions/${first?.id}/decision`, { verdict: 'decline' })
  await server.settle()
  expect((await write(ana, sessionId, 'go on')).status).toBe(202)
  const [, second] = await desk.actionsOf(sessionId)
  expect(second?.requesters).toMatchObject([{ name: 'robot' }, { name: 'Ana' }])
})

test('what waits and what was granted before this was kept: the authors that are known count, and a grant covers the owner alone', async () => {
  await using desk = await openDesk(['unkeyed', 'unkeyed', 'unkeyed'])
  const { ana, bo, server } = desk
  const { id: sessionId } = await ana.post('/api/sessions', {})
  await invite(ana, sessionId, bo.principal.id)
  await write(bo, sessionId, 'one')
  await server.settle()
  await desk.type(ana, sessionId, 'approve all')
  await server.settle()
  await write(ana, sessionId, 'two')
  expect(await desk.actionsOf(sessionId)).toMatchObject([{ state: 'succeeded' }, { state: 'succeeded' }])

  // Puts the rows into the state that the version before left.
  const store = await openBeside(server.database)
  await store.transact(function* () {
    yield* ask((db) => db.updateTable('action_grant').set({ requesters: null }))
    yield* ask((db) => db.updateTable('action').set({ requesters: null, agent_verified: 0 }))
  })
  await store.close()
  const old = await desk.actionsOf(sessionId)
  expect(old[0]).toMatchObject({ requesters: [{ name: 'Ana' }, { name: 'Bo' }], agent: 'desk', agentVerified: true })
  await write(ana, sessionId, 'three')
  expect((await desk.actionsOf(sessionId))[2]?.state).toBe('proposed')
})
