import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Action } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import { startTarget, type Target, type TargetAnswer, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer, temporaryFolder } from '../testing/test-server.ts'

// A copy of the embedded database must not repeat what the original has executed. `copies-postgres.more.test.ts` has the tests for
// Postgres.
const isSqlite = inject('database') === 'sqlite'

interface Original extends AsyncDisposable {
  readonly target: Target
  readonly folder: string
  readonly server: TestServer
  /** Approved and not started: the limit of executions is reached. */
  readonly approved: Action[]
  /** Waiting for the target, which does not answer. */
  readonly executing: Action[]
  readonly waiting: Action
  /** Lets the target answer. */
  answer(): void
  /** Starts a server on a folder with a copy. */
  startOn(dataDir: string, flags?: { hold?: boolean; acceptCopy?: boolean }): Promise<TestServer>
}

/** Starts a server with approved, executing and waiting actions. */
async function openOriginal(): Promise<Original> {
  const stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(temporaryFolder())
  const answered = Promise.withResolvers<TargetAnswer>()
  const isFull = Promise.withResolvers<void>()
  const target = stack.use(
    await startTarget((_request, nth) => {
      if (nth === 2) isFull.resolve()
      return nth <= 2 ? answered.promise : { status: 200, body: { id: nth } }
    }),
  )
  const config = { tools: toolsOf(target) }
  const startOn = async (dataDir: string, flags = {}) =>
    stack.use(await startTestServer({ config, place: { dataDir, environment: {} }, flags }))
  // Two executions at a time; each tool takes one.
  const server = stack.use(
    await startTestServer({ config, place: { dataDir: join(folder, 'data'), environment: {} }, flags: { maxExecutions: 2 } }),
  )
  const { admin } = server
  const propose = (tool: string, what: string): Promise<Action> => admin.post('/api/actions', { tool, arguments: { what } })
  const approve = async (tool: string, what: string): Promise<Action> =>
    admin.post(`/api/actions/${(await propose(tool, what)).id}/decision`, { verdict: 'approve' })
  const executing = [await approve('keyed', 'k1'), await approve('unkeyed', 'u1')]
  await isFull.promise
  const approved = [await approve('keyed', 'k2'), await approve('unkeyed', 'u2'), await approve('unkeyed', 'u3')]
  const waiting = await propose('unkeyed', 'w1')
  return {
    target,
    folder,
    server,
    approved,
    executing,
    waiting,
    answer: () => answered.resolve({ status: 200, body: { id: 1 } }),
    startOn,
    async [Symbol.asyncDispose]() {
      answered.resolve({ status: 200, body: {} })
      await stack.disposeAsync()
    },
  }
}

/** Ways to copy the database while the original runs, each into its own folder. */
const COPIES: Record<string, (from: string, to: string) => void> = {
  'cp -r of the whole folder': (from, to) => cpSync(from, to, { recursive: true, filter: (path) => !path.endsWith('.lock') }),
  'the database file with its write-ahead log alone': (from, to) => {
    mkdirSync(to)
    for (const name of ['countersign.db', 'countersign.db-wal']) cpSync(join(from, name), join(to, name))
  },
  'VACUUM INTO': (from, to) => {
    mkdirSync(to)
    const db = new DatabaseSync(join(from, 'countersign.db'), { readOnly: true })
    db.exec(`VACUUM INTO '${join(to, 'countersign.db')}'`)
    db.close()
  },
}

const stateOf = async ({ admin }: TestServer, { id }: Action): Promise<string> => (await admin.get(`/api/actions/${id}`)).state

for (const [how, copy] of isSqlite ? Object.entries(COPIES) : []) {
  test(`a copy by ${how} starts held: it carries nothing out, and the original goes on`, async () => {
    await using original = await openOriginal()
    const { target, server, folder, approved, executing, waiting } = original
    const before = target.writes.length
    copy(join(folder, 'data'), join(folder, 'copy'))

    const held = await original.startOn(join(folder, 'copy'))
    await held.settle()
    expect(target.writes.length).toBe(before)
    expect(await held.admin.get('/api/hold')).toMatchObject({ held: true, open: { approved: 3, executing: 2, waiting: 1 } })
    for (const action of approved) expect(await stateOf(held, action)).toBe('approved')
    for (const action of executing) expect(await stateOf(held, action)).toBe('executing')

    original.answer()
    await server.settle()
    expect(target.writes.length).toBe(5)
    expect(await stateOf(server, waiting)).toBe('proposed')
    expect((await server.admin.get('/api/hold')).held).toBe(false)
  })
}

test.runIf(isSqlite)('an older database put back beside the file of its folder starts held', async () => {
  await using original = await openOriginal()
  const { server, folder, target } = original
  COPIES['VACUUM INTO']?.(join(folder, 'data'), join(folder, 'backup'))
  original.answer()
  await server.settle()
  expect(target.writes.length).toBe(5)
  await server.stop()
  // The copy replaces the content of the file, so the file keeps its inode.
  cpSync(join(folder, 'backup/countersign.db'), join(folder, 'data/countersign.db'))

  const held = await original.startOn(join(folder, 'data'))
  await held.settle()
  expect(await held.admin.get('/api/hold')).toMatchObject({ held: true, why: expect.stringContaining('older') })
  expect(target.writes.length).toBe(5)
})

test('a held server sends no head of its record to the anchor, and once it is accepted, it does', async () => {
  const arrived = Promise.withResolvers<void>()
  await using notary = await startTarget(() => {
    arrived.resolve()
    return { status: 200, body: {} }
  })
  const record = { anchor: { webhook: `${notary.url}/heads` } }
  await using server = await startTestServer({ config: { record }, flags: { hold: true } })
  // One that stops signs what is left, and sends what it signed.
  await server.restart()
  expect(notary.writes).toEqual([])
  await server.admin.post('/api/hold/accept', {})
  await arrived.promise
  expect(notary.writes[0]?.body).toMatchObject({ head: { number: expect.any(Number) } })
})

// `cp -a copy/. data/` writes into the files that are there, so they keep their identity.
test.runIf(isSqlite)('a copy of the running folder that is put back into its files after a stop starts held', async () => {
  await using original = await openOriginal()
  const { server, folder, target } = original
  const copyInto = (from: string, to: string) => execFileSync('cp', ['-a', `${join(folder, from)}/.`, join(folder, to)])
  copyInto('data', 'copy')
  original.answer()
  await server.settle()
  expect(target.writes.length).toBe(5)
  await server.stop()
  copyInto('copy', 'data')

  const held = await original.startOn(join(folder, 'data'))
  await held.settle()
  expect(await held.admin.get('/api/hold')).toMatchObject({ held: true, why: expect.stringContaining('copy') })
  expect(target.writes.length).toBe(5)
})

test.runIf(isSqlite)('a stop and start in place, and a folder that was renamed, are not held', async () => {
  await using original = await openOriginal()
  const { server, folder, target } = original
  await server.stop()
  original.answer()
  renameSync(join(folder, 'data'), join(folder, 'moved'))
  const moved = await original.startOn(join(folder, 'moved'))
  await moved.settle()
  expect((await moved.admin.get('/api/hold')).held).toBe(false)
  expect(target.writes.filter(({ body }) => JSON.stringify(body).includes('u2'))).toHaveLength(1)
})
