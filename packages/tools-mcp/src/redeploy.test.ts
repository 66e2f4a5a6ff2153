import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { freePort } from '../../../verification/testing/free-port.ts'
import { startModernServer, startSessionServer } from './testing/http-server.ts'
import { memoryPins, type OpenedSource, openSource } from './testing/open-source.ts'

const RAW = fileURLToPath(new URL('./testing/raw-server.ts', import.meta.url))
const MAILS = 'Mails the note to all customers'
const CHANGED = expect.stringContaining('something else of note')
const STALE = { kind: 'stale', message: 'note is not the tool that was shown any more. Nothing was sent.' }

/** Returns a call of the tool as it is now, for later: an approved call is made with the tool that was shown. */
function callFor({ tool }: OpenedSource, name: string) {
  const { execute } = tool(name)
  const context = { actionId: 'act_1', idempotencyKey: 'act_1.1', principalId: undefined, signal: new AbortController().signal }
  return () => execute({}, context)
}

const times = (methods: string[], method: string) => methods.filter((one) => one === method).length

test.each(['write', 'read'] as const)(
  'over HTTP a call (%s) in a session that was made anew waits for the tools of the new server, and a tool that changed is not called',
  async (effect) => {
    const server = await startSessionServer()
    const opened = await openSource({ url: server.url, tools: { note: { effect } } })
    const call = callFor(opened, 'note')
    server.forget()
    server.describe(MAILS)
    await expect(call()).rejects.toMatchObject(STALE)
    expect(server.calls).toEqual([])
    // It goes back to people at once, with the change.
    expect(opened.tool('note').caution).toEqual(CHANGED)
    expect(await opened.call('note', {})).toBe('did note')
  },
)

test('a program that was started anew is not called with what was decided about its older version', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'mcp-anew-')), 'tools.json')
  const become = (description: string) =>
    writeFile(file, JSON.stringify(['note', 'die'].map((name) => ({ name, description, inputSchema: { type: 'object' } }))))
  await become('Adds a note')
  const opened = await openSource({ command: process.execPath, args: [RAW, 'plain', file] })
  const call = callFor(opened, 'note')
  await become(MAILS)
  await expect(opened.call('die', {})).rejects.toMatchObject({ kind: 'ambiguous' })
  // While the program is away nothing is sent either.
  await expect.poll(() => call().catch(({ kind, message }) => ({ kind, message })), { interval: 20 }).toEqual(STALE)
  expect(opened.tool('note').caution).toEqual(CHANGED)
  expect((await readFile(`${file}.calls`, 'utf8')).trim().split('\n')).toHaveLength(1)
})

test('in protocol 2026-07-28 a server that comes back with another tool is found out without a call', async () => {
  const server = await startModernServer({ port: await freePort() })
  const opened = await openSource({ url: server.url })
  await server.away()
  server.describe(MAILS)
  await server.back()
  await opened.hears('mcp.tools_changed')
  expect(opened.tool('note').caution).toEqual(CHANGED)
  expect(server.calls).toEqual([])
})

test('in protocol 2026-07-28 notices come again after the connection was cut, and what changed meanwhile is found out', async () => {
  const server = await startModernServer()
  const opened = await openSource({ url: server.url })
  server.cut()
  server.describe(MAILS)
  await opened.hears('mcp.tools_changed')
  expect(opened.tool('note').caution).toEqual(CHANGED)
  expect(times(server.methods, 'server/discover')).toBe(1)
  server.describe('Adds a note')
  server.notify()
  await expect.poll(() => opened.tool('note').caution).toBeUndefined()
})

test('over HTTP a server without sessions and notices that is deployed with another tool is found out by listing again', async () => {
  const server = await startSessionServer(undefined, { hasSessions: false, list: (nth) => (nth === 2 ? 500 : 200) })
  const opened = await openSource({ url: server.url }, memoryPins(), { pace: { relistMs: 50 } })
  server.describe(MAILS)
  // The second list fails, and is tried again.
  await opened.hears('mcp.tools_changed')
  expect(opened.tool('note').caution).toEqual(CHANGED)
  expect(times(server.methods, 'initialize')).toBe(1)
})

test('over HTTP the tools are not listed again while a list is under way, and one that says the same tells nobody', async () => {
  const held = Promise.withResolvers<number>()
  const server = await startSessionServer(undefined, { list: (nth) => (nth === 2 ? held.promise : 200) })
  const { tools, call, said, hears } = await openSource({ url: server.url }, memoryPins(), { pace: { relistMs: 1 } })
  let changes = 0
  tools.onChange(() => changes++)
  await expect.poll(() => times(server.methods, 'tools/list')).toBe(2)
  expect(await call('note', {})).toBe('did note')
  expect(times(server.methods, 'tools/list')).toBe(2)
  held.resolve(200)
  await expect.poll(() => times(server.methods, 'tools/list')).toBeGreaterThan(4)
  expect(changes).toBe(0)
  expect(said.filter((line) => line.startsWith('mcp.connected'))).toHaveLength(1)
  server.describe(MAILS)
  await hears('mcp.tools_changed')
  expect(changes).toBe(1)
})

test('a server that sends notices without a pause is listed nevertheless', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'mcp-babble-')), 'tools.json')
  const become = (...names: string[]) => writeFile(file, JSON.stringify(names.map((name) => ({ name, inputSchema: { type: 'object' } }))))
  await become('babble')
  const { tools, call } = await openSource({ command: process.execPath, args: [RAW, 'plain', file] })
  await call('babble', {})
  await become('babble', 'late')
  await expect.poll(() => tools.byName('s.late')).toBeDefined()
})
