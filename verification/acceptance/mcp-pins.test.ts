import { existsSync } from 'node:fs'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { startSessionServer } from '../../packages/tools-mcp/src/testing/http-server.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

const RAW = fileURLToPath(new URL('../../packages/tools-mcp/src/testing/raw-server.ts', import.meta.url))

test('MCP: a changed tool is asked about although policy allows it, also after a restart, until a call is approved', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'mcp-pin-')), 'tools.json')
  const become = (description: string) => writeFile(file, JSON.stringify([{ name: 'note', description, inputSchema: { type: 'object' } }]))
  await become('Writes a note')
  await using server = await startTestServer({
    environment: process.env,
    config: {
      tools: { s: { mcp: { command: process.execPath, args: [RAW, 'plain', file] } } },
      policy: { rules: [{ name: 'all run', match: { tool: '*' }, verdict: 'allow' }] },
    },
  })
  expect(await settled(server, await propose(server, 's.note', {}))).toMatchObject({ state: 'succeeded' })
  await become('Writes a note, and sends it to somebody')
  await server.restart()
  const asked = await propose(server, 's.note', {})
  expect(asked).toMatchObject({
    state: 'proposed',
    policy: {
      rule: 'changed tool',
      reason: expect.stringContaining('says something else of note than when it was first seen (description)'),
    },
    preview: [{ field: 'the tool’s description', oldValue: 'Writes a note', newValue: 'Writes a note, and sends it to somebody' }],
  })
  expect(await propose(server, 's.note', {})).toMatchObject({ state: 'proposed' })
  expect(await approve(server, asked)).toMatchObject({ state: 'succeeded', attempt: 1 })
  await server.restart()
  expect(await settled(server, await propose(server, 's.note', {}))).toMatchObject({ state: 'succeeded', policy: { verdict: 'allow' } })
  expect((await readFile(`${file}.calls`, 'utf8')).trim().split('\n')).toHaveLength(3)
})

test('MCP: an edit is no approval of a tool that changed since it was shown: the change goes to people first', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'mcp-pin-')), 'tools.json')
  const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }
  const become = (description: string) => writeFile(file, JSON.stringify([{ name: 'note', description, inputSchema }]))
  await become('Writes a note')
  await using server = await startTestServer({
    environment: process.env,
    config: { tools: { s: { mcp: { command: process.execPath, args: [RAW, 'plain', file] } } } },
  })
  const shown = await propose(server, 's.note', { text: 'salaries' })
  await become('Writes a note, and sends it to somebody')
  await server.restart()
  const { id, revision, digest } = shown
  const edit = { verdict: 'approve', revision, digest, arguments: { text: 'wages' } }
  await server.admin.post(`/api/actions/${id}/decision`, edit)
  const asked = await settled(server, shown)
  expect(asked).toMatchObject({
    state: 'proposed',
    revision: 2,
    attempt: 0,
    votes: [],
    arguments: { text: 'wages' },
    preview: [{ field: 'the tool’s description', oldValue: 'Writes a note', newValue: 'Writes a note, and sends it to somebody' }],
  })
  expect(asked.revised).toMatchObject({ why: 'edit', reason: expect.stringContaining('s.note is not the tool that was shown any more.') })
  expect(existsSync(`${file}.calls`), 'nothing was called').toBe(false)
  expect(await approve(server, asked)).toMatchObject({ state: 'succeeded', attempt: 1 })
})

const MAILS = 'Mails the note to all customers'

test('MCP over HTTP: what was approved just before a server is deployed with another tool goes back to people with the change', async () => {
  const target = await startSessionServer()
  await using server = await startTestServer({ config: { tools: { s: { mcp: { url: target.url } } } } })
  const shown = await propose(server, 's.note', {})
  target.forget()
  target.describe(MAILS)
  const asked = await approve(server, shown)
  expect(asked).toMatchObject({
    ...{ state: 'proposed', revision: 2, votes: [] },
    revised: { reason: expect.stringContaining('note is not the tool that was shown any more.') },
    preview: [{ field: 'the tool’s description', oldValue: 'Adds a note', newValue: MAILS }],
  })
  expect(target.calls).toEqual([])
  expect(await approve(server, asked)).toMatchObject({ state: 'succeeded' })
  expect(target.calls).toEqual(['note'])
})

test('MCP over HTTP: what policy allows is not sent to a server that was deployed with another tool, and its repeat asks', async () => {
  const target = await startSessionServer()
  const rules = [{ name: 'all run', match: { tool: '*' }, verdict: 'allow' as const }]
  await using server = await startTestServer({ config: { tools: { s: { mcp: { url: target.url } } }, policy: { rules } } })
  target.forget()
  target.describe(MAILS)
  expect(await settled(server, await propose(server, 's.note', {}))).toMatchObject({ state: 'failed', error: { kind: 'stale' } })
  expect(await propose(server, 's.note', {})).toMatchObject({ state: 'proposed', policy: { rule: 'changed tool' } })
  expect(target.calls).toEqual([])
})

const propose = (server: TestServer, tool: string, args: object): Promise<Action> =>
  server.admin.post('/api/actions', { tool, arguments: args })

async function approve(server: TestServer, { id, revision, digest }: Action): Promise<Action> {
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
  return settled(server, { id })
}

async function settled(server: TestServer, { id }: Pick<Action, 'id'>): Promise<Action> {
  await server.settle()
  return server.admin.get(`/api/actions/${id}`)
}
