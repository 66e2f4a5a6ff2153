import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Action, JsonObject } from '@countersign/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChildServer, startChildServer } from '../testing/child-server.ts'
import { temporaryFolder } from '../testing/test-server.ts'
import { type TempFolder, tempFolder } from '../testing/workspace.ts'

let folder: TempFolder
let data: ReturnType<typeof temporaryFolder>
let server: ChildServer
beforeAll(async () => {
  data = temporaryFolder()
  folder = tempFolder({
    // 1 MB of lines on which a pattern takes long, and none of which matches.
    'lines.txt': `${'x'.repeat(9_999)}y${'x'.repeat(9_990)}\n`.repeat(50),
    [`${'a'.repeat(250)}.txt`]: 'x',
  })
  const configFile = join(data.path, 'countersign.json')
  const tools = { repo: { workspace: { root: folder.root } } }
  writeFileSync(configFile, JSON.stringify({ agents: { desk: { model: 'scripted/talk.json', tools: ['repo.*'] } }, tools }))
  writeFileSync(join(data.path, 'talk.json'), JSON.stringify({ steps: [{ text: 'Hi' }] }))
  server = await startChildServer({ configFile, dataDir: join(data.path, 'data'), environment: { PATH: process.env.PATH ?? '' } })
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  folder?.[Symbol.dispose]()
  data?.[Symbol.dispose]()
})

const read = (id: string, query = ''): Promise<Action> => server.admin.get(`/api/actions/${id}${query}`)

const ATTACKS: [what: string, args: JsonObject][] = [
  ['a pattern that is as large as the lines', { pattern: 'x[xy]{1000}[zw]' }],
  ['a glob that backtracks', { text: 'x', files: `${'*a'.repeat(20)}b` }],
]

test.each(ATTACKS)('a search with %s is ended, and the server answers while it runs', async (_, args) => {
  const search = async (): Promise<{ id: string; wasRunning: boolean }> => {
    const { id } = await server.admin.post('/api/actions', { tool: 'repo.search', arguments: args })
    await expect.poll(async () => (await read(id)).state).not.toBe('approved')
    let state: Action['state'] = 'approved'
    for (let asked = 0; asked < 5; asked++) state = (await read(id)).state
    return { id, wasRunning: state === 'executing' }
  }
  // The search was still running while the server gave these answers. A busy machine may take longer for them than a search may last.
  let searched = await search()
  while (!searched.wasRunning) searched = await search()
  const { id } = searched
  const ended = await read(id, '?wait=60&until=settled')
  expect(ended).toMatchObject({
    state: 'failed',
    error: { kind: 'refused', message: expect.stringContaining('took longer than 5 seconds') },
  })
})
