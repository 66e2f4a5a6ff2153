import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { copyFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Action, AuditEntryView, AuditSealView } from '@countersign/core'
import { expect, test } from 'vitest'
import { verifyExport } from '../../packages/server/src/audit/index.ts'
import type { ApiClient } from '../testing/api-client.ts'
import { deleteHeadsFrom, type Forger, openForger, readRows, rewriteRow } from '../testing/forge-record.ts'
import { runCommandLine } from '../testing/run-command.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { BOOTSTRAP_KEY, startTestServer, type TestServer, temporaryFolder } from '../testing/test-server.ts'

// The attacker can write to the database, and has neither the signing key nor the file beside it. On both databases.

interface Place extends AsyncDisposable {
  readonly keyFile: string
  readonly dataDir: string
  start(flags?: { hold?: boolean }): Promise<TestServer>
}

async function openPlace(): Promise<Place> {
  const stack = new AsyncDisposableStack()
  const { path: folder } = stack.use(temporaryFolder())
  const { environment } = stack.use(await openServerDatabase())
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const keyFile = join(folder, 'record.pem')
  const dataDir = join(folder, 'data')
  const options = { config: { tools: toolsOf(target) }, environment: { COUNTERSIGN_AUDIT_KEY_FILE: keyFile } }
  return {
    keyFile,
    dataDir,
    start: async (flags) => stack.use(await startTestServer({ ...options, place: { dataDir, environment }, flags })),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const propose = ({ admin }: TestServer, what: string): Promise<Action> =>
  admin.post('/api/actions', { tool: 'unkeyed', arguments: { what } })

const newest = async (client: ApiClient): Promise<AuditEntryView | undefined> => (await client.get('/api/audit?limit=1')).items[0]

/** Resolves when a signed head covers every row. */
async function untilSealed({ admin }: TestServer): Promise<void> {
  while ((await newest(admin))?.sealed === false) await new Promise(setImmediate)
}

async function verdictOf({ admin }: TestServer, ...keys: string[]) {
  const lines = (await admin.send('GET', '/api/audit/export')).text.trimEnd().split('\n')
  return verifyExport(lines, keys)
}

type Forge = (forger: Forger, actions: readonly Action[]) => Promise<unknown>

/**
 * Starts a server with three sealed actions and stops it unless the forger works beside it, runs the forger, and starts a server on the
 * result.
 */
async function forged(place: Place, forge: Forge, isLive = false): Promise<TestServer> {
  const server = await place.start()
  const actions: Action[] = []
  for (const what of ['first', 'second', 'third']) {
    actions.push(await propose(server, what))
    await untilSealed(server)
  }
  if (!isLive) await server.stop()
  {
    await using forger = await openForger(server.database)
    await forge(forger, actions)
  }
  const again = isLive ? server : await place.start()
  await propose(again, 'later')
  return again
}

const rowOf = async (forger: Forger, action: Action | undefined) =>
  (await readRows(forger)).find((row) => row.action_id === action?.id && row.kind === 'proposed')?.id ?? 0

/** Resolves with the answer of `/readyz` once it says that the record differs from what was signed. */
async function untilDegraded({ admin }: TestServer): Promise<{ status: string; why: string }> {
  for (;;) {
    const ready = await admin.get('/readyz')
    if (ready.status === 'degraded') return ready
  }
}

const kindsOf = async ({ admin }: TestServer, kind: string): Promise<AuditEntryView[]> => (await admin.get(`/api/audit?kind=${kind}`)).items

/** Checks what comes with every refusal to seal, and that an accepted record is sealed again. */
async function isRefusedAndAccepted(
  server: TestServer,
  why: RegExp,
  accept: (server: TestServer) => Promise<void> = async ({ admin }) => {
    expect(await admin.post('/api/audit/accept', { reason: 'Ana looked into it' })).toMatchObject({ problem: null })
  },
): Promise<void> {
  const { admin } = server
  expect((await untilDegraded(server)).why).toMatch(why)
  const { publicKey } = await admin.get('/api/audit/key')
  const seal: AuditSealView = await admin.get('/api/audit/seal')
  expect(seal.problem).toMatchObject({ why: expect.stringMatching(why) })
  expect((await admin.send('GET', '/metrics')).text).toContain('countersign_record_problem 1\n')
  expect(server.errors.join('')).toMatch(/record\.problem/)
  // Decisions still count and are recorded, but no head covers their rows.
  const action = await propose(server, 'while it is not sealed')
  expect(await admin.post(`/api/actions/${action.id}/decision`, { verdict: 'decline' })).toMatchObject({ state: 'declined' })
  // It is told first, and then recorded.
  await expect
    .poll(() => kindsOf(server, 'record_problem'))
    .toMatchObject([{ actor: { kind: 'system' }, sealed: false, data: { why: expect.stringMatching(why) } }])
  expect((await verdictOf(server, publicKey)).problem).toBeDefined()

  const appa = await server.as({ name: 'Appa', kind: 'person', roles: ['approver'] })
  expect((await appa.send('POST', '/api/audit/accept', { body: { reason: 'mine' } })).status).toBe(403)
  expect((await admin.send('POST', '/api/audit/accept', { body: {} })).status).toBe(400)
  await accept(server)
  expect(await admin.get('/readyz')).toEqual({ status: 'ok' })
  expect((await admin.send('GET', '/metrics')).text).toContain('countersign_record_problem 0\n')
  expect(await kindsOf(server, 'record_accepted')).toMatchObject([
    { actor: { kind: 'person' }, sealed: true, data: { reason: 'Ana looked into it', why: expect.stringMatching(why) } },
  ])
  await propose(server, 'afterwards')
  await untilSealed(server)
  const after: AuditSealView = await admin.get('/api/audit/seal')
  expect(after.problem).toBe(null)
  expect(after.head?.number).toBeGreaterThan(Number(seal.head?.number))
}

test('a sealed row that was rewritten, with all hashes recomputed and its heads deleted, is not signed again', async () => {
  await using place = await openPlace()
  const server = await forged(place, async (forger, [, second]) => {
    const row = await rowOf(forger, second)
    await rewriteRow(forger, row, (data) => ({ ...data, arguments: { what: 'forged' } }))
    await deleteHeadsFrom(forger, row)
  })
  await isRefusedAndAccepted(server, /signed head \d+ of the record.*database ends with head \d+/, async ({ url }) => {
    const command = (key: string) =>
      runCommandLine(['audit', 'accept', '--reason', 'Ana looked into it', '--server', url], { COUNTERSIGN_KEY: key })
    expect(await command('nobody')).toMatchObject({ code: 1, stderr: expect.stringContaining('the server answered 401') })
    const stdout = expect.stringMatching(/^Accepted: .*\nThe record is sealed again, from head \d+ on/)
    expect(await command(BOOTSTRAP_KEY)).toMatchObject({ code: 0, stdout })
    expect(await command(BOOTSTRAP_KEY)).toMatchObject({ code: 0, stdout: expect.stringContaining('There is nothing to accept') })
  })
  // The next head keeps the acceptance in the record.
  const { publicKey } = await server.admin.get('/api/audit/key')
  expect(await verdictOf(server, publicKey)).toMatchObject({
    problem: undefined,
    gaps: [{ reason: 'Ana looked into it', found: { number: 2 }, remembered: { number: 4 }, head: 5 }],
  })
  await server.restart()
  expect(await server.admin.get('/readyz')).toEqual({ status: 'ok' })
})

const EVERYTHING = ['delete from audit_head', 'delete from audit']

const ATTACKS: Record<string, { forge: Forge; why: RegExp; isLive?: boolean }> = {
  'the whole record is deleted': {
    async forge(forger) {
      for (const text of EVERYTHING) await forger.run(text)
    },
    why: /the database holds no head at all/,
    // At a start the server would hold an older database as a copy first; see below.
    isLive: true,
  },
  'the newest rows and heads are deleted': {
    async forge(forger, [, , third]) {
      const row = await rowOf(forger, third)
      await deleteHeadsFrom(forger, row)
      await forger.run('delete from audit where id >= ?', row)
    },
    why: /newer heads were deleted/,
    isLive: true,
  },
  'a row in the middle is deleted': {
    forge: async (forger, [first]) => forger.run('delete from audit where id = ?', await rowOf(forger, first)),
    why: /was signed over other rows/,
  },
  'a row in the middle is rewritten under its head': {
    forge: async (forger, [first]) =>
      rewriteRow(forger, await rowOf(forger, first), (data) => ({ ...data, arguments: { what: 'forged' } })),
    why: /was signed over other rows/,
  },
  'the data of a row is changed, and nothing else': {
    forge: async (forger, [first]) => forger.run("update audit set data = '{}' where id = ?", await rowOf(forger, first)),
    why: /Row 1 of act_\w+, which head \d+ covers, is not what was sealed/,
  },
  'who did it is changed': {
    forge: async (forger, [first]) => forger.run("update audit set actor = 'system' where id = ?", await rowOf(forger, first)),
    why: /is not what was sealed/,
  },
  'two rows change places': {
    async forge(forger, [first, second]) {
      const [a, b] = [await rowOf(forger, first), await rowOf(forger, second)]
      for (const [from, to] of [
        [a, -1],
        [b, a],
        [-1, b],
      ] as const)
        await forger.run('update audit set id = ? where id = ?', to, from)
    },
    why: /was signed over other rows/,
  },
  'a row is said to follow another one': {
    async forge(forger, [first, second]) {
      await forger.run('update audit set follows = ? where id = ?', await rowOf(forger, first), await rowOf(forger, second))
    },
    why: /is not what was sealed/,
  },
  'a row is put between those of two heads': {
    async forge(forger, [first, second]) {
      const [a, b] = [await rowOf(forger, first), await rowOf(forger, second)]
      expect(b).toBeGreaterThan(a + 1)
      const columns = 'seq, prev, follows, at, kind, actor, action_id, data, salt, data_hash, hash'
      await forger.run(`insert into audit (id, scope, ${columns}) select ${a + 1}, 'act_never', ${columns} from audit where id = ?`, a)
    },
    why: /is not what was sealed|was signed over other rows/,
  },
  'a head in the middle is deleted': {
    forge: (forger) => forger.run('delete from audit_head where number = 2'),
    why: /a head before it is missing/,
  },
  'the newest head is made to end earlier': {
    async forge(forger, [first]) {
      const text = 'update audit_head set last_id = ? where number = (select max(number) from audit_head)'
      await forger.run(text, await rowOf(forger, first))
    },
    why: /do not go on from it/,
  },
  'a head of nobody is put behind the newest': {
    async forge(forger) {
      const columns = 'prev, at, first_id, last_id, row_count, first_at, last_at, rows_hash, key, hash, signature, format, gap'
      await forger.run(
        `insert into audit_head (number, ${columns}) select 9007199254740991, ${columns} from audit_head where number = ?`,
        1,
      )
    },
    why: /do not go on from it/,
  },
}

test.each(Object.entries(ATTACKS))('when %s, nothing is sealed until an admin accepts it', async (_name, { forge, why, isLive }) => {
  await using place = await openPlace()
  await isRefusedAndAccepted(await forged(place, forge, isLive), why)
})

test('what is changed while the server runs is noticed with the next row', async () => {
  await using place = await openPlace()
  const server = await place.start()
  const action = await propose(server, 'first')
  await untilSealed(server)
  await using forger = await openForger(server.database)
  const row = await rowOf(forger, action)
  await rewriteRow(forger, row, (data) => ({ ...data, arguments: { what: 'forged' } }))
  await deleteHeadsFrom(forger, row)
  await propose(server, 'later')
  await isRefusedAndAccepted(server, /newer heads were deleted|holds no head at all/)
})

test('a database that was rolled back is held; accepting the copy lets the record go on, and the next head says what is missing', async () => {
  await using place = await openPlace()
  const first = await place.start()
  await propose(first, 'first')
  await untilSealed(first)
  const third = await propose(first, 'lost')
  await untilSealed(first)
  const { publicKey } = await first.admin.get('/api/audit/key')
  await first.stop()
  {
    await using forger = await openForger(first.database)
    const row = await rowOf(forger, third)
    await deleteHeadsFrom(forger, row)
    await forger.run('delete from audit where id >= ?', row)
  }
  const held = await place.start({ hold: true })
  expect(await held.admin.get('/readyz')).toMatchObject({ status: 'held' })
  expect((await held.admin.get('/api/audit/seal')).problem).toMatchObject({ kind: 'behind' })
  expect((await held.admin.send('POST', '/api/audit/accept', { body: { reason: 'x' } })).status).toBe(503)
  expect((await verdictOf(held, publicKey)).problem).toMatch(/the end of the record was deleted/)
  await held.admin.post('/api/hold/accept', {})
  expect(await held.admin.get('/readyz')).toEqual({ status: 'ok' })
  expect(await kindsOf(held, 'record_accepted')).toMatchObject([
    { actor: { kind: 'person' }, sealed: true, data: { kind: 'behind', reason: expect.stringContaining('The copy was accepted') } },
  ])
  await propose(held, 'later')
  await untilSealed(held)
  expect(await verdictOf(held, publicKey)).toMatchObject({ problem: undefined, gaps: [{ kind: 'behind', found: { number: 2 }, head: 4 }] })
})

test('accepting a copy does not accept that a sealed row was changed', async () => {
  await using place = await openPlace()
  const first = await place.start()
  const action = await propose(first, 'first')
  await untilSealed(first)
  await propose(first, 'second')
  await untilSealed(first)
  await first.stop()
  {
    await using forger = await openForger(first.database)
    await forger.run("update audit set data = '{}' where id = ?", await rowOf(forger, action))
  }
  const held = await place.start({ hold: true })
  await held.admin.post('/api/hold/accept', {})
  expect((await untilDegraded(held)).why).toMatch(/is not what was sealed/)
  await held.stop()
  // The file remembers the problem: the server seals nothing before it has checked the rows again.
  expect((await untilDegraded(await place.start())).why).toMatch(/is not what was sealed/)
})

test('an anchor finds that the record was rewritten, cut off or deleted, and without one the command says what it cannot know', async () => {
  await using place = await openPlace()
  using folder = temporaryFolder()
  const first = await place.start()
  for (const what of ['first', 'second']) {
    await propose(first, what)
    await untilSealed(first)
  }
  const { publicKey } = await first.admin.get('/api/audit/key')
  const { head } = (await first.admin.get('/api/audit/seal')) as AuditSealView
  const file = join(folder.path, 'record.jsonl')
  const verify = async (server: TestServer, ...anchors: string[]) => {
    writeFileSync(file, (await server.admin.send('GET', '/api/audit/export')).text)
    return runCommandLine(['audit', 'verify', file, '--public-key', publicKey, ...anchors.flatMap((anchor) => ['--anchor', anchor])])
  }
  const byValue = `${head?.number}:${head?.hash}`
  const kept = join(folder.path, 'kept.head')
  copyFileSync(`${place.keyFile}.head`, kept)
  expect(await verify(first)).toMatchObject({ code: 0, stdout: expect.stringContaining('Without an anchor this does not show whether') })
  const stdout = expect.stringContaining(`Head ${head?.number} is the one that was kept`)
  expect(await verify(first, byValue, kept)).toMatchObject({ code: 0, stdout })
  expect(await verify(first, 'nonsense')).toMatchObject({ code: 1, stderr: expect.stringContaining('neither a file nor NUMBER:HASH') })
  await first.stop()

  // The file outside the database is gone too, so the server has to believe the database.
  await using forger = await openForger(first.database)
  const rewritten = (await readRows(forger)).find(({ kind }) => kind === 'proposed')?.id ?? 0
  await rewriteRow(forger, rewritten, (data) => ({ ...data, arguments: { what: 'forged' } }))
  await deleteHeadsFrom(forger, rewritten)
  rmSync(`${place.keyFile}.head`)
  const second = await place.start()
  await propose(second, 'later')
  await untilSealed(second)
  expect(await verdictOf(second, publicKey)).toMatchObject({ problem: undefined })
  const found = expect.stringMatching(/the record was rewritten|was deleted|is missing/)
  for (const anchor of [byValue, kept]) expect(await verify(second, anchor)).toMatchObject({ code: 1, stdout: found })
  await second.stop()
  for (const text of EVERYTHING) await forger.run(text)
  rmSync(`${place.keyFile}.head`)
  const third = await place.start()
  expect(await verify(third, byValue)).toMatchObject({ code: 1, stdout: found })
})

test('a remembered head that is deleted, or replaced by an older one, is said in the record, and the server goes on', async () => {
  await using place = await openPlace()
  const memory = `${place.keyFile}.head`
  const old = `${memory}.old`
  const first = await place.start()
  for (const what of ['first', 'second', 'third']) {
    await propose(first, what)
    await untilSealed(first)
    if (what === 'first') copyFileSync(memory, old)
  }
  const { head } = (await first.admin.get('/api/audit/seal')) as AuditSealView
  expect(statSync(memory).mode & 0o777).toBe(0o600)
  await first.stop()
  rmSync(memory)
  const second = await place.start()
  await propose(second, 'fourth')
  await untilSealed(second)
  expect(await kindsOf(second, 'record_memory_lost')).toMatchObject([
    { data: { why: expect.stringContaining('is missing'), remembered: 0 } },
  ])
  const seal: AuditSealView = await second.admin.get('/api/audit/seal')
  expect(seal.memory.from).toBeGreaterThanOrEqual(Number(head?.number))
  expect(await second.admin.get('/readyz')).toEqual({ status: 'ok' })
  await second.stop()
  writeFileSync(memory, 'no memory at all')
  const third = await place.start()
  await propose(third, 'fifth')
  await untilSealed(third)
  expect((await kindsOf(third, 'record_memory_lost'))[0]).toMatchObject({ data: { why: expect.stringContaining('cannot be read') } })
  await third.stop()
  copyFileSync(old, memory)
  const fourth = await place.start()
  await propose(fourth, 'sixth')
  await untilSealed(fourth)
  // On Postgres other processes may sign heads, so an older memory proves nothing, and the server checks all heads after it.
  const lost = await kindsOf(fourth, 'record_memory_lost')
  expect(lost).toHaveLength(fourth.database.kind === 'sqlite' ? 3 : 2)
  if (fourth.database.kind === 'sqlite')
    expect(lost[0]).toMatchObject({ data: { why: expect.stringContaining('is older than the record') } })
})

/** Inserts a head over all rows, signed as in versions before 27. */
async function insertOldHead(forger: Forger, rows: Awaited<ReturnType<typeof readRows>>, privateKey: KeyObject): Promise<void> {
  const key = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).subarray(12).toString('base64url')
  const hashed = (text: string) => createHash('sha256').update(text).digest('base64url')
  const ats = rows.map(({ at }) => at)
  const [firstAt, lastAt, firstId, lastId] = [Math.min(...ats), Math.max(...ats), rows[0]?.id ?? 0, rows.at(-1)?.id ?? 0]
  const rowsHash = hashed(rows.map(({ id, hash }) => `${id} ${hash}\n`).join(''))
  const text = JSON.stringify({ at: lastAt, firstAt, firstId, key, lastAt, lastId, number: 1, prev: '', rowCount: rows.length, rowsHash })
  const signature = sign(null, Buffer.from(text), privateKey).toString('base64url')
  await forger.run(
    'insert into audit_head (number, prev, at, first_id, last_id, row_count, first_at, last_at, rows_hash, key, hash, signature, format) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)',
    ...[1, '', lastAt, firstId, lastId, rows.length, firstAt, lastAt, rowsHash, key, hashed(text), signature],
  )
}

test('a database of the version before, whose heads were not remembered, is taken over, and its next head covers them', async () => {
  await using place = await openPlace()
  const first = await place.start()
  await propose(first, 'first')
  await untilSealed(first)
  await first.stop()
  await using forger = await openForger(first.database)
  const key = createPrivateKey(readFileSync(place.keyFile, 'utf8'))
  const rows = await readRows(forger)
  // A head of the first format, from before the server stored its newest head.
  await forger.run('delete from audit_head')
  await insertOldHead(forger, rows, key)
  rmSync(`${place.keyFile}.head`)
  const second = await place.start()
  await propose(second, 'second')
  await untilSealed(second)
  const { publicKey } = await second.admin.get('/api/audit/key')
  expect(await verdictOf(second, publicKey)).toMatchObject({ problem: undefined, heads: { first: 1, last: 2 } })
  expect(await kindsOf(second, 'record_memory_lost')).toEqual([])
  expect((await second.admin.get('/api/audit/seal')).memory).toMatchObject({ place: 'file' })
})
