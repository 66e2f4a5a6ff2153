import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { openConfig } from '../../packages/server/src/config/index.ts'
import { openTools } from '../../packages/toolkit/src/open-tools.ts'
import { MCP_CLIENTS } from '../testing/mcp-clients.ts'
import { agentKey, changingSource, linkClient } from '../testing/mcp-gateway.ts'
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
