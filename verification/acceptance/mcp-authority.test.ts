import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { CreateKeyBody } from '@countersign/core'
import { expect, test } from 'vitest'
import { MCP_CLIENTS } from '../testing/mcp-clients.ts'
import { signInLocally } from '../testing/sign-in.ts'
import { startTarget, type Target, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

// No client can decide over MCP, whatever it sends and whoever its user is, and no unauthorized client gets in.

const [, , newest] = MCP_CLIENTS

async function openDesk(): Promise<{ server: TestServer; target: Target } & AsyncDisposable> {
  const target = await startTarget(() => ({ status: 200, body: { id: 7 } }))
  const server = await startTestServer({
    config: {
      agents: { desk: { model: 'scripted/talk.json', tools: ['look'] } },
      tools: toolsOf(target),
      gateway: { waitSeconds: 0 },
    },
    scripts: { talk: [{ text: 'Hi.' }] },
  })
  return {
    server,
    target,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}

interface Sent {
  status: number
  headers: Record<string, unknown>
  text: string
}

/** Sends a message with exactly these headers, including those that a browser forbids a page to set. */
async function send(url: string, message: unknown, headers: Record<string, string>, method = 'POST'): Promise<Sent> {
  const { promise, resolve, reject } = Promise.withResolvers<Sent>()
  const outgoing = request(url, {
    method,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
  })
  outgoing.once('error', reject)
  outgoing.once('response', async (response) =>
    resolve({ status: response.statusCode ?? 0, headers: response.headers, text: await text(response) }),
  )
  outgoing.end(method === 'POST' ? JSON.stringify(message) : undefined)
  return promise
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
}

test('no message of MCP decides anything, from an agent, a service or an admin', async () => {
  await using desk = await openDesk()
  const { server } = desk
  const admin = (await server.makeKey({ name: 'root', kind: 'person', roles: ['admin', 'approver'] })).key
  const agent = (await server.makeKey({ name: 'bot', kind: 'agent' })).key
  const service = (await server.makeKey({ name: 'hook', kind: 'service' })).key
  await using client = await newest.connect({ url: `${server.url}/mcp`, key: agent })
  const { actionId } = (await client.call('keyed', { what: 'a' })).structuredContent as unknown as { actionId: string }

  const names = ['countersign_approve', 'countersign_decide', 'approve', 'countersign_wait', 'keyed', 'decision', 'countersign/approve']
  const methods = [
    'tools/call',
    'approve',
    'actions/decide',
    'elicitation/create',
    'notifications/elicitation/complete',
    'tasks/result',
    'tasks/cancel',
  ]
  const said = { actionId, verdict: 'approve', approved: true, decision: { verdict: 'approve' }, what: 'a' }
  const answers = { approval: { action: 'accept', content: { approved: true, verdict: 'approve' } } }
  const messages = [
    ...names.map((name) => ({ method: 'tools/call', params: { name, arguments: said } })),
    ...names.map((name) => ({
      method: 'tools/call',
      params: { name, arguments: { actionId }, _meta: { approved: true, verdict: 'approve', 'countersign/approved': actionId } },
    })),
    ...methods.map((method) => ({
      method,
      params: { ...said, name: 'keyed', arguments: { what: 'a' }, inputResponses: answers, requestState: actionId },
    })),
  ].map((message, index) => ({ jsonrpc: '2.0', id: index + 1, ...message }))
  const result = { jsonrpc: '2.0', id: 1, result: { action: 'accept', content: said } }
  let sent = 0
  for (const key of [admin, agent, service]) {
    for (const message of [...messages, result, messages]) {
      const answer = await send(`${server.url}/mcp`, message, {
        authorization: `Bearer ${key}`,
        'x-http-method-override': 'PUT',
        'idempotency-key': 'x',
      })
      expect(answer.status, answer.text).toBeLessThan(500)
      sent++
    }
  }
  expect(sent).toBeGreaterThan(60)
  await server.settle()
  expect(await server.admin.get(`/api/actions/${actionId}`)).toMatchObject({ state: 'proposed', votes: [] })
  expect((await server.dump()).vote).toEqual([])
  expect(desk.target.writes).toEqual([])
})

test('a key that may not propose may look at the tools and call none', async () => {
  await using desk = await openDesk()
  for (const who of [
    { kind: 'person', roles: ['viewer'] },
    { kind: 'person', roles: ['approver'], scopes: ['decide'] },
    { kind: 'agent', scopes: [] },
  ] satisfies Partial<CreateKeyBody>[]) {
    const { key } = await desk.server.makeKey({ name: 'limited', ...who })
    await using client = await newest.connect({ url: `${desk.server.url}/mcp`, key })
    expect(await client.tools()).toHaveLength(4)
    expect((await client.call('keyed', { what: 'a' })).isError).toBe(true)
    expect((await client.call('look', { what: 'a' })).isError).toBe(true)
  }
  expect((await desk.server.admin.get('/api/actions')).items).toEqual([])
  expect((await desk.server.dump()).gateway_call).toEqual([])
})

test('without a good key there is nothing, and a signed-in console is none', async () => {
  await using desk = await openDesk()
  const { server } = desk
  const url = `${server.url}/mcp`
  const signedIn = await signInLocally(server)
  const { key, id } = await server.makeKey({ name: 'bot', kind: 'agent' })
  expect((await send(url, initialize, { authorization: `Bearer ${key}` })).status).toBe(200)
  await server.admin.send('DELETE', `/api/keys/${id}`)
  const attempts: Record<string, string>[] = [
    {},
    { ...signedIn, origin: server.url },
    { authorization: 'Bearer wrong' },
    { authorization: `Bearer ${key}` },
  ]
  for (const method of ['POST', 'GET', 'DELETE']) {
    for (const headers of attempts) {
      const answer = await send(url, initialize, headers, method)
      expect(answer.status).toBe(401)
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/)
    }
  }
})

test('a foreign Host or Origin is refused, whoever asks; its own names and addresses are not', async () => {
  await using desk = await openDesk()
  const { key } = await desk.server.makeKey({ name: 'bot', kind: 'agent' })
  const url = `${desk.server.url}/mcp`
  const { port, host } = new URL(url)
  const statusFor = async (headers: Record<string, string>) =>
    (await send(url, initialize, { authorization: `Bearer ${key}`, ...headers })).status
  for (const foreign of [
    'evil.example.com',
    `evil.example.com:${port}`,
    `localhost.evil.example.com:${port}`,
    `127.0.0.1.nip.io:${port}`,
  ]) {
    expect(await statusFor({ host: foreign }), foreign).toBe(403)
    expect(await statusFor({ host: foreign, origin: `http://${foreign}` }), foreign).toBe(403)
    expect(await statusFor({ origin: `http://${foreign}` }), foreign).toBe(403)
  }
  for (const origin of ['null', 'http://localhost:1', 'moz-extension://x', 'no address'])
    expect(await statusFor({ origin }), origin).toBe(403)
  for (const own of [host, `localhost:${port}`, `[::1]:${port}`]) {
    expect(await statusFor({ host: own }), own).toBe(200)
    expect(await statusFor({ host: own, origin: `http://${own}` }), own).toBe(200)
  }
})

test('a session is its principal’s alone, and outlives the process', async () => {
  await using desk = await openDesk()
  const { server } = desk
  const mine = (await server.makeKey({ name: 'bot', kind: 'agent' })).key
  const theirs = (await server.makeKey({ name: 'other', kind: 'agent' })).key
  const begun = await send(`${server.url}/mcp`, initialize, { authorization: `Bearer ${mine}` })
  const session = { 'mcp-session-id': String(begun.headers['mcp-session-id']), 'mcp-protocol-version': '2025-11-25' }
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
  await server.restart()
  expect((await send(`${server.url}/mcp`, list, { authorization: `Bearer ${mine}`, ...session })).status).toBe(200)
  expect((await send(`${server.url}/mcp`, list, { authorization: `Bearer ${theirs}`, ...session })).status).toBe(404)
  expect((await send(`${server.url}/mcp`, list, { authorization: `Bearer ${mine}`, 'mcp-session-id': 'made-up' })).status).toBe(404)
})

test('an agent of the configuration offers its own tools and no others', async () => {
  await using desk = await openDesk()
  const { key } = await desk.server.makeKey({ name: 'bot', kind: 'agent', agent: 'desk' })
  await using client = await newest.connect({ url: `${desk.server.url}/mcp?agent=desk`, key })
  expect((await client.tools()).map(({ name }) => name)).toEqual(['countersign_wait', 'look'])
  expect(await client.call('look', { what: 'a' })).toMatchObject({ structuredContent: { id: 7 } })
  await expect(client.call('keyed', { what: 'a' })).rejects.toThrow(/no tool keyed/)
  expect((await desk.server.admin.get('/api/actions')).items).toMatchObject([{ tool: 'look', agent: 'desk' }])
  expect((await send(`${desk.server.url}/mcp?agent=nobody`, initialize, { authorization: `Bearer ${key}` })).status).toBe(403)
  const { key: person } = await desk.server.admin.post('/api/keys', { name: 'Ana', kind: 'person', roles: ['approver'] })
  expect((await send(`${desk.server.url}/mcp?agent=nobody`, initialize, { authorization: `Bearer ${person}` })).status).toBe(404)
})
