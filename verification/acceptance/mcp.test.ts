import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Action } from '@countersign/core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { loadConfig } from '../../packages/server/src/config/index.ts'
import { mcpStarter } from '../../packages/tools-mcp/src/starter.ts'
import { counterpart } from '../testing/counterparts.ts'
import { verify } from '../testing/decisions.ts'
import { MCP_CLIENTS } from '../testing/mcp-clients.ts'
import { agentKey } from '../testing/mcp-gateway.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/mcp/countersign.config.ts', import.meta.url))
const RAW = fileURLToPath(new URL('../../packages/tools-mcp/src/testing/raw-server.ts', import.meta.url))
const THROWING = fileURLToPath(new URL('../../packages/tools-mcp/src/testing/throwing-server.ts', import.meta.url))
const TASKS = fileURLToPath(new URL('../../packages/tools-mcp/src/testing/task-server.ts', import.meta.url))

const propose = (server: TestServer, tool: string, args: object): Promise<Action> =>
  server.admin.post('/api/actions', { tool, arguments: args })

async function approve(server: TestServer, { id, revision, digest }: Action): Promise<Action> {
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
  await server.settle()
  return server.admin.get(`/api/actions/${id}`)
}

async function settled(server: TestServer, { id }: Action): Promise<Action> {
  await server.settle()
  return server.admin.get(`/api/actions/${id}`)
}

test('MCP: the example reads notes at once, and writes one when a person says so', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'notes-'))
  vi.stubEnv('NOTES_FOLDER', folder)
  onTestFinished(() => void vi.unstubAllEnvs())
  await using server = await startTestServer({ config: await loadConfig(EXAMPLE, process.env) })
  // Its program may still be starting.
  await expect.poll(async () => (await server.admin.get('/api/sources')).items).toMatchObject([{ group: 'notes', tools: 3, away: null }])
  using stream = await server.admin.stream('/api/chat', { body: { message: 'Move the stand-up to 10:00' } })
  const { proposal: card } = await stream.next('action_proposed', ({ proposal }) => proposal.effect === 'write')
  expect(card).toMatchObject({
    tool: 'notes.write_note',
    state: 'proposed',
    description: 'Write the note team-calendar',
    destination: 'program:notes-server.mjs',
    preview: [{ field: 'content', oldValue: expect.stringContaining('at 9:30'), newValue: expect.stringContaining('at 10:00') }],
  })
  const { items } = await server.admin.get('/api/actions')
  expect(items.filter(({ effect }: Action) => effect === 'read').map(({ tool, state }: Action) => [tool, state])).toEqual([
    ['notes.read_note', 'succeeded'],
    ['notes.list_notes', 'succeeded'],
  ])
  const { id, revision, digest } = card
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
  const { message } = await stream.next('message', (data) => data.message.content.startsWith('Done'))
  expect(message.content).toBe('Done: the stand-up is at 10:00 now.')
  expect(await readFile(join(folder, 'team-calendar.md'), 'utf8')).toContain('every day at 10:00')
})

test('MCP: server-filesystem behind the gate: a file that changed meanwhile is asked about again, and written once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-gate-'))
  const path = join(folder, 'a.txt')
  await writeFile(path, 'one')
  await using server = await startTestServer({
    environment: process.env,
    config: {
      tools: {
        files: { mcp: { command: process.execPath, args: [counterpart('@modelcontextprotocol/server-filesystem/dist/index.js'), folder] } },
      },
      policy: { rules: mcpStarter('files') },
    },
  })
  expect(await settled(server, await propose(server, 'files.read_text_file', { path }))).toMatchObject({
    state: 'succeeded',
    policy: { verdict: 'allow' },
    result: { content: 'one' },
  })
  const asked = await propose(server, 'files.write_file', { path, content: 'two' })
  expect(asked).toMatchObject({
    state: 'proposed',
    risk: { level: 'medium' },
    preview: [{ field: path, oldValue: 'one', newValue: 'two' }],
  })
  await writeFile(path, 'somebody else')
  expect(await approve(server, asked)).toMatchObject({ state: 'proposed', revision: 2, preview: [{ oldValue: 'somebody else' }] })
  expect(await readFile(path, 'utf8')).toBe('somebody else')
  expect(await approve(server, await server.admin.get(`/api/actions/${asked.id}`))).toMatchObject({ state: 'succeeded', attempt: 1 })
  expect(await readFile(path, 'utf8')).toBe('two')
  const edit = await propose(server, 'files.edit_file', { path, edits: [{ oldText: 'two', newText: 'three' }] })
  expect(edit).toMatchObject({ description: `Make 1 edit in the file ${path}`, preview: [{ oldValue: 'two', newValue: 'three' }] })
  expect(await approve(server, edit)).toMatchObject({ state: 'succeeded' })
  expect(await readFile(path, 'utf8')).toBe('three')
  const absent = propose(server, 'files.edit_file', { path, edits: [{ oldText: 'nowhere', newText: 'x' }] })
  await expect(absent).rejects.toThrow(/422.*does not hold the text that is to be replaced/)
  const created = await propose(server, 'files.write_file', { path: join(folder, 'new'), content: 'x' })
  expect(created.preview).toEqual([{ field: join(folder, 'new'), newValue: 'x' }])
  const outside = await propose(server, 'files.write_file', { path: join(tmpdir(), 'outside.txt'), content: 'x' })
  expect(outside.previewError).toContain('Access denied')
  expect(await approve(server, outside)).toMatchObject({ state: 'failed', error: { kind: 'refused', retryable: false } })
})

test('MCP: a write that its server dies of has an unknown outcome, is sent once, and the server comes back', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'mcp-die-')), 'tools.json')
  await writeFile(file, JSON.stringify(['die', 'pid'].map((name) => ({ name, inputSchema: { type: 'object' } }))))
  await using server = await startTestServer({
    environment: process.env,
    config: {
      tools: { s: { mcp: { command: process.execPath, args: [RAW, 'plain', file], tools: { pid: { effect: 'read' } } } } },
      policy: { rules: mcpStarter('s') },
    },
  })
  const pid = async () => (await settled(server, await propose(server, 's.pid', {}))).result
  expect(await approve(server, await propose(server, 's.die', {}))).toMatchObject({
    state: 'outcome_unknown',
    error: { kind: 'ambiguous', message: expect.stringContaining('went away before it answered') },
  })
  await expect.poll(pid, { interval: 100 }).toEqual(expect.stringMatching(/^\d+$/))
  const calls = (await readFile(`${file}.calls`, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).name)
  expect(calls.filter((name) => name === 'die')).toEqual(['die'])
})

test.each(['late', 'cut', 'hung up'])(
  'MCP: a tool that pays and then throws the failure of its own request (%s) has an unknown outcome, is sent once, and the agent is told so',
  async (how) => {
    const ledger = join(await mkdtemp(join(tmpdir(), 'mcp-ledger-')), 'ledger')
    const args = [THROWING, ledger]
    await using server = await startTestServer({
      environment: process.env,
      config: {
        tools: { bank: { mcp: { command: process.execPath, args } } },
        policy: { rules: [{ name: 'pays', match: { tool: 'bank.pay' }, verdict: 'allow' }] },
      },
    })
    await using agent = await MCP_CLIENTS[2].connect({ url: `${server.url}/mcp`, key: await agentKey(server) })
    const told = await agent.call('bank_pay', { how })
    expect(told).toMatchObject({ isError: true, structuredContent: { status: 'outcome_unknown' } })
    const { actionId } = told.structuredContent as { actionId: string }
    expect(await server.admin.get(`/api/actions/${actionId}`)).toMatchObject({ state: 'outcome_unknown', attempt: 1 })
    // Neither the same call nor a person runs it twice before somebody has looked.
    expect(await agent.call('bank_pay', { how })).toMatchObject({ structuredContent: { status: 'outcome_unknown', actionId } })
    await expect(server.admin.post(`/api/actions/${actionId}/retry`, {})).rejects.toThrow(/409/)
    expect(await readFile(ledger, 'utf8')).toBe(`${how}\n`)
  },
)

test('MCP: a repeatable tool whose own request failed runs again with the key of the first attempt', async () => {
  const ledger = join(await mkdtemp(join(tmpdir(), 'mcp-ledger-')), 'ledger')
  const args = [THROWING, ledger]
  await using server = await startTestServer({
    environment: process.env,
    config: {
      tools: { bank: { mcp: { command: process.execPath, args, tools: { pay: { idempotent: true } } } } },
      policy: { rules: mcpStarter('bank') },
    },
  })
  const proposed = await propose(server, 'bank.pay', { how: 'cut' })
  // A failure would give the next attempt another key.
  expect(await approve(server, proposed)).toMatchObject({
    state: 'outcome_unknown',
    attempt: 3,
    idempotencyKey: proposed.idempotencyKey,
  })
})

/** Makes a program's timers run ten times faster. */
const HASTE = 'const late = setTimeout; globalThis.setTimeout = (work, ms, ...more) => late(work, ms / 10, ...more)'

test('MCP: a tool of server-everything that can only be called as a task is asked about, carried out as one, and its result is the action’s', async () => {
  const program = counterpart('@modelcontextprotocol/server-everything/dist/index.js')
  const args = ['--import', `data:text/javascript,${encodeURIComponent(HASTE)}`, program, 'stdio']
  await using server = await startTestServer({
    environment: process.env,
    config: { tools: { all: { mcp: { command: process.execPath, args } } }, policy: { rules: mcpStarter('all') } },
  })
  const asked = await propose(server, 'all.simulate-research-query', { topic: 'durable approvals', ambiguous: true })
  expect(asked).toMatchObject({ state: 'proposed', effect: 'write' })
  expect(await approve(server, asked)).toMatchObject({
    state: 'succeeded',
    attempt: 1,
    result: expect.stringContaining('# Research Report: durable approvals'),
  })
})

test('MCP: a task whose server is killed goes on, and what came of one that asked for something is found when a person looks again', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'mcp-task-')), 'tasks.json')
  await using server = await startTestServer({
    environment: process.env,
    config: {
      tools: { s: { mcp: { command: process.execPath, args: [TASKS, file] } } },
      policy: { rules: mcpStarter('s') },
    },
  })
  const killed = await propose(server, 's.job', { statuses: ['working', 'working', 'completed'], dieAt: 1 })
  expect(await approve(server, killed)).toMatchObject({ state: 'succeeded', attempt: 1, result: 'did job' })
  const stuck = await propose(server, 's.job', { statuses: ['input_required', 'working', 'working', 'working', 'completed'] })
  expect(await approve(server, stuck)).toMatchObject({
    state: 'outcome_unknown',
    error: { kind: 'ambiguous', message: expect.stringContaining('asked for something in the middle of the task') },
  })
  await verify(server, stuck.id)
  expect(await settled(server, stuck)).toMatchObject({ state: 'succeeded', attempt: 1, result: 'did job' })
  const calls = (await readFile(`${file}.log`, 'utf8')).split('\n').filter((method) => method === 'tools/call')
  expect(calls).toHaveLength(2)
})
