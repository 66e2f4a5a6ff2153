import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import { resultsHeard } from '../testing/brain-says.ts'
import { MCP_CLIENTS } from '../testing/mcp-clients.ts'
import { shortWaits } from '../testing/short-waits.ts'
import { call, startTalk } from '../testing/talk.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

const withLimits = (limits: object): NonNullable<ConfigInput['policy']> => ({
  rules: [{ name: 'reads run', match: { effect: 'read' }, verdict: 'allow' }],
  limits,
})

/** Starts a server with the tools of {@link toolsOf}, and an agent's key. The minute in which refusals are counted ends with the server. */
async function openDesk(policy?: ConfigInput['policy']) {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const server = stack.use(
    await startTestServer({
      config: {
        agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } },
        tools: toolsOf(target),
        ...(policy !== undefined && { policy }),
      },
      scripts: { desk: [{ text: 'Hi.' }] },
      clock: shortWaits(60_000),
    }),
  )
  const bot = await server.as({ name: 'Bot', kind: 'agent', roles: ['agent'] })
  const propose = (what: string, key?: string, client: Pick<typeof bot, 'send'> = bot) =>
    client.send('POST', '/api/actions', {
      body: { tool: 'keyed', arguments: { what } },
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
    })
  return { target, server, bot, propose, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test('an agent has as much waiting as the policy allows and no more, however many calls it makes at once', async () => {
  await using desk = await openDesk(withLimits({ waitingPerAgent: 5 }))
  const { server, propose } = desk
  const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => propose(`order ${i}`, `key-${i}`)))
  const statuses = answers.map(({ status }) => status)
  expect(statuses.filter((status) => status === 201)).toHaveLength(5)
  expect(statuses.filter((status) => status === 429)).toHaveLength(35)
  expect(answers.find(({ status }) => status === 429)?.body).toMatchObject({
    code: 'too_many_waiting',
    limit: 5,
    detail: expect.stringContaining('limits.waitingPerAgent'),
  })
  expect((await server.admin.get('/api/actions?state=proposed')).items).toHaveLength(5)

  // Calls that need no approval still work, and so do other agents.
  expect(await desk.bot.send('POST', '/api/actions', { body: { tool: 'look', arguments: { what: 'x' } } })).toMatchObject({ status: 201 })
  const other = await server.as({ name: 'Other', kind: 'agent', roles: ['agent'] })
  expect((await propose('x', 'a', other)).status).toBe(201)

  // Admins see which agents are at the limit, here and in the metrics.
  expect(await server.admin.get('/api/waiting/full')).toEqual({
    items: [{ scope: 'agent', id: desk.bot.principal.id, name: 'Bot', waiting: 5, limit: 5 }],
  })
  expect((await desk.bot.send('GET', '/api/waiting/full')).status).toBe(403)
  expect((await server.admin.send('GET', '/metrics')).text).toContain('countersign_waiting_full{scope="agent"} 1')
})

test('without a word in the policy, an agent has 200 waiting at most', async () => {
  await using desk = await openDesk()
  const answers = await Promise.all(Array.from({ length: 230 }, (_, i) => desk.propose(`order ${i}`, `key-${i}`)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(200)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(30)
})

test('a decision makes room for the next ask', async () => {
  await using desk = await openDesk(withLimits({ waitingPerAgent: 1 }))
  const first = await desk.propose('a', 'a')
  const refused = await desk.propose('b', 'b')
  expect([first.status, refused.status]).toEqual([201, 429])
  await desk.server.admin.post(`/api/actions/${first.body.id}/decision`, { verdict: 'decline' })
  // The Idempotency-Key did not store the refusal.
  expect((await desk.propose('b', 'b')).status).toBe(201)
})

test('a session asks for as much as the policy allows; the model hears of the rest, and its run goes on', async () => {
  await using talk = await startTalk({
    says: [{ calls: [call('a', 'keyed', 'x'), call('b', 'keyed', 'y'), call('c', 'keyed', 'z')] }, { text: 'Two of three.' }],
    policy: withLimits({ waitingPerSession: 2 }),
  })
  const { admin } = talk.server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { pendingApprovals } = await stream.next('session_status', (data) => data.status === 'waiting_approval')
  expect(pendingApprovals).toHaveLength(2)
  expect((await admin.get('/api/waiting/full')).items).toMatchObject([{ scope: 'session', id: sessionId, waiting: 2, limit: 2 }])
  for (const id of pendingApprovals) await admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  await stream.next('message', (data) => data.message.content === 'Two of three.')
  expect(JSON.stringify(resultsHeard(talk.brain, 1))).toContain('limits.waitingPerSession')
  expect(talk.target.writes).toHaveLength(2)
})

test('the same call again without a key is the same action: asked once, done once, and both callers hear of it', async () => {
  await using desk = await openDesk()
  const answers = await Promise.all(Array.from({ length: 8 }, () => desk.propose('pay 100')))
  const ids = new Set(answers.map(({ body }) => body.id))
  expect(ids.size).toBe(1)
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(answers.filter(({ status, body }) => status === 200 && body.folded === true)).toHaveLength(7)
  const [id] = ids
  expect(await desk.server.admin.get(`/api/actions/${id}`)).toMatchObject({ state: 'proposed', timesAsked: 8 })
  const heard = [1, 2].map(() => desk.bot.get(`/api/actions/${id}?wait=60&until=settled`))
  await desk.server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  expect(await Promise.all(heard)).toMatchObject([{ state: 'succeeded' }, { state: 'succeeded' }])
  expect(desk.target.writes).toHaveLength(1)
  // After the decision the same call is a new action.
  expect(await desk.propose('pay 100')).toMatchObject({ status: 201 })
})

test('calls with keys of their own are as many wishes, and happen as often', async () => {
  await using desk = await openDesk()
  const unkeyed = await desk.propose('pay 100')
  const [one, two] = [await desk.propose('pay 100', 'first'), await desk.propose('pay 100', 'second')]
  const ids = [unkeyed, one, two].map(({ status, body }) => {
    expect([status, body.folded]).toEqual([201, undefined])
    return body.id
  })
  expect(new Set(ids).size).toBe(3)
  // The same key gets the same answer, as always.
  expect((await desk.propose('pay 100', 'first')).body.id).toBe(one.body.id)
  for (const id of ids) await desk.server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  await desk.server.settle()
  expect(desk.target.writes).toHaveLength(3)
})

test('what a person proposes, what names its own deadline, and what another version of the policy asks is a new action each time', async () => {
  await using desk = await openDesk()
  const { server, propose, bot } = desk
  const waiting = async () => (await server.admin.get('/api/actions?state=proposed')).items.length
  for (const _ of [1, 2]) expect((await propose('pay 100', undefined, server.admin)).status).toBe(201)
  const brief = { tool: 'keyed', arguments: { what: 'pay 100' }, expiresIn: 'PT1H' }
  for (const _ of [1, 2]) expect((await bot.send('POST', '/api/actions', { body: brief })).status).toBe(201)
  expect((await propose('pay 100')).body.folded).toBe(true)
  expect(await waiting()).toBe(4)
  const document = { rules: [{ name: 'two', match: { effect: 'write' }, verdict: 'ask', requires: { quorum: 2 } }] }
  const headers = { 'if-match': '"1"' }
  expect((await server.admin.send('PUT', '/api/policy', { body: { document, reason: 'Two have to agree' }, headers })).status).toBe(200)
  expect(await propose('pay 100')).toMatchObject({ status: 201, body: { requires: { quorum: 2 } } })
})

test('a call folds into no action of another agent, of other arguments, or that a person edited', async () => {
  await using desk = await openDesk()
  const { server, propose, bot } = desk
  const first = (await propose('pay 100')).body as Action
  const other = await server.as({ name: 'Other', kind: 'agent', roles: ['agent'] })
  expect((await propose('pay 100', undefined, other)).status).toBe(201)
  expect((await propose('pay 101')).status).toBe(201)
  const named = await bot.send('POST', '/api/actions', { body: { tool: 'unkeyed', arguments: { what: 'pay 100' } } })
  expect(named.status).toBe(201)
  await server.admin.post(`/api/actions/${first.id}/decision`, { verdict: 'decline' })
  expect((await propose('pay 100')).body.id).not.toBe(first.id)
})

test('the same call twice in one step is asked once and done once, and the model is told so', async () => {
  await using talk = await startTalk({
    says: [{ calls: [call('a', 'keyed', 'x'), call('b', 'keyed', 'x')] }, { text: 'Once.' }],
  })
  const { admin } = talk.server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { pendingApprovals } = await stream.next('session_status', (data) => data.status === 'waiting_approval')
  expect(pendingApprovals).toHaveLength(1)
  expect(await admin.get(`/api/actions/${pendingApprovals[0]}`)).toMatchObject({ timesAsked: 2 })
  await admin.post(`/api/actions/${pendingApprovals[0]}/decision`, { verdict: 'approve' })
  await stream.next('message', (data) => data.message.content === 'Once.')
  expect(talk.target.writes).toHaveLength(1)
  const heard = resultsHeard(talk.brain, 1)
  expect(heard).toHaveLength(2)
  expect(JSON.stringify(heard)).toContain('carried out once')
})

test('the record has each repeat of a call, and who made it', async () => {
  await using desk = await openDesk()
  const { id } = (await desk.propose('pay 100')).body
  await desk.propose('pay 100')
  const { items } = await desk.server.admin.get(`/api/audit?kind=repeated`)
  expect(items).toMatchObject([{ kind: 'repeated', actionId: id, actor: { id: desk.bot.principal.id } }])
})

/** Returns the record's rows about refused calls once there are `count` of them. */
async function refusedAsks(server: TestServer, count: number) {
  const read = async () => (await server.admin.get('/api/audit?kind=refused&limit=200')).items
  await expect.poll(async () => (await read()).length).toBeGreaterThanOrEqual(count)
  return read()
}

test('a flood of asks beyond the limit is two rows of the record, which say how many there were; over MCP it is the same', async () => {
  await using desk = await openDesk(withLimits({ waitingPerAgent: 1 }))
  const { server, bot, propose } = desk
  await Promise.all(Array.from({ length: 40 }, (_, i) => propose(`order ${i}`, `key-${i}`)))
  const { key } = await server.makeKey({ name: 'More', kind: 'agent', principal: bot.principal.id })
  const [connectTo] = MCP_CLIENTS
  await using client = await connectTo.connect({ url: `${server.url}/mcp`, key })
  for (const what of ['one', 'two']) {
    expect(JSON.stringify(await client.call('keyed', { what }))).toContain('limits.waitingPerAgent')
  }
  expect(await refusedAsks(server, 1)).toMatchObject([
    {
      actor: { id: bot.principal.id },
      data: { code: 'too_many_waiting', tool: 'keyed', why: expect.stringContaining('1 actions of this agent') },
    },
  ])
  await server.restart()
  const rows = await refusedAsks(server, 2)
  expect(rows.map(({ data }: { data: { times?: number } }) => data.times ?? 1).toSorted()).toEqual([1, 40])
})

test('a call of a session that is refused because too much waits is in the record, with the session', async () => {
  await using talk = await startTalk({
    says: [{ calls: ['x', 'y', 'z'].map((what) => call(what, 'keyed', what)) }, { text: 'One of three.' }],
    policy: withLimits({ waitingPerSession: 1 }),
  })
  const { server } = talk
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  const refused = { actor: { id: 'prn_local' }, data: { code: 'too_many_waiting', tool: 'keyed', session: sessionId } }
  expect(await refusedAsks(server, 1)).toMatchObject([refused])
  await server.restart()
  const rows = await refusedAsks(server, 2)
  expect(rows.map(({ data }: { data: { times?: number } }) => data.times)).toContain(1)
  expect(rows).toHaveLength(2)
})
