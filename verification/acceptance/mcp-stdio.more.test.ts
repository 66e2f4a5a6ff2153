import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BOOTSTRAP_KEY } from '../testing/bootstrap-key.ts'
import { counterpart } from '../testing/counterparts.ts'
import { freePort } from '../testing/free-port.ts'
import { MCP_CLIENTS, type McpClient } from '../testing/mcp-clients.ts'
import { runCommandLine } from '../testing/run-command.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

const [oldest, , newest] = MCP_CLIENTS

interface Process {
  client: McpClient
  /** The console's address. */
  url: string
}

/** Starts `countersign mcp` as a client does, and waits until it prints the address of its console. */
async function startProcess(
  { connect }: (typeof MCP_CLIENTS)[number],
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<Process> {
  const told = Promise.withResolvers<string>()
  let stderr = ''
  const client = await connect({
    args: ['mcp', '--port', '0', ...args],
    environment: { PATH: process.env.PATH ?? '', COUNTERSIGN_BOOTSTRAP_KEY: BOOTSTRAP_KEY, ...environment },
    stderr(chunk) {
      stderr += chunk
      const url = /calls at (http:\S+)/.exec(stderr)?.[1]
      if (url) told.resolve(url)
    },
  })
  return { client, url: await told.promise }
}

/** Approves over the API of the process's own console. */
async function approve(url: string, actionId: string): Promise<void> {
  const response = await fetch(`${url}/api/actions/${actionId}/decision`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BOOTSTRAP_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ verdict: 'approve' }),
  })
  expect(response.status).toBe(200)
}

interface Waiting {
  actionId: string
  url: string
}

test('countersign mcp -- program: SDK 2.4.0 (2026-07-28) reads at once, and a file is written when a person approved it, once', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'work', 'a.txt')
  mkdirSync(join(folder.path, 'work'))
  writeFileSync(file, 'hello')
  const program = counterpart('@modelcontextprotocol/server-filesystem/dist/index.js')
  const own = ['--data', join(folder.path, 'data'), '--', process.execPath, program, join(folder.path, 'work')]
  const { client, url } = await startProcess(newest, own)
  await using _ = client
  expect(client.protocolVersion()).toBe('2026-07-28')
  // Its program may still be starting.
  await expect.poll(async () => (await client.tools()).map(({ name }) => name)).toContain('write_file')
  const annotations = new Map((await client.tools()).map((tool) => [tool.name, tool.annotations?.readOnlyHint]))
  expect([annotations.get('read_text_file'), annotations.get('write_file')]).toEqual([true, false])
  expect(JSON.stringify(await client.call('read_text_file', { path: file }))).toContain('hello')

  const asked = Promise.withResolvers<string>()
  const writing = client.call('write_file', { path: file, content: 'bye' }, { onprogress: ({ message = '' }) => asked.resolve(message) })
  const actionId = /act_\w+/.exec(await asked.promise)?.[0] ?? ''
  expect(readFileSync(file, 'utf8')).toBe('hello')
  await approve(url, actionId)
  expect((await writing).isError).toBeUndefined()
  // If the approval came late, the first answer only said that the action waits; this one has the result in any case.
  expect((await client.call('countersign_wait', { actionId, seconds: 50 })).isError).toBeUndefined()
  expect(readFileSync(file, 'utf8')).toBe('bye')

  // A second window of the same host.
  const second = await runCommandLine(['mcp', '--port', '0', ...own], { PATH: process.env.PATH ?? '' })
  expect(second).toMatchObject({ code: 1, stdout: '' })
  expect(second.stderr).toContain(`another client or window already has this running, with its data in ${join(folder.path, 'data')}`)
})

test('countersign mcp -- program keeps its data apart from the database that DATABASE_URL or COUNTERSIGN_DATA names, and its program may still use that', async () => {
  using folder = temporaryFolder()
  const program = counterpart('@modelcontextprotocol/server-filesystem/dist/index.js')
  const installation = {
    HOME: folder.path,
    COUNTERSIGN_DATA: join(folder.path, 'team'),
    DATABASE_URL: 'postgres://127.0.0.1:9/team',
    DATABASE_DIRECT_URL: 'postgres://127.0.0.1:9/team',
    COUNTERSIGN_AUDIT_KEY_FILE: join(folder.path, 'audit.key'),
    COUNTERSIGN_AUDIT_HEAD_FILE: join(folder.path, 'audit.head'),
    COUNTERSIGN_INSTANCE_FILE: join(folder.path, 'instance'),
  }
  const { client } = await startProcess(newest, ['--env', 'DATABASE_URL', '--', process.execPath, program, folder.path], installation)
  await using _ = client
  await expect.poll(async () => (await client.tools()).map(({ name }) => name)).toContain('write_file')
  expect(readdirSync(folder.path)).toEqual(['.countersign'])
  const [own = ''] = readdirSync(join(folder.path, '.countersign'))
  expect(existsSync(join(folder.path, '.countersign', own, 'countersign.db'))).toBe(true)
})

test('countersign mcp --config: a host runs two configurations at once, each with data of its own, and the same one only once', async () => {
  using folder = temporaryFolder()
  const configured = (name: string, tool: string) => {
    const file = join(folder.path, name)
    const routes = { baseUrl: 'http://127.0.0.1:1', tools: { [tool]: { method: 'GET', path: '/' } } }
    writeFileSync(file, JSON.stringify({ tools: { shop: { prefix: false, routes } } }))
    return ['--config', file]
  }
  const environment = { PATH: process.env.PATH ?? '', HOME: folder.path }
  const [orders, stock] = [configured('orders.json', 'readOrders'), configured('stock.json', 'readStock')]
  // A host starts every command in the same folder.
  const { client: first } = await startProcess(newest, orders, environment)
  await using _ = first
  const { client: second } = await startProcess(newest, stock, environment)
  await using __ = second
  const namesOf = async (client: McpClient) => (await client.tools()).map(({ name }) => name)
  expect([await namesOf(first), await namesOf(second)]).toEqual([
    expect.arrayContaining(['readOrders']),
    expect.arrayContaining(['readStock']),
  ])
  const again = await runCommandLine(['mcp', '--port', '0', ...stock], environment)
  expect(again).toMatchObject({ code: 1, stdout: '' })
  expect(again.stderr).toContain('another client or window already has this running')
})

test('countersign mcp --server: SDK 1.32.2 (2025-11-25) has the tools of a running server, and is told when it is gone', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 7 } }))
  const server = await startTestServer({ config: { tools: toolsOf(target), gateway: { waitSeconds: 0 } } })
  const { key, principal } = await server.admin.post('/api/keys', { name: 'bot', kind: 'agent' })
  await using client = await oldest.connect({
    args: ['mcp', '--server', server.url],
    environment: { COUNTERSIGN_KEY: key },
    stderr: () => undefined,
  })
  const asked = await client.call('keyed', { what: 'a' })
  const { actionId, url } = asked.structuredContent as unknown as Waiting
  expect(url).toBe(`${server.url}/actions/${actionId}`)
  expect(await server.admin.get(`/api/actions/${actionId}`)).toMatchObject({ state: 'proposed', requestedBy: { id: principal.id } })
  await server.admin.post(`/api/actions/${actionId}/decision`, { verdict: 'approve' })
  expect(await client.call('countersign_wait', { actionId, seconds: 50 })).toMatchObject({ structuredContent: { id: 7 } })
  expect(target.writes).toHaveLength(1)
  await server[Symbol.asyncDispose]()
  await expect(client.call('look', { what: 'a' })).rejects.toThrow(/did not answer: .* is not lost/)
})

test('countersign mcp --server: a call that is taken back withdraws its action on the server', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 7 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target), gateway: { waitSeconds: 50 } } })
  const { key } = await server.admin.post('/api/keys', { name: 'bot', kind: 'agent' })
  await using client = await oldest.connect({
    args: ['mcp', '--server', server.url],
    environment: { COUNTERSIGN_KEY: key },
    stderr: () => undefined,
  })
  const takeBack = new AbortController()
  const progress = Promise.withResolvers<void>()
  const call = client.call('keyed', { what: 'a' }, { signal: takeBack.signal, onprogress: () => progress.resolve() })
  await progress.promise
  takeBack.abort()
  await expect(call).rejects.toThrow()
  await expect
    .poll(async () => (await server.admin.get('/api/actions')).items)
    .toMatchObject([{ state: 'cancelled', error: { kind: 'withdrawn' } }])
})

test('countersign mcp --server: a client hears why the server refuses it, and why it cannot be reached', async () => {
  const [, client] = MCP_CLIENTS
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json' } } },
    scripts: { talk: [{ text: 'Hi' }] },
  })
  const { key } = await server.makeKey({ name: 'cursor', kind: 'agent', roles: ['agent'] })
  const connect = (args: readonly string[]) =>
    client.connect({ args: ['mcp', ...args], environment: { PATH: process.env.PATH ?? '', COUNTERSIGN_KEY: key }, stderr: () => undefined })
  await expect(connect(['--server', server.url, '--agent', 'night'])).rejects.toThrow(
    `Countersign at ${server.url} refused this: the key of cursor is for the agent cursor, not for night: leave "agent" out, or use another key.`,
  )
  await expect(connect(['--server', `http://127.0.0.1:${await freePort()}`])).rejects.toThrow(
    /did not answer: .*ECONNREFUSED[^A]*\. Start it, or correct --server\.$/,
  )
})

test('countersign mcp says in words what it needs, and nothing on standard output', async () => {
  const noKey = await runCommandLine(['mcp', '--server', 'http://127.0.0.1:1'])
  expect(noKey).toMatchObject({ code: 1, stdout: '' })
  expect(noKey.stderr).toContain('COUNTERSIGN_KEY')
})

test('countersign mcp --server sends a key to another machine over https only', async () => {
  const start = (server: string) => runCommandLine(['mcp', '--server', server], { COUNTERSIGN_KEY: 'cs_agent_key' })
  const refused = (why: string) => ({ code: 1, stdout: '', stderr: `countersign: ${why}\n` })
  expect(await start('http://approve.example.com')).toEqual(refused('the key would go to approve.example.com unencrypted: use https'))
  expect(await start('approve')).toEqual(refused('--server must be an http:// or https:// address'))
})

test('countersign mcp --config refuses an agent that the configuration does not have before it starts, and ends what it opened', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'countersign.json')
  const program = counterpart('@modelcontextprotocol/server-filesystem/dist/index.js')
  const tools = { files: { mcp: { command: process.execPath, args: [program, folder.path] } } }
  writeFileSync(join(folder.path, 'talk.json'), JSON.stringify({ steps: [{ text: 'Hello.' }] }))
  const agents = { desk: { model: 'scripted/talk.json' }, stock: { model: 'scripted/talk.json' } }
  const start = (document: object) => {
    writeFileSync(file, JSON.stringify(document))
    const data = join(folder.path, 'data')
    return runCommandLine(['mcp', '--port', '0', '--config', file, '--data', data, '--agent', 'nope'])
  }
  const refused = (why: string) => ({ code: 1, stdout: '', stderr: `countersign: --agent: ${why}\n` })
  expect(await start({ agents, tools })).toEqual(refused('there is no agent nope; there is desk, stock'))
  expect(await start({ tools })).toEqual(refused('there is no agent nope: no agents are configured'))
  expect(existsSync(join(folder.path, 'data'))).toBe(false)
})
