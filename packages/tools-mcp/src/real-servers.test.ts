import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { counterpart } from '../../../verification/testing/counterparts.ts'
import { openSource } from './testing/open-source.ts'

const node = process.execPath
const signal = new AbortController().signal

async function openMemory() {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-memory-'))
  return openSource({
    command: node,
    args: [counterpart('@modelcontextprotocol/server-memory/dist/index.js')],
    env: { MEMORY_FILE_PATH: join(folder, 'm.jsonl') },
  })
}

test('server-memory: what is to be forgotten is shown', async () => {
  const { tool, call } = await openMemory()
  const entities = [{ name: 'Ana', entityType: 'person', observations: ['approves'] }]
  expect(tool('create_entities').describe({ entities })).toBe('Remember Ana')
  await call('create_entities', { entities })
  expect(await tool('delete_entities').preview?.({ entityNames: ['Ana'] }, signal)).toMatchObject({
    fields: [{ field: 'Ana', oldValue: ['approves'] }],
  })
  expect(tool('delete_entities').risk?.level).toBe('high')
  expect(await call('search_nodes', { query: 'Ana' })).toMatchObject({ entities: [{ name: 'Ana' }] })
})

test('server-memory: the relations that are forgotten with an entity are shown, and the decision rests on them', async () => {
  const { tool, call } = await openMemory()
  const look = () => tool('delete_entities').preview?.({ entityNames: ['Ana'] }, signal)
  const entities = ['Ana', 'Ben'].map((name) => ({ name, entityType: 'person', observations: [] }))
  await call('create_entities', { entities })
  const before = await look()
  await call('create_relations', { relations: [{ from: 'Ben', relationType: 'reports to', to: 'Ana' }] })
  const shown = await look()
  expect(shown?.fields).toEqual([
    { field: 'Ana', oldValue: [] },
    { field: 'relations', oldValue: ['Ben reports to Ana'] },
  ])
  expect(shown?.precondition).not.toEqual(before?.precondition)
})

test('server-memory: what is too large to be read whole is not shown as if nothing were forgotten', async () => {
  const { tool, call } = await openMemory()
  await call('create_entities', { entities: [{ name: 'Ana', entityType: 'person', observations: ['x'.repeat(300_000)] }] })
  await expect(tool('delete_entities').preview?.({ entityNames: ['Ana'] }, signal)).rejects.toMatchObject({
    kind: 'refused',
    message: 'What is to be forgotten could not be read whole.',
  })
})

test('server-everything: pictures arrive, get-env is asked about, a tool that is only a task is one', async () => {
  const { source, tool, call } = await openSource({
    command: node,
    args: [counterpart('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
  })
  expect(await call('echo', { message: 'hello' })).toBe('Echo: hello')
  expect(await call('get-sum', { a: 2, b: 3 })).toBe('The sum of 2 and 3 is 5.')
  expect(await call('get-structured-content', { location: 'Chicago' })).toMatchObject({ temperature: expect.anything() })
  expect(await call('get-tiny-image', {})).toMatchObject({
    content: expect.stringContaining('image'),
    media: [{ type: 'image', mimeType: 'image/png', data: expect.stringMatching(/^iVBOR/) }],
  })
  expect(tool('get-env').effect).toBe('write')
  expect(tool('echo').description).toBe('The MCP server s says: Echoes back the input string')
  expect(tool('simulate-research-query')).toMatchObject({ effect: 'write', timeoutMs: 600_000 })
  const found = await source.check()
  expect(found[0]).toMatchObject({ level: 'ok', message: expect.stringContaining('protocol 2025-11-25') })
})

test('server-playwright: its reads are offered without the argument that names a file to write, and a call with it is refused', async () => {
  const program = { command: node, args: [counterpart('@playwright/mcp/cli.js'), '--headless', '--isolated'] }
  const { tool } = await openSource({ ...program, tools: { browser_network_requests: { effect: 'write' } } })
  for (const [name, args] of [
    ['browser_snapshot', { depth: 3 }],
    ['browser_console_messages', { level: 'error' }],
  ] as const) {
    const { effect, inputSchema, check } = tool(name)
    expect(effect).toBe('read')
    expect(JSON.stringify(inputSchema)).not.toMatch(/filename|save/i)
    expect(check(args)).toEqual({ ok: true, value: args })
    expect(check({ ...args, filename: 'countersign.yaml' })).toEqual({
      ok: false,
      issues: [{ path: '/filename', message: expect.stringMatching(/^filename is not known here: .* write a file.*effect: write/) }],
    })
  }
  expect(tool('browser_snapshot').inputSchema).toMatchObject({ properties: { target: {}, depth: {} }, additionalProperties: false })
  // The configuration says that it writes: its calls ask, and it is offered whole.
  expect(tool('browser_network_requests')).toMatchObject({ effect: 'write', inputSchema: { properties: { filename: {} } } })
  expect(tool('browser_network_requests').check({ static: false, filename: 'requests.log' })).toMatchObject({ ok: true })
})

test.each([
  ['@playwright/mcp/cli.js', '--headless', '--isolated', '--caps=vision,pdf,devtools,network,storage,testing,config'],
  ['@cyanheads/git-mcp-server/dist/index.js'],
  ['@modelcontextprotocol/server-filesystem/dist/index.js', tmpdir()],
  ['@modelcontextprotocol/server-memory/dist/index.js'],
  ['@modelcontextprotocol/server-everything/dist/index.js', 'stdio'],
])('%s: nothing that counts as a read by itself has an argument that says it writes', async (path, ...args) => {
  const { tools } = await openSource({ command: node, args: [counterpart(path), ...args] })
  const readers = tools.all().filter(({ effect }) => effect === 'read')
  expect(readers.length).toBeGreaterThan(2)
  const writing = readers.filter(({ inputSchema }) => /\b(?:saves?|writes?|stores?)\b/i.test(JSON.stringify(inputSchema)))
  expect(writing.map(({ name }) => name)).toEqual([])
})

test('server-filesystem: what the card shows of an edit is what the file then holds, whatever its line ends and outer spaces', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-edits-'))
  const path = join(folder, 'a.txt')
  const program = counterpart('@modelcontextprotocol/server-filesystem/dist/index.js')
  const { tool, call } = await openSource({ command: node, args: [program, folder] })
  const edit = (oldText: string, newText: string) => ({ oldText, newText })
  for (const [before, edits] of [
    ['one\r\ntwo\r\n', [edit('two', '2')]],
    ['one\r\ntwo\r\n', [edit('one\ntwo', '1\r\n2')]],
    ['one\r\ntwo\nthree\r\n', [edit('one\r\ntwo', '1'), edit('1\nthree', '3')]],
    ['one\rtwo\r\r\n', [edit('two', '2\r')]],
    ['one\ntwo', [edit('two', '2')]],
    // Without exactly this text, the server takes lines that differ in their outer spaces.
    ['  one\n\ttwo\n', [edit('one \ntwo', 'if (x) {\n  1\n}')]],
    ['    b()\n', [edit('b()  ', 'c()')]],
  ] as const) {
    await writeFile(path, before)
    const shown = await tool('edit_file').preview?.({ path, edits: [...edits] }, signal)
    await call('edit_file', { path, edits: [...edits] })
    expect(shown?.fields).toEqual([{ field: path, oldValue: before, newValue: await readFile(path, 'utf8') }])
  }
})

test('server-filesystem: whatever is edited, the card shows what the file then holds, and refuses what the server refuses', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-any-edit-'))
  const path = join(folder, 'a.txt')
  const program = counterpart('@modelcontextprotocol/server-filesystem/dist/index.js')
  const { tool, call } = await openSource({ command: node, args: [program, folder] })
  const anyText = fc
    .array(fc.constantFrom('a', 'b', ' ', '  ', '\t', '\n', '\r\n', '$&'), { minLength: 1, maxLength: 8 })
    .map((parts) => parts.join(''))
  const seen = { edited: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(anyText, anyText, anyText, async (before, oldText, newText) => {
      await writeFile(path, before)
      const edits = [{ oldText, newText }]
      const shown = await tool('edit_file')
        .preview?.({ path, edits }, signal)
        .catch((error: unknown) => error)
      const done = await call('edit_file', { path, edits }).then(
        () => true,
        () => false,
      )
      if (!done) expect(shown).toMatchObject({ kind: 'refused', impossible: true })
      else expect(shown).toMatchObject({ fields: [{ oldValue: before, newValue: await readFile(path, 'utf8') }] })
      seen[done ? 'edited' : 'refused']++
    }),
    { numRuns: 150 },
  )
  expect(seen.edited).toBeGreaterThan(10)
  expect(seen.refused).toBeGreaterThan(10)
})

test('server-filesystem: a file that is too large to be read whole is not shown in part', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-large-'))
  const path = join(folder, 'a.txt')
  const program = counterpart('@modelcontextprotocol/server-filesystem/dist/index.js')
  const { tool } = await openSource({ command: node, args: [program, folder] })
  await writeFile(path, `${'x'.repeat(300_000)}end`)
  const tooLarge = { kind: 'refused', message: `The file ${path} is too large to be shown.` }
  await expect(tool('write_file').preview?.({ path, content: 'y' }, signal)).rejects.toMatchObject(tooLarge)
  const another = { path: `${folder}/ENOENT/../a.txt`, content: 'y' }
  await expect(tool('write_file').preview?.(another, signal)).rejects.toMatchObject({
    message: expect.stringMatching(/too large to be shown\.$/),
  })
  await expect(tool('edit_file').preview?.({ path, edits: [{ oldText: 'end', newText: 'e' }] }, signal)).rejects.toMatchObject(tooLarge)
})
