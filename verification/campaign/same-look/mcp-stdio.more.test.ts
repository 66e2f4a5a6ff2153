import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '@countersign/core'
import { expect, inject, onTestFinished, test } from 'vitest'
import { seededRandom } from '../../simulation/random.ts'
import { counterpart } from '../../testing/counterparts.ts'
import { startTestServer } from '../../testing/test-server.ts'
import { ASK_ALL, everyToolLooksTheSame } from './looks-the-same.ts'

const SHUFFLE = fileURLToPath(new URL('./shuffle-stdio.ts', import.meta.url))
const SEED = inject('propertySeed')

/** A published server as a program, its answers shuffled on their way. */
const shuffledProgram = (path: string, ...args: string[]) => ({
  command: process.execPath,
  args: [
    '--conditions=countersign-source',
    '--disable-warning=ExperimentalWarning',
    SHUFFLE,
    String(SEED),
    process.execPath,
    counterpart(path),
    ...args,
  ],
})

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-mcp-look-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const ANA = { name: 'Ana', entityType: 'person', observations: ['approves', 'asks'] }
const KNOWS = { from: 'Ana', to: 'Ben', relationType: 'knows' }
/** A tool that takes nothing that is drawn from its schema needs a call here. */
const MEMORY: Record<string, JsonObject> = {
  create_entities: { entities: [{ name: 'Cleo', entityType: 'person', observations: ['reads'] }] },
  create_relations: { relations: [{ from: 'Ben', to: 'Ana', relationType: 'asks' }] },
  add_observations: { observations: [{ entityName: 'Ana', contents: ['new'] }] },
  delete_entities: { entityNames: ['Ana'] },
  delete_observations: { deletions: [{ entityName: 'Ana', observations: ['asks'] }] },
  delete_relations: { relations: [KNOWS] },
  open_nodes: { names: ['Ana', 'Ben'] },
}

test('MCP over stdio: permuting the arguments of any tool or the answers of server-memory and server-filesystem asks nobody again', async () => {
  const random = seededRandom(SEED)
  const folder = temporary()
  const graph = join(temporary(), 'graph.jsonl')
  const at = (path: string) => join(folder, path)
  const files: Record<string, JsonObject> = {
    read_file: { path: at('a.txt') },
    read_text_file: { path: at('a.txt'), head: 1 },
    read_media_file: { path: at('a.png') },
    read_multiple_files: { paths: [at('a.txt'), at('b.txt')] },
    write_file: { path: at('a.txt'), content: 'two' },
    edit_file: { path: at('b.txt'), edits: [{ oldText: 'b', newText: 'c' }], dryRun: false },
    create_directory: { path: at('new') },
    list_directory: { path: folder },
    list_directory_with_sizes: { path: folder, sortBy: 'name' },
    directory_tree: { path: folder, excludePatterns: [] },
    move_file: { source: at('b.txt'), destination: at('c.txt') },
    search_files: { path: folder, pattern: '*.txt', excludePatterns: ['x'] },
    get_file_info: { path: at('a.txt') },
  }
  await using server = await startTestServer({
    environment: process.env,
    config: {
      tools: {
        memory: {
          mcp: { ...shuffledProgram('@modelcontextprotocol/server-memory/dist/index.js'), as: 'memory', env: { MEMORY_FILE_PATH: graph } },
        },
        files: { mcp: { ...shuffledProgram('@modelcontextprotocol/server-filesystem/dist/index.js', folder), as: 'filesystem' } },
      },
      policy: ASK_ALL,
    },
  })
  const agent = await server.as({ name: 'bot', kind: 'agent' })
  const contents = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) =>
      statSync(at(path)).isFile() ? `file ${path} ${readFileSync(at(path), 'utf8')}` : `folder ${path}`,
    )
  const look = { server, agent, random, drift: () => {} }
  const memory = await everyToolLooksTheSame(
    { ...look, changes: () => readFileSync(graph, 'utf8').split('\n') },
    {
      group: 'memory',
      seed: SEED,
      async renew() {
        const lines = [
          { type: 'entity', ...ANA },
          { type: 'entity', ...ANA, name: 'Ben' },
          { type: 'relation', ...KNOWS },
        ]
        writeFileSync(graph, lines.map((line) => JSON.stringify(line)).join('\n'))
        return MEMORY
      },
    },
  )
  const filesystem = await everyToolLooksTheSame(
    { ...look, changes: contents },
    {
      group: 'files',
      seed: SEED,
      async renew() {
        for (const path of readdirSync(folder)) rmSync(at(path), { recursive: true })
        mkdirSync(at('inner'))
        for (const [path, text] of Object.entries({ 'a.txt': 'one\n', 'b.txt': 'b\n', 'a.png': 'x' })) writeFileSync(at(path), text)
        return files
      },
    },
  )
  expect([memory.tools, filesystem.tools]).toEqual([9, 14])
  expect(memory.calls + filesystem.calls).toBeGreaterThan(23)
})
