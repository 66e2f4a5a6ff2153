import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { openConfig } from '../../packages/server/src/config/index.ts'
import { defineTool } from '../../packages/toolkit/src/define.ts'
import { openTools } from '../../packages/toolkit/src/open-tools.ts'
import type { ToolSource } from '../../packages/toolkit/src/source.ts'
import { MCP_CLIENTS } from '../testing/mcp-clients.ts'
import { startTarget, type Target, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

/** Starts a server whose calls answer at once that they wait, unless a test sets how long the server holds them. */
const startGateway = (target: Target, waitSeconds = 0): Promise<TestServer> =>
  startTestServer({
    config: {
      tools: toolsOf(target),
      policy: {
        rules: [
          { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
          { name: 'never once', match: { tool: 'unkeyed' }, verdict: 'deny' },
        ],
      },
      gateway: { waitSeconds },
    },
  })

const answering = () => startTarget(({ path }) => ({ status: 200, body: { id: 7, path } }))

/** Returns an agent's key. */
async function agentKey(server: TestServer, name = 'bot'): Promise<string> {
  return (await server.admin.post('/api/keys', { name, kind: 'agent' })).key
}

test.each(MCP_CLIENTS)(
  '$client ($speaks): what policy allows runs, what it denies does not, what it asks waits for a person',
  async ({ connect, speaks }) => {
    await using target = await answering()
    await using server = await startGateway(target)
    await using client = await connect({ url: `${server.url}/mcp`, key: await agentKey(server) })
    expect(client.protocolVersion()).toBe(speaks)

    const tools = await client.tools()
    expect(tools.map(({ name }) => name)).toEqual(['countersign_wait', 'keyed', 'unkeyed', 'look'])
    expect(tools.map(({ annotations }) => annotations?.readOnlyHint)).toEqual([true, false, false, true])

    const read = await client.call('look', { what: 'a' })
    expect(read).toMatchObject({
      structuredContent: { id: 7, path: '/look/a' },
      content: [{ type: 'text', text: '{"id":7,"path":"/look/a"}' }],
    })
    expect(read.isError).toBeUndefined()

    const denied = await client.call('unkeyed', { what: 'a' })
    expect(denied).toMatchObject({ isError: true, structuredContent: { status: 'denied' } })
    expect(JSON.stringify(denied.content)).toContain('never once')

    const asked = await client.call('keyed', { what: 'a' })
    expect(asked.isError).toBeUndefined()
    const { actionId, url } = asked.structuredContent as { actionId: string; url: string }
    expect(asked.structuredContent).toMatchObject({ status: 'waiting_for_approval', description: 'Do a' })
    expect(url).toBe(`${server.url}/actions/${actionId}`)
    expect(JSON.stringify(asked.content)).toContain(`Waiting for approval ${actionId}`)
    expect(target.writes).toEqual([])

    await server.admin.post(`/api/actions/${actionId}/decision`, { verdict: 'approve' })
    await server.settle()
    const result = await client.call('keyed', { what: 'a' })
    expect(result).toMatchObject({ structuredContent: { id: 7, path: '/keyed' } })
    expect(JSON.stringify(result.content)).toContain('carried out once')
    expect(target.writes).toHaveLength(1)
  },
)

test.each(MCP_CLIENTS)(
  '$client ($speaks): a client that shows progress is told what it waits for, and gets the result in the same call',
  async ({ connect }) => {
    await using target = await answering()
    await using server = await startGateway(target, 50)
    await using client = await connect({ url: `${server.url}/mcp`, key: await agentKey(server) })
    const told = Promise.withResolvers<string>()
    const call = client.call('keyed', { what: 'a' }, { onprogress: ({ message = '' }) => told.resolve(message) })
    const actionId = /^Waiting for approval (act_\w+)$/.exec(await told.promise)?.[1]
    await server.admin.post(`/api/actions/${actionId}/decision`, { verdict: 'approve' })
    const result = await call
    expect(result).toMatchObject({ structuredContent: { id: 7 } })
    expect(JSON.stringify(result.content)).not.toContain('made before')
  },
)

test('what people said instead of yes, and what they changed, is told in words', async () => {
  await using target = await answering()
  await using server = await startGateway(target)
  await using client = await MCP_CLIENTS[2].connect({ url: `${server.url}/mcp`, key: await agentKey(server) })
  const ask = async (what: string): Promise<string> =>
    ((await client.call('keyed', { what })).structuredContent as { actionId: string }).actionId

  const declined = await ask('no')
  await server.admin.post(`/api/actions/${declined}/decision`, { verdict: 'decline', reason: 'not on Fridays' })
  const no = await client.call('keyed', { what: 'no' })
  expect(no).toMatchObject({ isError: true, structuredContent: { status: 'declined', actionId: declined, reason: 'not on Fridays' } })
  expect(JSON.stringify(no.content)).toContain('not on Fridays')

  const edited = await ask('much')
  await server.admin.post(`/api/actions/${edited}/decision`, { verdict: 'approve', arguments: { what: 'little' } })
  await server.settle()
  const changed = JSON.stringify((await client.call('keyed', { what: 'much' })).content)
  expect(changed).toContain('changed the arguments before approving')
  expect(changed).toContain('little')
  expect(target.writes.map(({ body }) => body)).toMatchObject([{ what: 'little' }])

  const wrong = await client.call('keyed', { what: '' })
  expect(wrong).toMatchObject({ isError: true })
  expect(JSON.stringify(wrong.content)).toContain('what must have at least 1 character')
})

test('a call that is repeated after a release, whose tool takes other arguments, is told of its action; another call what is wrong with it', async () => {
  /** The tool as a release has it. */
  const release = (required: string[]) => ({
    prefix: false,
    tools: [
      defineTool({
        ...{ name: 'pay', description: 'Pays.', effect: 'write', execute: () => ({ paid: true }) },
        input: { type: 'object', properties: { to: { type: 'string' } }, required },
      }),
    ],
  })
  const tools = { shop: release(['to']) }
  await using server = await startTestServer({ config: { tools, gateway: { waitSeconds: 0 } } })
  const key = await agentKey(server)
  const calls = [{}, { meta: { 'countersign/idempotencyKey': 'order-7' } }]
  const callAll = async () => {
    await using client = await MCP_CLIENTS[2].connect({ url: `${server.url}/mcp`, key })
    const answers = []
    for (const options of calls) answers.push(await client.call('pay', { to: 'ACME' }, options))
    const wrong = await client.call('pay', { to: 7 })
    return { answers, wrong }
  }
  const { answers } = await callAll()
  const ids = answers.map(({ structuredContent }) => (structuredContent as { actionId: string }).actionId)
  await server.restart(() => {
    tools.shop = release(['to', 'currency', 'cents'])
  })
  const waiting = await callAll()
  expect(waiting.answers).toMatchObject(ids.map((actionId) => ({ structuredContent: { status: 'waiting_for_approval', actionId } })))
  // Everything that is wrong, under the name that the model knows.
  expect(waiting.wrong).toMatchObject({ isError: true })
  expect(JSON.stringify(waiting.wrong.content)).toMatch(/pay: .*currency.*cents/)
  for (const id of ids) await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'decline', reason: 'not on Fridays' })
  const declined = await callAll()
  expect(declined.answers).toMatchObject(ids.map((actionId) => ({ structuredContent: { status: 'declined', actionId } })))
  expect((await server.admin.get('/api/actions')).items).toHaveLength(2)
  // It was told what became of its action: now it is another call.
  const next = (await callAll()).answers[0]
  expect(next).toMatchObject({ isError: true })
  expect(JSON.stringify(next?.content)).toMatch(/pay: .*currency.*cents/)
  expect((await server.dump()).gateway_call).toEqual([])
})

test('a call that is repeated after a release without its tool is told of its action; another call that there is no such tool', async () => {
  /** The tool as a release has it. */
  const release = (name: string) => ({
    tools: [
      defineTool({
        ...{ name, description: 'Pays.', effect: 'write', execute: () => ({ paid: true }) },
        input: { type: 'object', properties: { to: { type: 'string' } } },
      }),
    ],
  })
  const tools = { shop: release('pay') }
  await using server = await startTestServer({ config: { tools, gateway: { waitSeconds: 0 } } })
  const keys = [await agentKey(server), await agentKey(server, 'other')] as const
  const keyed = { meta: { 'countersign/idempotencyKey': 'order-7' } }
  const callAs = async (key: string, args: object, options = {}) => {
    await using client = await MCP_CLIENTS[2].connect({ url: `${server.url}/mcp`, key })
    return await client.call('shop_pay', { ...args }, options)
  }
  const callBoth = async () => [await callAs(keys[0], { to: 'ACME' }), await callAs(keys[0], { to: 'ACME' }, keyed)]
  const ids = (await callBoth()).map(({ structuredContent }) => (structuredContent as { actionId: string }).actionId)
  expect(new Set(ids).size).toBe(2)
  const told = ids.map((id) => ({ _meta: { 'countersign/action': { id, state: 'succeeded' } }, structuredContent: { paid: true } }))
  for (const id of ids) await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  await server.settle()
  await server.restart(() => {
    tools.shop = release('payOut')
  })
  // Only the same call: of the same agent, with the same arguments, under the same key.
  for (const [key, args, options] of [
    [keys[1], { to: 'ACME' }, {}],
    [keys[1], { to: 'ACME' }, keyed],
    [keys[0], { to: 'Bolt' }, {}],
    [keys[0], { to: 'ACME' }, { meta: { 'countersign/idempotencyKey': 'order-8' } }],
  ] as const) {
    await expect(callAs(key, args, options)).rejects.toThrow('there is no tool shop_pay')
  }
  const other = await callAs(keys[0], { to: 'Bolt' }, keyed)
  expect(other).toMatchObject({ isError: true })
  expect(JSON.stringify(other.content)).toContain('was used for a request with another body')

  expect(await callBoth()).toMatchObject(told)
  // The key means the call for longer; without one it was told what became of it, and now it is another call.
  await expect(callAs(keys[0], { to: 'ACME' })).rejects.toThrow('there is no tool shop_pay')
  expect(await callAs(keys[0], { to: 'ACME' }, keyed)).toMatchObject(told[1] ?? {})
  expect((await server.admin.get('/api/actions')).items).toHaveLength(2)
  expect((await server.dump()).gateway_call).toEqual([])
})

test('an edit that was taken back and approved later is told like every other edit: with the arguments that ran', async () => {
  await using target = await answering()
  await using server = await startGateway(target)
  await using client = await MCP_CLIENTS[2].connect({ url: `${server.url}/mcp`, key: await agentKey(server) })
  const asked = await client.call('keyed', { what: 'much' })
  const { actionId } = asked.structuredContent as { actionId: string }
  const decide = (body: object) => server.admin.post(`/api/actions/${actionId}/decision`, { verdict: 'approve', ...body })
  await decide({ arguments: { what: 'little' }, startAfter: 'PT1H' })
  const { revision, digest } = await server.admin.post(`/api/actions/${actionId}/undo`)
  await decide({ revision, digest })
  await server.settle()
  const told = JSON.stringify((await client.call('keyed', { what: 'much' })).content)
  expect(told).toContain(`what was approved is revision ${revision}, with these arguments:`)
  expect(told).toContain('little')
  expect(target.writes.map(({ body }) => body)).toMatchObject([{ what: 'little' }])
})

/** Connects a client of 2026-07-28 that can open links for a person. `open` decides what happens there. */
async function linkClient(url: string, key: string, open: (link: string) => Promise<'accept' | 'decline' | 'cancel'>) {
  const client = new Client(
    { name: 'link-client', version: '1.0.0' },
    { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: 'auto' } },
  )
  client.setRequestHandler('elicitation/create', async ({ params }) => ({ action: await open('url' in params ? String(params.url) : '') }))
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${key}` } } }))
  return client
}

test('input_required: a client that shows links leads a person to the card, and gets the result when it comes back', async () => {
  await using target = await answering()
  await using server = await startGateway(target)
  const links: string[] = []
  const client = await linkClient(`${server.url}/mcp`, await agentKey(server), async (link) => {
    links.push(link)
    await server.admin.post(`/api/actions/${link.split('/').at(-1)}/decision`, { verdict: 'approve' })
    await server.settle()
    return 'accept'
  })
  const result = await client.callTool({ name: 'keyed', arguments: { what: 'a' } })
  expect(result).toMatchObject({ structuredContent: { id: 7 } })
  expect(links).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/actions\/act_\w+$/)])
  expect(target.writes).toHaveLength(1)
  await client.close()
})

test('input_required: a client that comes back when the tool is gone gets the result of what was approved', async () => {
  const { source, become } = changingSource()
  const config = {
    ...(await openConfig({ policy: { default: 'ask' } }, { environment: {}, folder: '.' })),
    tools: openTools({ own: { prefix: false, source } }),
  }
  await using server = await startTestServer({ config })
  become('pay')
  const client = await linkClient(`${server.url}/mcp`, await agentKey(server), async (link) => {
    await server.admin.post(`/api/actions/${link.split('/').at(-1)}/decision`, { verdict: 'decline', reason: 'not today' })
    become('payOut')
    return 'accept'
  })
  const told = await client.callTool({ name: 'pay', arguments: {} })
  expect(told).toMatchObject({ structuredContent: { status: 'declined' } })
  expect(JSON.stringify(told.content)).toContain('not today')
  expect((await server.admin.get('/api/actions')).items).toHaveLength(1)
  await client.close()
})

test('input_required: whatever the client says was done there, nothing is decided by it, and it is asked once', async () => {
  await using target = await answering()
  await using server = await startGateway(target)
  const key = await agentKey(server)
  const asked: string[] = []
  for (const action of ['accept', 'decline', 'cancel'] as const) {
    const client = await linkClient(`${server.url}/mcp`, key, async (link) => {
      asked.push(link)
      return action
    })
    const args = { what: action }
    expect(await client.callTool({ name: 'keyed', arguments: args })).toMatchObject({
      structuredContent: { status: 'waiting_for_approval' },
    })
    expect(await client.callTool({ name: 'keyed', arguments: args })).toMatchObject({
      structuredContent: { status: 'waiting_for_approval' },
    })
    await client.close()
  }
  expect(asked).toHaveLength(3)
  expect((await server.admin.get('/api/actions?state=proposed')).items).toHaveLength(3)
  expect((await server.dump()).vote).toEqual([])
})

test('input_required: what the client brings back is signed, for this principal, this tool and these arguments', async () => {
  await using target = await answering()
  await using server = await startGateway(target)
  const nobody = async () => 'accept' as const
  const mine = await linkClient(`${server.url}/mcp`, await agentKey(server), nobody)
  const theirs = await linkClient(`${server.url}/mcp`, await agentKey(server, 'other'), nobody)
  const paused = await mine.request(
    { method: 'tools/call', params: { name: 'keyed', arguments: { what: 'a' } } },
    { allowInputRequired: true },
  )
  const { requestState = '' } = paused as { requestState?: string }
  expect(requestState).not.toBe('')
  const bring = (client: Client, state: string, name = 'keyed', what = 'a') =>
    client.request({
      method: 'tools/call',
      params: { name, arguments: { what }, requestState: state, inputResponses: { approval: { action: 'accept' } } },
    })
  expect(await bring(mine, requestState)).toMatchObject({ structuredContent: { status: 'waiting_for_approval' } })
  await expect(bring(theirs, requestState)).rejects.toThrow(/requestState/)
  await expect(bring(mine, requestState, 'look')).rejects.toThrow(/requestState/)
  await expect(bring(mine, requestState, 'keyed', 'b')).rejects.toThrow(/requestState is of other arguments/)
  await expect(bring(mine, `${requestState.slice(0, -2)}AA`)).rejects.toThrow(/requestState/)
  await mine.close()
  await theirs.close()
})

/** Creates a source whose tools change when a test says so. */
function changingSource() {
  let names = ['first']
  let onToolsChanged = (): unknown => undefined
  const source: ToolSource = {
    kind: 'test',
    secrets: [],
    drafts: () => names.map(draftOf),
    onChange(given) {
      onToolsChanged = given
    },
    check: async () => [],
  }
  return {
    source,
    become(...next: string[]) {
      names = next
      onToolsChanged()
    },
  }
}

const draftOf = (name: string): ReturnType<ToolSource['drafts']>[number] => ({
  name,
  description: name,
  effect: 'read',
  inputSchema: { type: 'object' },
  executor: 'server',
  idempotent: true,
  timeoutMs: 1_000,
  destination: 'local',
  credential: 'none',
  definition: null,
  check: (value) => ({ ok: true, value }),
  describe: () => name,
  execute: async () => name,
})

test('clients that listen are told when there are other tools, in every version of the protocol', async () => {
  const { source, become } = changingSource()
  const config = { ...(await openConfig({}, { environment: {}, folder: '.' })), tools: openTools({ own: { prefix: false, source } }) }
  await using server = await startTestServer({ config })
  const key = await agentKey(server)
  const connection = () =>
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${key}` } } })
  for (const mode of ['legacy', 'auto'] as const) {
    become('first')
    const told = Promise.withResolvers<string[]>()
    const listChanged = {
      tools: {
        debounceMs: 0,
        onChanged: (_error: unknown, tools: { name: string }[] | null) => told.resolve((tools ?? []).map(({ name }) => name)),
      },
    }
    const client = new Client({ name: 'listener', version: '1.0.0' }, { versionNegotiation: { mode }, listChanged })
    await client.connect(connection())
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['countersign_wait', 'first'])
    // An older client opens its stream by itself, some time after it has connected.
    const again = setInterval(() => become('first', 'second'), 20)
    expect(await told.promise).toEqual(['countersign_wait', 'first', 'second'])
    clearInterval(again)
    await client.close()
  }
})

test('what a client listens on ends with its key, in every version of the protocol', async () => {
  await using target = await answering()
  await using server = await startGateway(target)
  for (const mode of ['legacy', 'auto'] as const) {
    const { key, id } = await server.makeKey({ name: 'bot', kind: 'agent' })
    const listening = Promise.withResolvers<Response>()
    const watched: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      const isListening = init?.method === 'GET' || String(init?.body).includes('subscriptions/listen')
      if (!isListening || response.status !== 200 || !response.body) return response
      const [one, other] = response.body.tee()
      listening.resolve(new Response(other))
      return new Response(one, response)
    }
    const client = new Client(
      { name: 'listener', version: '1.0.0' },
      { versionNegotiation: { mode }, listChanged: { tools: { debounceMs: 0, onChanged: () => undefined } } },
    )
    const requestInit = { headers: { authorization: `Bearer ${key}` } }
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit, fetch: watched }))
    const stream = await listening.promise
    await server.admin.send('DELETE', `/api/keys/${id}`)
    // Resolves when the server ends it.
    await stream.text()
    await client.close()
  }
})

test('a call and a wait that are held end with the key', async () => {
  await using target = await answering()
  await using server = await startGateway(target, 50)
  const { key, id } = await server.makeKey({ name: 'bot', kind: 'agent' })
  await using client = await MCP_CLIENTS[1].connect({ url: `${server.url}/mcp`, key })
  const begun = Promise.withResolvers<string>()
  const call = client.call('keyed', { what: 'a' }, { onprogress: ({ message = '' }) => begun.resolve(message) })
  const actionId = /act_\w+/.exec(await begun.promise)?.[0] ?? ''
  const waits = Promise.withResolvers<void>()
  const wait = client.call('countersign_wait', { actionId, seconds: 50 }, { onprogress: () => waits.resolve() })
  await waits.promise
  await server.admin.send('DELETE', `/api/keys/${id}`)
  for (const held of [call, wait]) {
    const answer = await held
    expect(answer).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('your credential has ended') }] })
    expect(answer.structuredContent).toBeUndefined()
  }
  expect(await server.admin.get(`/api/actions/${actionId}`)).toMatchObject({ state: 'proposed' })
})
