import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { Action, JsonObject } from '@countersign/core'
import { expect, onTestFinished, test } from 'vitest'
import { postHook } from '../../packages/server/src/cli/connect/post-hook.ts'
import { createBridge } from '../../packages/server/src/cli/opencode/bridge.ts'
import { createOpencodeApi } from '../../packages/server/src/cli/opencode/opencode-api.ts'
import { decide, settled, waiting } from '../testing/decisions.ts'
import { freePort } from '../testing/free-port.ts'
import { runCommandLine } from '../testing/run-command.ts'
import { startTestServer } from '../testing/test-server.ts'

// With the messages of opencode 1.18.33, as it sent them; `npm run test:agents` drives the program itself.

const FOLDER = '/home/ana/shop'
const DENY = { name: 'no deploys', match: { tool: 'host.shell', when: 'args.command.contains("deploy")' }, verdict: 'deny' as const }

/** A stand-in for `opencode serve`, with permissions that the test asks for. */
async function startOpencode() {
  const pending = new Map<string, JsonObject>()
  const parts = new Map<string, object>()
  const replies: { id: string; reply: string; message?: string }[] = []
  const changed = { ...Promise.withResolvers<void>() }
  const failing = new Set<string>()
  const answer = (response: ServerResponse, status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const server = createServer(async (request, response) => {
    const { url = '', method, headers } = request
    if (headers.authorization !== `Basic ${Buffer.from('opencode:pw').toString('base64')}`) return answer(response, 401, {})
    const [, first, id = '', , message = ''] = url.split('/')
    if (first === 'permission' && method === 'GET') return answer(response, 200, [...pending.values()])
    if (first === 'permission') {
      const body = (await json(request)) as { reply: string; message?: string }
      if (failing.delete(id)) return response.destroy()
      if (!pending.delete(id)) return answer(response, 404, {})
      replies.push({ id, ...body })
      changed.resolve()
      return answer(response, 200, true)
    }
    if (message) return answer(response, 200, { info: {}, parts: [parts.get(message)] })
    return answer(response, 200, { id, directory: FOLDER })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    replies,
    /** The connection breaks at the next reply to this permission. */
    breakAt: (id: string) => failing.add(id),
    /** Opencode waits for a permission of a call. */
    wait(id: string, permission: string, tool: string, input: JsonObject) {
      const call = { messageID: `msg_${id}`, callID: `call_${id}` }
      parts.set(call.messageID, { type: 'tool', sessionID: 's1', callID: call.callID, tool, state: { status: 'running', input } })
      const asked = { id, sessionID: 's1', permission, patterns: ['*'], metadata: {}, always: ['*'], tool: call }
      pending.set(id, asked)
      return { type: 'permission.asked', properties: asked }
    },
    /** The call of a message has another id: it needs more than one permission. */
    name(message: string, callID: string) {
      parts.set(message, { ...parts.get(message), callID })
    },
    /** Somebody replies in opencode. */
    replied(id: string, reply: string) {
      pending.delete(id)
      return { type: 'permission.replied', properties: { sessionID: 's1', requestID: id, reply } }
    },
    async nextReply() {
      await changed.promise
      Object.assign(changed, Promise.withResolvers<void>())
      return replies.at(-1)
    },
  }
}

const bridgeTo = (opencode: { url: string }, at: { base: string; authorization: string }) =>
  createBridge({
    opencode: createOpencodeApi(opencode.url, { OPENCODE_SERVER_PASSWORD: 'pw' }),
    complain() {},
    againMs: 100,
    post: (body, signal) =>
      postHook({ server: at, path: '/hooks/opencode?limit=600&again=true', body, withinMs: 60_000, ...(signal && { signal }) }),
  })

async function start(flags = {}) {
  const server = await startTestServer({ config: { tools: { host: { 'coding-agent': {} } }, policy: { rules: [DENY] } }, flags })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { key } = await server.makeKey({ name: 'ana opencode', kind: 'agent', agent: 'opencode', roles: ['agent'] })
  const opencode = await startOpencode()
  return { server, opencode, bridge: bridgeTo(opencode, { base: server.url, authorization: `Bearer ${key}` }) }
}

const part = (id: string, state: JsonObject) => ({
  type: 'message.part.updated',
  properties: { part: { type: 'tool', sessionID: 's1', callID: `call_${id}`, tool: 'bash', state } },
})

test('an address that opencode cannot have, and a password that would go out unencrypted, are refused at the start', async () => {
  const run = (address: string, more: Record<string, string> = {}) =>
    runCommandLine(['opencode', address], { COUNTERSIGN_KEY: 'cs_test', ...more })
  expect(await run('localhost:4096')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the address of opencode must be an http:// or https:// address, not "localhost:4096"'),
  })
  expect(await run('http://example.org:4096', { OPENCODE_SERVER_PASSWORD: 'secret' })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the password of opencode would go to example.org:4096 unencrypted: use https'),
  })
})

test('what waited before is asked about once, an approval replies for one call, and the report ends the action', async () => {
  const { server, opencode, bridge } = await start()
  const asked = opencode.wait('p1', 'bash', 'bash', { command: 'npm publish', description: 'Publishes' })
  await bridge.catchUp()
  bridge.take(asked)
  const card = await waiting(server)
  expect(card).toMatchObject({ description: 'Run npm publish', arguments: { host: 'opencode', folder: FOLDER }, toolCallId: 'call_p1' })
  await decide(server, card, { verdict: 'approve' })
  expect(await opencode.nextReply()).toEqual({ id: 'p1', reply: 'once' })
  bridge.take(opencode.replied('p1', 'once'))
  bridge.take(part('p1', { status: 'completed', output: 'published', metadata: { exit: 0 } }))
  expect(await settled(server, card.id)).toMatchObject({
    state: 'succeeded',
    result: { ranBy: 'opencode', report: { output: 'published' } },
  })
  expect(opencode.replies).toHaveLength(1)
})

test('a server that is restarted while people are asked keeps the question, and an approval after it counts', async () => {
  const { server, opencode, bridge } = await start({ port: await freePort() })
  bridge.take(opencode.wait('p1', 'bash', 'bash', { command: 'npm publish' }))
  const card = await waiting(server)
  await server.restart()
  expect((await waiting(server)).id).toBe(card.id)
  await decide(server, card, { verdict: 'approve' })
  expect(await opencode.nextReply()).toEqual({ id: 'p1', reply: 'once' })
  expect(opencode.replies).toHaveLength(1)
})

test('a reply that does not reach opencode is made again: the call does not wait for ever, and runs once', async () => {
  const { server, opencode, bridge } = await start()
  opencode.breakAt('p1')
  opencode.breakAt('p2')
  bridge.take(opencode.wait('p1', 'bash', 'bash', { command: 'npm publish' }))
  const card = await waiting(server)
  await decide(server, card, { verdict: 'approve' })
  expect(await opencode.nextReply()).toEqual({ id: 'p1', reply: 'once' })
  bridge.take(part('p1', { status: 'completed', output: 'published', metadata: { exit: 0 } }))
  expect(await settled(server, card.id)).toMatchObject({ state: 'succeeded', attempt: 1 })
  bridge.take(opencode.wait('p2', 'bash', 'bash', { command: 'npm deploy' }))
  expect(await opencode.nextReply()).toMatchObject({ id: 'p2', reply: 'reject' })
  expect(opencode.replies).toHaveLength(2)
})

test('answered in opencode first, the card is closed as answered elsewhere and opencode gets no second reply', async () => {
  const { server, opencode, bridge } = await start()
  for (const [id, reply, words] of [
    ['p1', 'once', 'allowed'],
    ['p2', 'always', 'allowed'],
    ['p3', 'reject', 'declined'],
  ] as const) {
    bridge.take(opencode.wait(id, 'bash', 'bash', { command: `npm publish ${id}` }))
    const card = await waiting(server)
    bridge.take(opencode.replied(id, reply))
    expect(JSON.stringify(await settled(server, card.id))).toContain(`answered elsewhere: it was ${words}`)
  }
  expect(opencode.replies).toEqual([])
})

test('an approval that opencode takes no more is not one that ran: the card says that it was declined there', async () => {
  const { server, opencode, bridge } = await start()
  bridge.take(opencode.wait('p1', 'bash', 'bash', { command: 'npm publish' }))
  const card = await waiting(server)
  // The event of the reply comes after the decision.
  const late = opencode.replied('p1', 'reject')
  await decide(server, card, { verdict: 'approve' })
  bridge.take(late)
  const { state, attempt } = await settled(server, card.id)
  expect(['failed', 'cancelled']).toContain(state)
  expect(attempt).toBeLessThanOrEqual(1)
  expect(opencode.replies).toEqual([])
})

test('denied, declined, unknown: the words reach the model; a permission that is about more than the call is a card of its own', async () => {
  const { server, opencode, bridge } = await start()
  bridge.take(opencode.wait('p1', 'bash', 'bash', { command: 'npm run deploy' }))
  expect(await opencode.nextReply()).toMatchObject({ id: 'p1', reply: 'reject' })
  bridge.take(opencode.wait('p2', 'external_directory', 'read', { filePath: '/etc/passwd' }))
  const card = await waiting(server)
  expect(card).toMatchObject({ tool: 'host.other', arguments: { hostTool: 'external_directory', input: { tool: 'read' } } })
  await decide(server, card, { verdict: 'decline', reason: 'Not on a Friday' })
  expect(await opencode.nextReply()).toMatchObject({ id: 'p2', reply: 'reject', message: expect.stringContaining('Not on a Friday') })
})

test('a call with two permissions is two cards, and its report ends both', async () => {
  const { server, opencode, bridge } = await start()
  const input = { command: 'cp a /tmp/b' }
  const cards: Action[] = []
  for (const permission of ['external_directory', 'bash']) {
    const asked = opencode.wait(permission, permission, 'bash', input)
    const { tool } = asked.properties
    bridge.take({ ...asked, properties: { ...asked.properties, tool: { ...tool, callID: 'call_x' } } })
    opencode.name(tool.messageID, 'call_x')
    const card = await waiting(server)
    cards.push(card)
    await decide(server, card, { verdict: 'approve' })
    expect(await opencode.nextReply()).toEqual({ id: permission, reply: 'once' })
  }
  bridge.take(part('x', { status: 'completed', output: '', metadata: { exit: 1 } }))
  for (const { id } of cards) expect((await settled(server, id)).state).toBe('failed')
})

test.each<JsonObject>([
  { status: 'completed', output: 'User aborted the command', metadata: { exit: null } },
  { status: 'error', error: 'Tool execution aborted' },
])('what came of a call that was stopped while it ran is unknown: $status', async (state) => {
  const { server, opencode, bridge } = await start()
  bridge.take(opencode.wait('p1', 'bash', 'bash', { command: 'npm publish' }))
  const card = await waiting(server)
  await decide(server, card, { verdict: 'approve' })
  expect(await opencode.nextReply()).toEqual({ id: 'p1', reply: 'once' })
  bridge.take(part('p1', state))
  await expect.poll(() => server.admin.get(`/api/actions/${card.id}`)).toMatchObject({ state: 'outcome_unknown' })
})

test('nothing is allowed when the server is away, and nothing is replied to opencode when the bridge stops', async () => {
  const { server, opencode, bridge } = await start()
  const away = bridgeTo(opencode, { base: 'http://127.0.0.1:9', authorization: 'Bearer cs_x' })
  away.take(opencode.wait('p1', 'bash', 'bash', { command: 'npm publish' }))
  expect(await opencode.nextReply()).toMatchObject({ id: 'p1', reply: 'reject' })
  bridge.take(opencode.wait('p2', 'bash', 'bash', { command: 'npm publish' }))
  const card = await waiting(server)
  await bridge.end()
  expect((await settled(server, card.id)).state).toBe('cancelled')
  expect(opencode.replies).toHaveLength(1)
})

test('a permission that was answered while nobody listened withdraws its card', async () => {
  const { server, opencode, bridge } = await start()
  bridge.take(opencode.wait('p1', 'bash', 'bash', { command: 'npm publish' }))
  const card = await waiting(server)
  opencode.replied('p1', 'once')
  await bridge.catchUp()
  expect((await settled(server, card.id)).state).toBe('cancelled')
  expect(opencode.replies).toEqual([])
})
