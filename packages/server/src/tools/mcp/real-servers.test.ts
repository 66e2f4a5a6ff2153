import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { counterpart } from '../../testing/counterparts.ts'
import { openSource } from './testing/open-source.ts'

const node = process.execPath
const signal = new AbortController().signal

test('server-filesystem: reads read, a write has words and shows the file as it is and as it would be', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-files-'))
  const path = join(folder, 'a.txt')
  await writeFile(path, 'one\n')
  const { tools, tool, call } = await openSource({
    command: node,
    args: [counterpart('@modelcontextprotocol/server-filesystem/dist/index.js'), folder],
  })
  expect(
    tools
      .all()
      .filter(({ effect }) => effect === 'write')
      .map(({ name }) => name),
  ).toEqual(['s.write_file', 's.edit_file', 's.create_directory', 's.move_file'])
  expect(await call('read_text_file', { path })).toEqual({ content: 'one\n' })
  const write = tool('write_file')
  expect(write.describe({ path, content: 'two\n' })).toBe(`Write 4 characters to the file ${path}`)
  expect(await write.preview?.({ path, content: 'two\n' }, signal)).toMatchObject({
    fields: [{ field: path, oldValue: 'one\n', newValue: 'two\n' }],
  })
  expect(await tool('write_file').preview?.({ path: join(folder, 'new'), content: 'x' }, signal)).toMatchObject({
    fields: [{ field: join(folder, 'new'), newValue: 'x' }],
  })
  const edits = { path, edits: [{ oldText: 'one', newText: 'three' }], dryRun: false }
  expect(await tool('edit_file').preview?.(edits, signal)).toMatchObject({ fields: [{ oldValue: 'one\n', newValue: 'three\n' }] })
  await call('edit_file', edits)
  expect(await readFile(path, 'utf8')).toBe('three\n')
  await expect(call('edit_file', edits)).rejects.toMatchObject({ kind: 'refused', retryable: false })
  await expect(call('read_text_file', { path: '/etc/passwd' })).rejects.toThrow(/says that it failed: Access denied/)
})

test('server-memory: what is to be forgotten is shown', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-memory-'))
  const { tool, call } = await openSource({
    command: node,
    args: [counterpart('@modelcontextprotocol/server-memory/dist/index.js')],
    env: { MEMORY_FILE_PATH: join(folder, 'm.jsonl') },
  })
  const entities = [{ name: 'Ana', entityType: 'person', observations: ['approves'] }]
  expect(tool('create_entities').describe({ entities })).toBe('Remember Ana')
  await call('create_entities', { entities })
  expect(await tool('delete_entities').preview?.({ entityNames: ['Ana'] }, signal)).toMatchObject({
    fields: [{ field: 'Ana', oldValue: ['approves'] }],
  })
  expect(tool('delete_entities').risk?.level).toBe('high')
  expect(await call('search_nodes', { query: 'Ana' })).toMatchObject({ entities: [{ name: 'Ana' }] })
})

test('server-everything: pictures are left out with a note, get-env is asked about, a tool that is only a task is not there', async () => {
  const { source, tools, tool, call } = await openSource({
    command: node,
    args: [counterpart('@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
  })
  expect(await call('echo', { message: 'hello' })).toBe('Echo: hello')
  expect(await call('get-sum', { a: 2, b: 3 })).toBe('The sum of 2 and 3 is 5.')
  expect(await call('get-structured-content', { location: 'Chicago' })).toMatchObject({ temperature: expect.anything() })
  expect(await call('get-tiny-image', {})).toMatchObject({
    notes: [expect.stringMatching(/^an image was left out \(image\/png, \d+ bytes\)$/)],
  })
  expect(tool('get-env').effect).toBe('write')
  expect(tool('echo').description).toBe('The MCP server s says: Echoes back the input string')
  expect(tools.byName('s.simulate-research-query')).toBeUndefined()
  const found = await source.check()
  expect(found[0]).toMatchObject({ level: 'ok', message: expect.stringContaining('protocol 2025-11-25') })
})

test('git-mcp-server: history is read, what rewrites or publishes it is high risk', async () => {
  const { tools } = await openSource({ command: node, args: [counterpart('@cyanheads/git-mcp-server/dist/index.js')] })
  const high = tools.all().filter(({ risk }) => risk?.level === 'high')
  expect(high.map(({ name }) => name).sort()).toEqual(
    ['clean', 'clear_working_dir', 'push', 'rebase', 'remote', 'reset'].map((name) => `s.git_${name}`),
  )
  expect(tools.all().filter(({ effect }) => effect === 'read')).toHaveLength(8)
})
