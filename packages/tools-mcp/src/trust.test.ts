import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '@countersign/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { effectOf } from './draft.ts'
import { memoryPins, openSource } from './testing/open-source.ts'

const RAW = fileURLToPath(new URL('./testing/raw-server.ts', import.meta.url))
const reads = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true, ...more },
})

async function serverOf(...tools: JsonObject[]) {
  const file = join(await mkdtemp(join(tmpdir(), 'mcp-trust-')), 'tools.json')
  const become = (...next: JsonObject[]) => writeFile(file, JSON.stringify(next))
  await become(...tools)
  return { become, mcp: { command: process.execPath, args: [RAW, 'plain', file] } }
}

test('hints of reading count only where the configuration trusts them, and doctor names whose word is taken', async () => {
  const tools = [reads('list'), reads('drop_table'), reads('sync', { destructiveHint: true }), { ...reads('note'), annotations: {} }]
  const { mcp } = await serverOf(...tools)
  const plain = await openSource(mcp)
  expect(plain.tools.all().map(({ effect }) => effect)).toEqual(['write', 'write', 'write', 'write'])
  expect((await plain.source.check()).map(({ message }) => message).join()).not.toContain('trusted')
  const trusting = await openSource({ ...mcp, trustReadOnlyHints: true, tools: { note: { effect: 'read' } } })
  expect(trusting.tools.all().map(({ effect }) => effect)).toEqual(['read', 'write', 'write', 'read'])
  expect((await trusting.source.check())[1]).toEqual({
    level: 'note',
    message: 'The MCP server s is trusted to know that these only read: list',
  })
})

test('a write that says later that it reads stays a write until a person accepts it', async () => {
  const { become, mcp } = await serverOf({ ...reads('list'), annotations: {} })
  const pins = memoryPins()
  const first = await openSource({ ...mcp, trustReadOnlyHints: true }, pins)
  expect(first.tool('list').effect).toBe('write')
  await first.source.close()
  await become(reads('list'))
  const later = await openSource({ ...mcp, trustReadOnlyHints: true }, pins)
  expect(later.tool('list')).toMatchObject({ effect: 'write', caution: expect.stringContaining('annotations, readOnlyHint') })
  await later.call('list', {})
  expect(later.tool('list').effect).toBe('read')
})

/** As chrome-devtools-mcp 1.11.0 lists it: it writes the bodies to the files that its last two arguments name. */
const GET_NETWORK_REQUEST = {
  name: 'get_network_request',
  annotations: { readOnlyHint: false },
  inputSchema: {
    type: 'object',
    properties: { reqid: { type: 'number' }, requestFilePath: { type: 'string' }, responseFilePath: { type: 'string' } },
    additionalProperties: false,
  },
}

test('a built-in read whose server says that it is none asks, unless the configuration says that it reads', async () => {
  const { become, mcp } = await serverOf(GET_NETWORK_REQUEST, reads('list_pages'))
  const pins = memoryPins()
  const plain = await openSource({ ...mcp, as: 'chrome-devtools' }, pins)
  expect(plain.tools.all().map(({ effect }) => effect)).toEqual(['write', 'read'])
  expect(plain.tool('get_network_request')).toMatchObject({ inputSchema: { properties: { responseFilePath: {} } } })
  await plain.source.close()
  await become({ ...GET_NETWORK_REQUEST, annotations: { readOnlyHint: true } }, reads('list_pages', { readOnlyHint: false }))
  const later = await openSource({ ...mcp, as: 'chrome-devtools', tools: { list_pages: { effect: 'read' } } }, pins)
  expect(later.tools.all().map(({ effect }) => effect)).toEqual(['write', 'read'])
  await later.call('get_network_request', {})
  expect(later.tool('get_network_request').effect).toBe('read')
})

test('a built-in read is never offered with an argument that names a file to write, also where the configuration says that it reads', async () => {
  const { mcp } = await serverOf(GET_NETWORK_REQUEST, {
    ...reads('get_console_message'),
    inputSchema: { type: 'object', required: ['filePath'] },
  })
  const { tool } = await openSource({ ...mcp, as: 'chrome-devtools', tools: { get_network_request: { effect: 'read' } } })
  expect(tool('get_network_request')).toMatchObject({ effect: 'read', inputSchema: { properties: { reqid: { type: 'number' } } } })
  expect(JSON.stringify(tool('get_network_request').inputSchema)).not.toContain('FilePath')
  expect(tool('get_network_request').check({ reqid: 1, responseFilePath: '/srv/countersign.yaml' })).toMatchObject({
    ok: false,
    issues: [{ path: '/responseFilePath' }],
  })
  // A schema that allows arguments that it does not name allows no file either.
  expect(tool('get_console_message').inputSchema).toEqual({ type: 'object', required: [] })
  expect(tool('get_console_message').check({ msgid: 1 })).toMatchObject({ ok: true })
  expect(tool('get_console_message').check({ msgid: 1, filePath: 'a' })).toMatchObject({ ok: false })
})

/** As @playwright/mcp lists it: it writes the screenshot to the file that is named. */
const TAKE_SCREENSHOT = {
  ...reads('browser_take_screenshot'),
  inputSchema: { type: 'object', properties: { type: { type: 'string' }, filename: { type: 'string' } }, additionalProperties: false },
}

test('a read that the built-in list does not have is not offered with an argument that names a file either, where its server writes such files', async () => {
  const { mcp } = await serverOf(TAKE_SCREENSHOT)
  for (const settings of [{ trustReadOnlyHints: true }, { tools: { browser_take_screenshot: { effect: 'read' as const } } }]) {
    const { tool } = await openSource({ ...mcp, as: 'playwright', ...settings })
    const { effect, inputSchema, check } = tool('browser_take_screenshot')
    expect([effect, Object.keys(inputSchema.properties as JsonObject)]).toEqual(['read', ['type']])
    expect(check({ type: 'png' })).toMatchObject({ ok: true })
    expect(check({ filename: '/srv/countersign.yaml' })).toMatchObject({ ok: false, issues: [{ path: '/filename' }] })
  }
  // As a write it asks, and what the arguments of an unknown server name is not known.
  expect((await openSource({ ...mcp, as: 'playwright' })).tool('browser_take_screenshot').check({ filename: 'a.png' })).toMatchObject({
    ok: true,
  })
  const unknown = (await openSource({ ...mcp, trustReadOnlyHints: true })).tool('browser_take_screenshot')
  expect([unknown.effect, unknown.check({ filename: 'a.png' }).ok]).toEqual(['read', true])
})

test('without trust no hint makes a read, and with it only a plain readOnlyHint does', () => {
  const hint = fc.option(fc.oneof(fc.boolean(), fc.constantFrom('true', 1, null)), { nil: undefined })
  fc.assert(
    fc.property(hint, hint, fc.boolean(), fc.constantFrom('list', 'drop_all'), (readOnlyHint, destructiveHint, trust, name) => {
      const annotations = JSON.parse(JSON.stringify({ readOnlyHint, destructiveHint }))
      const definition = { name, title: '', description: '', inputSchema: {}, annotations, taskSupport: 'forbidden' }
      const effect = effectOf({ known: undefined, settings: {}, trustReadOnlyHints: trust }, { definition, hash: '' })
      expect(effect === 'read').toBe(trust && readOnlyHint === true && destructiveHint !== true && name === 'list')
    }),
    { numRuns: 300 },
  )
})

test('doctor and the log tell what a server that does not come up wrote on its error output, without our secrets', async () => {
  const script = "process.stderr.write('no DATABASE_URL is set\\n'); process.exit(1)"
  const { source, hears } = await openSource({ command: process.execPath, args: ['-e', script] })
  const found = await source.check()
  expect(found[0]).toMatchObject({ level: 'problem', message: expect.stringContaining('The MCP server s is away') })
  expect(found).toContainEqual({ level: 'note', message: 's wrote on its error output: no DATABASE_URL is set' })
  await hears(/^mcp\.disconnected .*no DATABASE_URL is set/)
})

test('a server that has not answered yet is starting, not away, and doctor waits for it as long as it was told to', async () => {
  const silent = await openSource({ command: process.execPath, args: [RAW, 'silent'], startWithinMs: 0 })
  await silent.hears('mcp.starting')
  expect(silent.said.join()).not.toContain('mcp.disconnected')
  const stop = new AbortController()
  const checking = silent.source.check(undefined, stop.signal)
  stop.abort()
  expect((await checking)[0]).toEqual({ level: 'problem', message: 'The MCP server s is still starting: it has not answered yet' })

  const slow = await openSource({ command: process.execPath, args: [RAW, 'noise'], startWithinMs: 0 })
  expect((await slow.source.check(undefined, new AbortController().signal))[0]).toMatchObject({ level: 'ok' })
})
