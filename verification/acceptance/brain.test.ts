import { expect, test } from 'vitest'
import { MAX_LOOK_UP_CHARACTERS } from '../../packages/server/src/agent/look-ups.ts'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import { answerWith, startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { brainHeard, brainSays, resultsHeard } from '../testing/brain-says.ts'
import { decide, waiting } from '../testing/decisions.ts'
import { call } from '../testing/talk.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const SECRET = 'brain-secret-0123456789'

const withBrain = (url: string): ConfigInput => ({
  agents: {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: variables of the configuration
    desk: { remote: { url, headers: { authorization: 'Bearer ${BRAIN_KEY}', 'x-team': 'orders' } } },
    open: { model: `remote/${url}` },
  },
})

test('a remote brain gets its own headers, and hears the session, who wrote and which agent it is', async () => {
  await using brains = await startReplayServer()
  const replay = brains.play([brainSays({ text: 'Hello.' }), brainSays({ text: 'Hello again.' }), brainSays({ text: 'And you.' })])
  await using server = await startTestServer({ config: withBrain(replay.baseUrl), environment: { BRAIN_KEY: SECRET } })
  const ana = await server.as({ name: 'Ana', kind: 'person', roles: ['member'] })
  const { id } = await ana.post('/api/sessions', { agent: 'desk' })
  await ana.post(`/api/sessions/${id}/messages`, { content: 'Hi' })
  await server.settle()

  expect(replay.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${SECRET}`, 'x-team': 'orders' })
  expect(replay.requests[0]?.body).toMatchObject({
    session: { id },
    user: { id: ana.principal.id, name: 'Ana' },
    agent: { name: 'desk' },
  })

  // The user of a step is the person who wrote last, not the owner of the session.
  const ben = await server.as({ name: 'Ben', kind: 'person', roles: ['member'] })
  await ana.post(`/api/sessions/${id}/participants`, { person: ben.principal.id })
  await ben.post(`/api/sessions/${id}/messages`, { content: 'Me too' })
  await server.settle()
  expect(replay.requests[1]?.body).toMatchObject({ session: { id }, user: { id: ben.principal.id, name: 'Ben' } })

  // Only this agent has the headers: another agent at the same address sends none.
  const other = await ana.post('/api/sessions', { agent: 'open' })
  await ana.post(`/api/sessions/${other.id}/messages`, { content: 'Hi' })
  await server.settle()
  expect(replay.requests[2]?.body).toMatchObject({ session: { id: other.id }, agent: { name: 'open' } })
  expect(replay.requests[2]?.headers).not.toHaveProperty('authorization')
  expect(replay.requests[2]?.headers).not.toHaveProperty('x-team')
})

test('the secret of a remote brain is in no row, no answer and no log, even when the brain repeats it', async () => {
  await using brains = await startReplayServer()
  const replay = brains.play([brainSays({ text: `You sent Bearer ${SECRET}, orders.` })])
  await using server = await startTestServer({ config: withBrain(replay.baseUrl), environment: { BRAIN_KEY: SECRET }, logLevel: 'trace' })
  const { id } = await server.admin.post('/api/sessions', { agent: 'desk' })
  await server.admin.post(`/api/sessions/${id}/messages`, { content: 'What did I send?' })
  await server.settle()
  expect(replay.requests).toHaveLength(1)
  const { items } = await server.admin.get(`/api/sessions/${id}/messages`)
  expect(items[0].content).toBe('You sent [redacted], orders.')
  expect(JSON.stringify([items, await server.admin.get('/api/agents'), await server.dump(), server.errors])).not.toContain(SECRET)
})

const FOUND = { id: 'look-1', tool: 'searchOrders', input: { status: 'late' }, output: { orders: ['ORD-1', 'ORD-2'] } }
const SHOWN = { id: 'look-1', name: 'searchOrders', input: FOUND.input, output: FOUND.output }

test('what a brain looks up by itself stands at its message, after a restart too, and is no action', async () => {
  await using brains = await startReplayServer()
  const replay = brains.play([
    brainSays({ lookUps: [FOUND, { id: 'look-2', tool: 'forecast', input: {}, error: 'no rain data' }], text: 'Two are late.' }),
    brainSays({ text: 'As I said.' }),
  ])
  await using server = await startTestServer({ config: withBrain(replay.baseUrl), environment: { BRAIN_KEY: SECRET } })
  const { id } = await server.admin.post('/api/sessions', { agent: 'desk' })
  await server.admin.post(`/api/sessions/${id}/messages`, { content: 'What is late?' })
  await server.settle()

  const said = async () => (await server.admin.get(`/api/sessions/${id}/messages`)).items.find(({ model }: { model?: string }) => model)
  const lookUps = [SHOWN, { id: 'look-2', name: 'forecast', input: {}, error: 'no rain data' }]
  const before = await said()
  expect(before).toMatchObject({ content: 'Two are late.', lookUps })
  expect(before).not.toHaveProperty('toolCalls')
  expect((await server.admin.get('/api/actions')).items).toEqual([])
  expect((await server.admin.get(`/api/audit?session=${id}`)).items.filter(({ kind }: { kind: string }) => kind === 'proposed')).toEqual([])

  await server.restart()
  expect(await said()).toEqual(before)

  await server.admin.post(`/api/sessions/${id}/messages`, { content: 'Sure?' })
  await server.settle()
  expect(brainHeard(replay, 1)).toEqual([
    { role: 'user', content: 'What is late?' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [
        { id: 'look-1', type: 'function', function: { name: 'searchOrders', arguments: '{"status":"late"}' } },
        { id: 'look-2', type: 'function', function: { name: 'forecast', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'look-1', content: '{"orders":["ORD-1","ORD-2"]}' },
    { role: 'tool', tool_call_id: 'look-2', content: '{"error":"no rain data"}' },
    { role: 'assistant', content: 'Two are late.' },
    { role: 'user', content: 'Sure?' },
  ])
})

test('a brain is told why its call with a number of 64 bits was refused, and may propose it again', async () => {
  await using target = await startTarget(() => ({ status: 200 }))
  await using brains = await startReplayServer()
  const wrong = answerWith({
    ...{ status: 200, contentType: 'text/event-stream' },
    body: new TextEncoder().encode(
      'data: {"type":"require-action","toolCallId":"a","toolName":"keyed","input":{"what":1234567890123456789}}\n\ndata: {"type":"finish"}\n\n',
    ),
  })
  const replay = brains.play([wrong, brainSays({ calls: [call('b', 'keyed', '1234567890123456789')] }), brainSays({ text: 'Done.' })])
  await using server = await startTestServer({
    config: { agents: { desk: { model: `remote/${replay.baseUrl}`, tools: ['*'] } }, tools: toolsOf(target) },
  })
  const { id } = await server.admin.post('/api/sessions', {})
  await server.admin.post(`/api/sessions/${id}/messages`, { content: 'Ship it' })
  await decide(server, await waiting(server), { verdict: 'approve' })
  await server.settle()
  expect(resultsHeard(replay, 1)).toEqual([['a', { error: expect.stringMatching(/^the arguments are not valid: .*1234567890123456789/) }]])
  expect(target.writes.map(({ body }) => body)).toEqual([{ what: '1234567890123456789' }])
  expect((await server.admin.get(`/api/sessions/${id}`)).status).toBe('completed')
})

test('a live reader is sent the look-ups with the whole message', async () => {
  await using brains = await startReplayServer()
  const replay = brains.play([brainSays({ lookUps: [FOUND], text: 'Two are late.' })])
  await using server = await startTestServer({ config: withBrain(replay.baseUrl), environment: { BRAIN_KEY: SECRET } })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'What is late?', agent: 'desk' } })
  const { message } = await stream.next('message', (data) => data.message.role === 'assistant')
  expect(message).toMatchObject({ content: 'Two are late.', lookUps: [SHOWN] })
  await stream.ended()
})

test.each([
  { what: 'had said something', text: 'Two are', content: 'Two are' },
  { what: 'had said nothing', text: '', content: '' },
])('what a brain that $what had looked up stays when a person cancels in the middle of its answer', async ({ text, content }) => {
  const { chunks } = brainSays({ lookUps: [FOUND], text })
  const cancelled = Promise.withResolvers<void>()
  async function* half() {
    // No finish event, and a thought at the end: a reader who sees the thought knows that the server has read all before it.
    yield* [...(chunks as Iterable<Uint8Array>)].slice(0, -1)
    yield new TextEncoder().encode('data: {"type":"reasoning-delta","delta":"Hm"}\n\n')
    await cancelled.promise
  }
  await using brains = await startReplayServer()
  const replay = brains.play([{ status: 200, contentType: 'text/event-stream', chunks: half() }, brainSays({ text: 'As I said.' })])
  await using server = await startTestServer({ config: withBrain(replay.baseUrl), environment: { BRAIN_KEY: SECRET } })
  const { id } = await server.admin.post('/api/sessions', { agent: 'desk' })
  using stream = await server.admin.stream(`/api/sessions/${id}/events`)
  await server.admin.post(`/api/sessions/${id}/messages`, { content: 'What is late?' })
  await stream.next('reasoning_delta')
  await server.admin.post(`/api/sessions/${id}/cancel`)
  cancelled.resolve()
  await stream.next('message', ({ message }) => message.role === 'assistant' && message.lookUps !== undefined)
  await server.settle()

  const said = async () =>
    (await server.admin.get(`/api/sessions/${id}/messages`)).items.filter(({ lookUps }: { lookUps?: unknown }) => lookUps)
  const before = await said()
  expect(before).toMatchObject([{ role: 'assistant', content, lookUps: [SHOWN] }])
  await server.restart()
  expect(await said()).toEqual(before)
  await server.admin.post(`/api/sessions/${id}/messages`, { content: 'Sure?' })
  await server.settle()
  expect(brainHeard(replay, 1).filter(({ role }) => role === 'tool')).toEqual([
    { role: 'tool', tool_call_id: 'look-1', content: '{"orders":["ORD-1","ORD-2"]}' },
  ])
})

test.each([
  { what: 'had said something', text: 'Two are' },
  { what: 'had said nothing', text: '' },
])('what a brain that $what had looked up goes back to it after its answer failed', async ({ text }) => {
  const { chunks } = brainSays({ lookUps: [FOUND], text })
  const failing = [
    ...[...(chunks as Iterable<Uint8Array>)].slice(0, -1),
    new TextEncoder().encode('data: {"type":"error","message":"out of memory"}\n\n'),
  ]
  await using brains = await startReplayServer()
  const replay = brains.play([{ status: 200, contentType: 'text/event-stream', chunks: failing }, brainSays({ text: 'As I said.' })])
  await using server = await startTestServer({ config: withBrain(replay.baseUrl), environment: { BRAIN_KEY: SECRET } })
  const { id } = await server.admin.post('/api/sessions', { agent: 'desk' })
  await server.admin.post(`/api/sessions/${id}/messages`, { content: 'What is late?' })
  await server.settle()
  await server.admin.post(`/api/sessions/${id}/messages`, { content: 'Sure?' })
  await server.settle()
  expect(brainHeard(replay, 1).filter(({ role }) => role === 'tool')).toEqual([
    { role: 'tool', tool_call_id: 'look-1', content: '{"orders":["ORD-1","ORD-2"]}' },
  ])
})

test('what the second brain of a chain had looked up stands under its name, and goes back to it after its answer failed', async () => {
  const failing = [
    ...[...(brainSays({ lookUps: [FOUND], text: 'Two are' }).chunks as Iterable<Uint8Array>)].slice(0, -1),
    new TextEncoder().encode('data: {"type":"error","message":"out of memory"}\n\n'),
  ]
  await using brains = await startReplayServer()
  const away = { status: 503, contentType: 'text/plain', chunks: [] }
  const first = brains.play([away, away, away])
  const second = brains.play([{ status: 200, contentType: 'text/event-stream', chunks: failing }, brainSays({ text: 'As I said.' })])
  await using server = await startTestServer({
    config: { agents: { desk: { model: `remote/${first.baseUrl}`, fallbacks: [`remote/${second.baseUrl}`] } } },
  })
  const { id } = await server.admin.post('/api/sessions', { agent: 'desk' })
  await server.admin.post(`/api/sessions/${id}/messages`, { content: 'What is late?' })
  await server.settle()
  const { items } = await server.admin.get(`/api/sessions/${id}/messages`)
  const said = items.find(({ lookUps }: { lookUps?: unknown }) => lookUps)
  expect(said).toMatchObject({ content: 'Two are', lookUps: [SHOWN], model: `remote/${second.baseUrl}` })
  await server.admin.post(`/api/sessions/${id}/messages`, { content: 'Sure?' })
  await server.settle()
  expect(brainHeard(second, 1).filter(({ role }) => role === 'tool')).toEqual([
    { role: 'tool', tool_call_id: 'look-1', content: '{"orders":["ORD-1","ORD-2"]}' },
  ])
})

test('what a brain had looked up for a session that is deleted in the middle of its answer is stored nowhere', async () => {
  const deleted = Promise.withResolvers<void>()
  async function* half() {
    // No finish event, and a thought at the end: a reader who sees the thought knows that the server has read all before it.
    yield* [...(brainSays({ lookUps: [FOUND], text: 'Two are' }).chunks as Iterable<Uint8Array>)].slice(0, -1)
    yield new TextEncoder().encode('data: {"type":"reasoning-delta","delta":"Hm"}\n\n')
    await deleted.promise
  }
  await using brains = await startReplayServer()
  const replay = brains.play([{ status: 200, contentType: 'text/event-stream', chunks: half() }])
  await using server = await startTestServer({ config: withBrain(replay.baseUrl), environment: { BRAIN_KEY: SECRET } })
  const { id } = await server.admin.post('/api/sessions', { agent: 'desk' })
  using stream = await server.admin.stream(`/api/sessions/${id}/events`)
  await server.admin.post(`/api/sessions/${id}/messages`, { content: 'What is late?' })
  await stream.next('reasoning_delta')
  expect((await server.admin.send('DELETE', `/api/sessions/${id}`)).status).toBe(200)
  deleted.resolve()
  await server.settle()
  expect((await stream.ended()).at(-1)?.type).toBe('session_deleted')

  const { message, event } = await server.dump()
  expect(message).toEqual([])
  expect(JSON.stringify(event)).not.toContain('ORD-1')
})

test('a look-up named like a gated tool runs nothing here, with or without an output', async () => {
  await using brains = await startReplayServer()
  const input = { orderId: 'ORD-1' }
  const replay = brains.play([
    brainSays({
      lookUps: [
        { id: 'a', tool: 'cancelOrder', input },
        { id: 'b', tool: 'cancelOrder', input, output: { approved: true, state: 'succeeded' } },
      ],
    }),
  ])
  const tools = {
    shop: { prefix: false, routes: { baseUrl: brains.play([]).baseUrl, tools: { cancelOrder: { method: 'DELETE', path: '/{orderId}' } } } },
  }
  const agents = { desk: { model: `remote/${replay.baseUrl}`, tools: ['*'] } }
  await using server = await startTestServer({ config: { agents, tools } as ConfigInput })
  const { id } = await server.admin.post('/api/sessions', {})
  await server.admin.post(`/api/sessions/${id}/messages`, { content: 'Cancel it' })
  await server.settle()
  const session = await server.admin.get(`/api/sessions/${id}`)
  expect(session).toMatchObject({ status: 'completed', pendingApprovals: [] })
  expect((await server.admin.get('/api/actions')).items).toEqual([])
  const { items } = await server.admin.get(`/api/sessions/${id}/messages`)
  expect(items[0].lookUps).toHaveLength(2)
})

test('a secret in a look-up is in no row and no answer, also where the value is cut', async () => {
  await using brains = await startReplayServer()
  const straddling = 'x'.repeat(MAX_LOOK_UP_CHARACTERS - 15) + SECRET
  const replay = brains.play([
    brainSays({
      lookUps: [
        { id: SECRET, tool: `with-${SECRET}`, input: { [SECRET]: SECRET }, output: straddling },
        { id: 'b', tool: 'fails', input: {}, error: `Bearer ${SECRET}` },
      ],
      text: 'Well.',
    }),
  ])
  await using server = await startTestServer({ config: withBrain(replay.baseUrl), environment: { BRAIN_KEY: SECRET }, logLevel: 'trace' })
  const { id } = await server.admin.post('/api/sessions', { agent: 'desk' })
  await server.admin.post(`/api/sessions/${id}/messages`, { content: 'Go' })
  await server.settle()
  const { items } = await server.admin.get(`/api/sessions/${id}/messages`)
  expect(items[0].lookUps).toHaveLength(2)
  expect(JSON.stringify([items, await server.dump(), server.errors])).not.toContain(SECRET.slice(0, 12))
})
