import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import example from '../../examples/workspace/countersign.config.ts'
import { makeWork } from '../../examples/workspace/make-work.ts'
import { openConfig } from '../../packages/server/src/config/index.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'
import { gitIn, tempFolder } from '../testing/workspace.ts'

const FOLDER = fileURLToPath(new URL('../../examples/workspace', import.meta.url))
const NOTES = 'notes/orders.md'

/** Starts the example in the test's own folder. */
async function startEditor(root: string): Promise<TestServer> {
  const tools = { repo: { workspace: { root: makeWork(root), author: { name: 'Editor', email: 'editor@example.com' } } } }
  return startTestServer({ config: await openConfig({ ...example, tools }, { environment: { PATH: process.env.PATH }, folder: FOLDER }) })
}

async function approve(server: TestServer, { id, revision, digest }: Action): Promise<Action> {
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
  await server.settle()
  return server.admin.get(`/api/actions/${id}`)
}

/** Applies a diff to bytes with git. */
function applied(bytes: Buffer, diff: string): Buffer {
  using folder = tempFolder({ [NOTES]: bytes })
  execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: folder.root, input: diff })
  return readFileSync(join(folder.root, NOTES))
}

test('an agent opens a branch, edits a file and commits through the gate; the diff on the card is what lands, and a file that changed is asked about again', async () => {
  using folder = tempFolder()
  await using server = await startEditor(folder.root)
  const read = () => readFileSync(join(folder.root, NOTES))
  using stream = await server.admin.stream('/api/chat', { body: { message: 'Fix the typo in the notes' } })
  const next = async (tool: string): Promise<Action> =>
    (await stream.next('action_proposed', ({ proposal }) => proposal.tool === tool)).proposal

  expect((await next('repo.search')).policy.verdict).toBe('allow')
  const branch = await next('repo.createBranch')
  expect(branch.preview?.[0]).toEqual({ field: 'branch', newValue: 'fix/typo' })
  expect(gitIn(folder.root, 'branch', '--show-current')).toBe('main')
  expect(await approve(server, branch)).toMatchObject({ state: 'succeeded' })
  expect(gitIn(folder.root, 'branch', '--show-current')).toBe('fix/typo')

  const edit = await next('repo.editFile')
  const first = edit.preview?.[0]?.diff ?? ''
  expect(first).toContain('-An order is recieved')
  // Another person writes while the card waits: approving the old diff writes nothing.
  folder.write(NOTES, `\uFEFF${read()}Somebody else was here,\r\nwithout a last line end`)
  const before = read()
  const again = await approve(server, edit)
  expect(again).toMatchObject({
    state: 'proposed',
    revision: 2,
    revised: { why: 'target', reason: expect.stringContaining(NOTES) },
    votes: [],
  })
  expect(read().equals(before)).toBe(true)
  const second = again.preview?.[0]?.diff ?? ''
  expect(second).not.toBe(first)
  expect(await approve(server, again)).toMatchObject({ state: 'succeeded', result: { path: NOTES, did: 'changed' } })
  expect(read().equals(applied(before, second))).toBe(true)
  expect(read().toString()).toBe(before.toString().replace('recieved', 'received'))

  const commit = await next('repo.commit')
  const shown = commit.preview?.find(({ field }) => field === NOTES)?.diff ?? ''
  const committed = execFileSync('git', ['-C', folder.root, 'show', `HEAD:${NOTES}`])
  expect(applied(committed, shown).equals(read())).toBe(true)
  expect(await approve(server, commit)).toMatchObject({ state: 'succeeded' })
  await stream.next('done')
  expect(execFileSync('git', ['-C', folder.root, 'show', `fix/typo:${NOTES}`]).equals(read())).toBe(true)
  expect(gitIn(folder.root, 'log', '-1', '--format=%an%n%B')).toContain(`Editor\nSpell received\n\nCountersign-Action: ${commit.id}`)
  expect(gitIn(folder.root, 'status', '--porcelain')).toBe('')
  expect(gitIn(folder.root, 'rev-list', '--count', 'main')).toBe('1')
})

test('what is declined changes nothing, and the agent is told', async () => {
  using folder = tempFolder()
  await using server = await startEditor(folder.root)
  using stream = await server.admin.stream('/api/chat', { body: { message: 'Fix the typo in the notes' } })
  const { proposal } = await stream.next('action_proposed', ({ proposal }) => proposal.tool === 'repo.createBranch')
  const { id, revision, digest } = proposal
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'decline', revision, digest })
  await stream.next('done')
  expect(gitIn(folder.root, 'branch', '--format=%(refname:short)')).toBe('main')
})
