import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Action } from '@countersign/core'
import { expect, onTestFinished, test } from 'vitest'
import { createAcpDialect } from '../../packages/server/src/cli/acp/acp-dialect.ts'
import { between } from '../testing/between-programs.ts'
import { decide, settled, waiting } from '../testing/decisions.ts'
import { freePort } from '../testing/free-port.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

async function start(flags = {}, wait = {}) {
  const server = await startTestServer({ config: { tools: { host: { 'coding-agent': {} } }, policy: { rules: [] } }, flags })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { key } = await server.makeKey({ name: 'ana agent', kind: 'agent', agent: 'zed', roles: ['agent'] })
  const at = { base: server.url, authorization: `Bearer ${key}` }
  return { server: Object.assign(server, { at }), ...between(createAcpDialect(), at, wait) }
}

const OPTIONS = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
]
interface Call {
  toolCallId: string
  command: string
  options?: readonly object[]
}
const request = (id: unknown, { toolCallId, command, options = OPTIONS }: Call) => ({
  jsonrpc: '2.0',
  id,
  method: 'session/request_permission',
  params: { sessionId: 's1', toolCall: { toolCallId, kind: 'execute', rawInput: { command } }, options },
})
const update = (said: object) => ({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's1', update: said } })
const ended = (toolCallId: string) =>
  update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', rawOutput: { exitCode: 0 } })
const selected = (id: unknown, optionId: string) => ({ jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId } } })
const PING = { jsonrpc: '2.0', id: 'ping', method: 'session/prompt', params: {} }

type Server = Pick<TestServer, 'admin'>

const actionsOf = async (server: Server): Promise<Action[]> => (await server.admin.get('/api/actions')).items
const read = (server: Server, id: string): Promise<Action> => server.admin.get(`/api/actions/${id}`)

test('a second request about a call that was allowed is a question of its own, running or ended', async () => {
  const { server, editor, agent } = await start()
  const call = { toolCallId: 'c', command: 'npm publish' }
  for (const id of [1, 2]) {
    agent.send(request(id, call))
    await editor.next()
    await decide(server, await waiting(server), { verdict: 'approve' })
    expect(await agent.message()).toMatchObject(selected(id, 'yes'))
    await editor.next()
  }
  agent.send(ended('c'))
  await editor.next()
  await expect.poll(async () => (await actionsOf(server)).map(({ state }) => state)).toEqual(['succeeded', 'succeeded'])
  agent.send(request(3, call))
  await editor.next()
  await decide(server, await waiting(server), { verdict: 'decline', reason: 'Twice is enough' })
  expect(await agent.message()).toMatchObject(selected(3, 'no'))
})

test('a call of a session that was opened again is asked about anew, although an earlier one had its id', async () => {
  const { server, editor, agent, proxy } = await start()
  const call = { toolCallId: 'call_1', command: 'npm publish' }
  agent.send(request(1, call))
  await editor.next()
  await decide(server, await waiting(server), { verdict: 'approve' })
  expect(await agent.message()).toMatchObject(selected(1, 'yes'))
  agent.send(ended('call_1'))
  await expect.poll(async () => (await actionsOf(server)).map(({ state }) => state)).toEqual(['succeeded'])
  await proxy.end()
  const again = between(createAcpDialect(), server.at)
  again.editor.send({ jsonrpc: '2.0', id: 0, method: 'session/load', params: { sessionId: 's1', cwd: '/srv', mcpServers: [] } })
  await again.agent.next()
  again.agent.send(request(1, call))
  await decide(server, await waiting(server), { verdict: 'decline', reason: 'Once is enough' })
  const { result } = await again.agent.message()
  expect(result._meta['countersign/reason']).toContain('Once is enough')
})

test('an agent that has two requests open under one id is refused both: an answer could be read as that to the other', async () => {
  const { server, editor, agent } = await start()
  agent.send(request(1, { toolCallId: 'a', command: 'ls' }))
  await editor.next()
  const card = await waiting(server)
  agent.send(request(1, { toolCallId: 'b', command: 'rm -rf build' }))
  for (const _ of ['a', 'b']) expect(await agent.message()).toMatchObject(selected(1, 'no'))
  expect(await editor.message()).toMatchObject({ method: '$/cancel_request' })
  expect((await settled(server, card.id)).state).toBe('cancelled')
  editor.send(selected(1, 'yes'))
  editor.send(PING)
  expect(await agent.message()).toEqual(PING)
})

test('the agent gets one answer to a request, however often the editor answers, and the record has that one', async () => {
  const { server, editor, agent } = await start()
  // The editor says no, and then yes.
  agent.send(request(1, { toolCallId: 'a', command: 'npm publish' }))
  await editor.next()
  const first = await waiting(server)
  editor.send(selected(1, 'no'))
  editor.send(selected(1, 'yes'))
  editor.send(PING)
  expect(await agent.message()).toMatchObject(selected(1, 'no'))
  expect(await agent.message()).toEqual(PING)
  expect((await settled(server, first.id)).outcome?.text).toContain('not allowed in the editor: "No"')
  // Countersign declines it, and the editor says yes, twice.
  agent.send(request(2, { toolCallId: 'b', command: 'npm publish' }))
  await editor.next()
  await decide(server, await waiting(server), { verdict: 'decline', reason: 'No' })
  expect(await agent.message()).toMatchObject(selected(2, 'no'))
  for (const answer of [selected(2, 'yes'), selected(2, 'yes'), PING]) editor.send(answer)
  expect(await agent.message()).toEqual(PING)
  // The editor says yes and no at once: whichever the agent gets is what the record has.
  agent.send(request(3, { toolCallId: 'c', command: 'npm publish' }))
  await editor.next()
  const third = await waiting(server)
  for (const answer of [selected(3, 'yes'), selected(3, 'no'), PING]) editor.send(answer)
  const got = []
  for (const _ of ['answer', 'ping']) got.push(await agent.message())
  const answer = got.find(({ id }) => id === 3)
  const words = answer.result.outcome.optionId === 'yes' ? 'it was allowed in' : 'it was not allowed in'
  expect((await settled(server, third.id)).outcome?.text).toContain(words)
})

test('an option id that stands for two kinds is never selected: the agent could read either', async () => {
  const { server, editor, agent } = await start()
  const twice = [
    { optionId: 'x', name: 'No', kind: 'reject_once' },
    { optionId: 'x', name: 'Yes', kind: 'allow_once' },
    { optionId: 'y', name: 'Yes', kind: 'allow_once' },
  ]
  agent.send(request(1, { toolCallId: 'a', command: 'npm publish', options: twice }))
  await editor.next()
  await decide(server, await waiting(server), { verdict: 'decline', reason: 'No' })
  expect((await agent.message()).result.outcome).toEqual({ outcome: 'cancelled' })
  await editor.next()
  // An approval for one call selects nothing that is also one for good.
  const always = [
    { optionId: 'x', name: 'Yes', kind: 'allow_once' },
    { optionId: 'x', name: 'Always', kind: 'allow_always' },
    { optionId: 'n', name: 'No', kind: 'reject_once' },
  ]
  agent.send(request(2, { toolCallId: 'b', command: 'npm publish', options: always }))
  expect(await agent.message()).toMatchObject(selected(2, 'n'))
})

test('a call that the agent changes while people are asked about it is refused: they would approve something else', async () => {
  const { server, editor, agent } = await start()
  agent.send(request(1, { toolCallId: 'a', command: 'ls' }))
  await editor.next()
  const card = await waiting(server)
  // The same again, and what does not say what runs, changes nothing.
  agent.send(update({ sessionUpdate: 'tool_call_update', toolCallId: 'a', rawInput: { command: 'ls' }, status: 'pending' }))
  await editor.next()
  agent.send(update({ sessionUpdate: 'tool_call_update', toolCallId: 'a', rawInput: { command: 'rm -rf /' } }))
  expect(await agent.message()).toMatchObject(selected(1, 'no'))
  expect((await settled(server, card.id)).state).toBe('cancelled')
})

test('a call to which the agent adds the change of another file while people are asked about it is refused; what it says meanwhile is not', async () => {
  const { server, editor, agent } = await start()
  const diff = (path: string) => ({ type: 'diff', path, oldText: 'a', newText: 'b' })
  const toolCall = { toolCallId: 'a', kind: 'edit', title: 'Edit', content: [diff('/w/README.md')] }
  const params = { sessionId: 's1', toolCall, options: OPTIONS }
  const add = (content: object) => agent.send(update({ sessionUpdate: 'tool_call_content_chunk', toolCallId: 'a', content }))
  agent.send({ jsonrpc: '2.0', id: 1, method: 'session/request_permission', params })
  await editor.next()
  const card = await waiting(server)
  add({ type: 'content', content: { type: 'text', text: 'I look at it.' } })
  await editor.next()
  expect((await read(server, card.id)).state).toBe('proposed')
  add(diff('/w/.github/workflows/deploy.yml'))
  const answer = await agent.message()
  expect(answer).toMatchObject(selected(1, 'no'))
  expect(answer.result._meta['countersign/reason']).toContain('the agent changed this call')
  expect((await settled(server, card.id)).state).toBe('cancelled')
})

test('a report about a call that was not allowed, is still asked about, or has ended already changes nothing', async () => {
  const { server, editor, agent } = await start()
  agent.send(request(1, { toolCallId: 'a', command: 'npm publish' }))
  await editor.next()
  const card = await waiting(server)
  agent.send(ended('a'))
  await editor.next()
  expect((await read(server, card.id)).state).toBe('proposed')
  await decide(server, card, { verdict: 'approve' })
  expect(await agent.message()).toMatchObject(selected(1, 'yes'))
  await editor.next()
  agent.send(ended('a'))
  expect((await settled(server, card.id)).state).toBe('succeeded')
  agent.send(update({ sessionUpdate: 'tool_call_update', toolCallId: 'a', status: 'failed', rawOutput: 'no' }))
  agent.send(ended('nobody asked'))
  agent.send(request(2, { toolCallId: 'b', command: 'npm publish' }))
  await decide(server, await waiting(server), { verdict: 'decline', reason: 'No' })
  expect(await agent.message()).toMatchObject(selected(2, 'no'))
  agent.send(ended('b'))
  agent.send(request(3, { toolCallId: 'c', command: 'npm pack' }))
  await waiting(server)
  expect((await actionsOf(server)).map(({ state }) => state)).toEqual(['proposed', 'declined', 'succeeded'])
})

test('a request that is too big, too deep or half of one is refused, and the next one is asked about', async () => {
  const { server, agent } = await start()
  const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`
  const line = JSON.stringify(request(2, { toolCallId: 'b', command: 'ls' }))
  for (const [id, odd] of [
    [1, request(1, { toolCallId: 'a', command: 'x'.repeat(20_000_000) })],
    [2, `${line.replace('"ls"', deep)}\n`],
    [3, { ...request(3, { toolCallId: 'c', command: 'ls' }), params: { sessionId: 's1', toolCall: {}, options: OPTIONS } }],
    [4, { ...request(4, { toolCallId: 'c', command: 'ls' }), params: { sessionId: 's1', toolCall: { toolCallId: {} }, options: OPTIONS } }],
    [5, { ...request(5, { toolCallId: 'c', command: 'ls' }), params: [] }],
    [6, request(6, { toolCallId: '', command: 'ls' })],
    [7, request(7, { toolCallId: '\u0000\ud800', command: 'ls\u0000\ud800' })],
  ] as const) {
    agent.send(odd)
    expect(await agent.message(), String(id)).toMatchObject({ id, result: { outcome: expect.not.objectContaining({ optionId: 'yes' }) } })
  }
  expect(await actionsOf(server)).toEqual([])
  agent.send(request(8, { toolCallId: 'd', command: 'ls' }))
  await decide(server, await waiting(server), { verdict: 'approve' })
  expect(await agent.message()).toMatchObject(selected(8, 'yes'))
})

test('what is nested too deep to be compared or stored ends neither the session nor the report of a call', async () => {
  const { server, editor, agent } = await start()
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const sendDeep = async (said: object) => {
    agent.send(`${JSON.stringify(update(said)).replace('"deep"', deep)}\n`)
    await editor.next()
  }
  agent.send(request(1, { toolCallId: 'a', command: 'ls' }))
  await editor.next()
  const card = await waiting(server)
  await sendDeep({ sessionUpdate: 'tool_call_update', toolCallId: 'b', rawInput: 'deep' })
  await sendDeep({ sessionUpdate: 'tool_call_update', toolCallId: 'b', rawInput: 'deep' })
  await decide(server, card, { verdict: 'approve' })
  expect(await agent.message()).toMatchObject(selected(1, 'yes'))
  await editor.next()
  await sendDeep({ sessionUpdate: 'tool_call_update', toolCallId: 'a', status: 'completed', rawOutput: 'deep' })
  expect((await settled(server, card.id)).state).toBe('succeeded')
  agent.send(request(2, { toolCallId: 'c', command: 'ls' }))
  await editor.next()
  await waiting(server)
  await sendDeep({ sessionUpdate: 'tool_call_update', toolCallId: 'c', rawInput: 'deep' })
  expect(await agent.message()).toMatchObject(selected(2, 'no'))
})

test('a server that takes the question and says nothing holds no refusal of the editor, and its permission does not count', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const { port } = silent.address() as AddressInfo
  const { editor, agent } = between(
    createAcpDialect(),
    { base: `http://127.0.0.1:${port}`, authorization: 'Bearer cs_x' },
    { withinMs: 1_000 },
  )
  agent.send(request(1, { toolCallId: 'a', command: 'ls' }))
  await editor.next()
  editor.send(selected(1, 'no'))
  expect(await agent.message()).toMatchObject(selected(1, 'no'))
  agent.send(request(2, { toolCallId: 'b', command: 'ls' }))
  editor.send(selected(2, 'yes'))
  expect(await agent.message()).toMatchObject(selected(2, 'no'))
})

test('a server that is restarted while people are asked keeps the question: the approval after it counts, once', async () => {
  const { server, editor, agent } = await start({ port: await freePort() }, { againMs: 1_000 })
  agent.send(request(1, { toolCallId: 'a', command: 'npm publish' }))
  await editor.next()
  const card = await waiting(server)
  for (const _ of ['once', 'twice']) await server.restart()
  expect((await waiting(server)).id).toBe(card.id)
  await decide(server, card, { verdict: 'approve' })
  expect(await agent.message()).toMatchObject(selected(1, 'yes'))
  expect(await actionsOf(server)).toHaveLength(1)
})

test('a connection that breaks while people are asked is made again; a server that does not come back is a refusal', async () => {
  let asked = 0
  const breaking = createServer((_, response) => {
    asked++
    if (asked <= 2) response.destroy()
    else response.end(JSON.stringify({ decision: asked === 3 ? 'allow' : 'deny' }))
  }).listen(0, '127.0.0.1')
  await once(breaking, 'listening')
  const { port } = breaking.address() as AddressInfo
  const { editor, agent } = between(createAcpDialect(), { base: `http://127.0.0.1:${port}`, authorization: 'Bearer cs_x' }, { againMs: 1 })
  agent.send(request(1, { toolCallId: 'a', command: 'ls' }))
  await editor.next()
  expect(await agent.message()).toMatchObject(selected(1, 'yes'))
  expect(asked).toBe(3)
  asked = -1_000
  agent.send(request(2, { toolCallId: 'b', command: 'ls' }))
  await expect.poll(() => asked).toBeGreaterThan(-1_000)
  breaking.close()
  breaking.closeAllConnections()
  expect(await agent.message()).toMatchObject(selected(2, 'no'))
})
