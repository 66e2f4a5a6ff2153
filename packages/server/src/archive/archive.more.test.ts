import { randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Principal } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { openBareGate, rowOf, savePersons } from '../../../../verification/testing/bare-gate.ts'
import { runModule } from '../../../../verification/testing/run-command.ts'
import { mountSmallDisk } from '../../../../verification/testing/small-disk.ts'
import { openTempPostgres, openTempSqlite } from '../../../../verification/testing/temp-store.ts'
import { temporaryFolder } from '../../../../verification/testing/test-server.ts'
import { createEventHub } from '../dispatch/index.ts'
import { sessionLog } from '../http/session-log.ts'
import { createLog } from '../log.ts'
import { events, openForArchive, principals, type Store, sessions, type Tx } from '../store/index.ts'
import { type FinishedFile, runArchive } from './run-archive.ts'
import { verifyFiles } from './verify.ts'

const OPEN_AND_CLOSE = fileURLToPath(new URL('../store/testing/open-and-close.ts', import.meta.url))

const HOUR_MS = 3_600_000
const OLD = 1_000
const BEFORE = 2_000

/** A settled session whose log has `rows` rows of two events each. */
function* addSession(id: string, rows: number): Tx<void> {
  yield* sessions.insertSession.run({ id, agent: 'desk', title: '', owner_id: 'prn_ana', now: OLD })
  for (let row = 0; row < rows; row++) {
    const said = [1, 2].map((n) => ({
      seq: row * 2 + n,
      event: { type: 'error' as const, data: { code: 'x', error: `${id} ${row} ${n}` } },
    }))
    yield* events.insertEvents({ sessionId: id, events: said, nowMs: OLD })
  }
  yield* touch(id, rows * 2, OLD)
}

const touch = (id: string, lastSeq: number, now: number) =>
  sessions.updateSession.run({
    id,
    status: 'completed',
    last_seq: lastSeq,
    last_run: 0,
    title: '',
    audit_seq: 0,
    audit_hash: '',
    audit_place: null,
    now,
  })

const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['viewer'] }

const addAna = (store: Store) => store.transact(() => principals.savePrincipal(ana, OLD))

const archive = (store: Store, folder: string): Promise<FinishedFile[]> =>
  runArchive({ store, folder, before: BEFORE, nowMs: () => BEFORE, onFile: () => undefined })

const pathsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl.gz'))
    .toSorted()
    .map((name) => join(folder, name))

const linesOf = (path: string): string[] => gunzipSync(readFileSync(path)).toString().trimEnd().split('\n')

const problemsOf = async (paths: string[]) => (await verifyFiles(paths)).map(({ problem }) => problem)

test('a long log goes into files that follow each other, a session over as many as it needs', async () => {
  using folder = temporaryFolder()
  await using temp = await openTempSqlite()
  const { store } = temp
  await addAna(store)
  const lengths = { ses_a: 3_000, ses_b: 6_000, ses_c: 1 }
  for (const [id, rows] of Object.entries(lengths)) await store.transact(() => addSession(id, rows))

  const files = await archive(store, folder.path)
  expect(files.map(({ rows }) => rows)).toEqual([4_000, 4_000, 1_001])
  const paths = pathsIn(folder.path)
  expect(await problemsOf(paths)).toEqual([undefined, undefined, undefined])
  const shares: number[] = []
  await verifyFiles(paths, (share) => shares.push(share))
  expect(shares.length).toBeGreaterThanOrEqual(paths.length)
  expect([shares.toSorted((a, b) => a - b), shares.at(-1)]).toEqual([shares, 1])
  const bodies = paths.flatMap((path) => linesOf(path).slice(1, -1)).map((line) => JSON.parse(line).line)
  const expected = Object.entries(lengths).flatMap(([id, rows]) => Array.from({ length: rows * 2 }, (_, i) => [id, i + 1]))
  expect(bodies.flatMap(({ sessionId, events }) => events.map(([seq]: [number]) => [sessionId, seq]))).toEqual(expected)
  const rows = await store.read(() => sessions.listSessions({ reader: undefined, statuses: [], before: undefined, limit: 10 }))
  expect(rows.map(({ last_seq, archived_seq }) => last_seq - archived_seq)).toEqual([0, 0, 0])
  expect(await archive(store, folder.path)).toEqual([])
})

for (const [name, open] of [['SQLite', openTempSqlite] as const, ['Postgres', openTempPostgres] as const]) {
  test(`${name}: an archive whose folder is empty or gone, as when its disk is not mounted, moves nothing and says so`, async () => {
    using parent = temporaryFolder()
    await using temp = await open()
    const { store } = temp
    const folder = join(parent.path, 'archive')
    await addAna(store)
    await store.transact(() => addSession('ses_a', 3))
    expect(await archive(store, folder)).toHaveLength(1)
    await store.transact(() => addSession('ses_b', 3))
    renameSync(folder, `${folder}-away`)
    const away = /archive has neither the manifest nor any of the files that were written there, such as .*Nothing was moved/
    await expect(archive(store, folder)).rejects.toThrow(away)
    expect(existsSync(folder)).toBe(false)
    mkdirSync(folder)
    await expect(archive(store, folder)).rejects.toThrow(away)
    expect(readdirSync(folder)).toEqual([])
    expect(await store.read(() => events.sessionRowsAfter.all({ session_id: 'ses_b', after: 0, limit: 10 }))).toHaveLength(3)
    rmdirSync(folder)
    renameSync(`${folder}-away`, folder)
    expect(await archive(store, folder)).toHaveLength(1)
    // Old files may be moved elsewhere, as long as the manifest stays.
    for (const path of pathsIn(folder)) rmSync(path)
    await store.transact(() => addSession('ses_c', 3))
    expect(await archive(store, folder)).toHaveLength(1)
  })
}

test('the files of an archive folder that was moved are still as they were written after the next run there', async () => {
  using parent = temporaryFolder()
  await using temp = await openTempSqlite()
  const { store } = temp
  const [before, after] = [join(parent.path, 'archive'), join(parent.path, 'moved')]
  await addAna(store)
  await store.transact(() => addSession('ses_a', 3))
  await archive(store, before)
  renameSync(before, after)
  await store.transact(() => addSession('ses_b', 3))
  expect(await archive(store, after)).toHaveLength(1)
  expect(await problemsOf(pathsIn(after))).toEqual([undefined, undefined])
})

test('a copy of a database that archives into the same folder leaves the files of the other one, and those of both are as they were written', async () => {
  using parent = temporaryFolder()
  await using temp = await openTempSqlite()
  const { store } = temp
  const folder = join(parent.path, 'archive')
  const copyDir = join(parent.path, 'copy')
  mkdirSync(copyDir)
  await addAna(store)
  await store.transact(() => addSession('ses_a', 3))
  // As a backup that is made in the middle of a run: the file is not finished in it.
  const copy = (point: unknown) => {
    if (point !== 'archive.before_store') return
    const db = new DatabaseSync(join(temp.dataDir, 'countersign.db'))
    db.exec(`vacuum into '${join(copyDir, 'countersign.db')}'`)
    db.close()
  }
  subscribe('countersign.checkpoint', copy)
  await archive(store, folder).finally(() => unsubscribe('countersign.checkpoint', copy))
  const own = pathsIn(folder)
  expect(own).toHaveLength(1)
  await using other = await openTempSqlite(copyDir)
  for (const one of [other.store, store]) {
    await one.transact(() => addSession('ses_b', 3))
    await archive(one, folder)
  }
  const paths = pathsIn(folder)
  expect(paths).toEqual(expect.arrayContaining(own))
  expect(paths).toHaveLength(3)
  expect(await problemsOf(paths)).toEqual([undefined, undefined, undefined])
})

test('a session that goes on while its file is written keeps its log', async () => {
  using folder = temporaryFolder()
  await using temp = await openTempSqlite()
  const { store } = temp
  await addAna(store)
  for (const id of ['ses_a', 'ses_b']) await store.transact(() => addSession(id, 3))
  let wentOn: Promise<void> | undefined
  const goOn = (point: unknown) => {
    if (point === 'archive.before_rename') wentOn ??= store.transact(() => touch('ses_a', 7, BEFORE + 1))
  }
  subscribe('countersign.checkpoint', goOn)
  const files = await archive(store, folder.path).finally(() => unsubscribe('countersign.checkpoint', goOn))
  expect(wentOn).toBeDefined()
  expect(files).toMatchObject([{ sessions: 1, rows: 3 }])
  const [path = '', ...more] = pathsIn(folder.path)
  expect(more).toEqual([])
  expect(
    linesOf(path)
      .slice(1, -1)
      .every((line) => JSON.parse(line).line.sessionId === 'ses_b'),
  ).toBe(true)
  const kept = await store.read(() => events.sessionRowsAfter.all({ session_id: 'ses_a', after: 0, limit: 10 }))
  expect(kept).toHaveLength(3)
})

/** Calls `interrupt` once, when the archive has read rows of the log or has written its file, and lets nothing happen before that ended. */
function interruptedStore(store: Store, moment: 'read' | 'written', interrupt: () => Promise<unknown>): Store {
  let interrupted: Promise<unknown> | undefined
  const onWritten = (point: unknown) => {
    if (point !== 'archive.before_store') return
    unsubscribe('countersign.checkpoint', onWritten)
    interrupted = interrupt()
  }
  if (moment === 'written') subscribe('countersign.checkpoint', onWritten)
  return {
    ...store,
    async read(work) {
      const answer = await store.read(work)
      const isLog = Array.isArray(answer) && answer.some((row) => 'events' in row)
      if (moment === 'read' && isLog) interrupted ??= interrupt()
      await interrupted
      return answer
    },
    async transact(work) {
      await interrupted
      return store.transact(work)
    },
  }
}

test.each([
  ['SQLite', 'read'],
  ['SQLite', 'written'],
  ['Postgres', 'read'],
  ['Postgres', 'written'],
] as const)('%s: an action that is redacted after the archive has %s its rows is not in its files', async (database, moment) => {
  using folder = temporaryFolder()
  await using temp = await (database === 'SQLite' ? openTempSqlite() : openTempPostgres())
  const { store } = temp
  await savePersons(store)
  const tool = defineTool({
    name: 'note',
    description: 'Takes a note.',
    effect: 'write',
    input: { type: 'object' },
    execute: () => 'noted',
  })
  const gate = openBareGate(store, [tool], 'prc_1')
  const admin = { principal: { ...ana, roles: ['admin'] } }
  const { id } = await gate.propose({ tool: 'own.note', arguments: { note: 'a secret' } }, admin)
  await gate.decide(id, { verdict: 'decline' }, admin)
  const interrupted = interruptedStore(store, moment, () => gate.redact(id, { reason: 'privacy' }, admin))
  const options = { folder: folder.path, before: Date.now() + HOUR_MS, nowMs: Date.now, onFile: () => undefined }
  await runArchive({ ...options, store: interrupted })
  expect(await rowOf(store, id)).toMatchObject({ redacted_at: expect.any(Number) })
  const text = pathsIn(folder.path).flatMap(linesOf).join('')
  expect([text.includes(id), text.includes('a secret')]).toEqual([true, false])
})

test('an archive that finds no room gives back what it took, and with room it is made', async ({ skip }) => {
  using disk = mountSmallDisk(1_000_000)
  if (!disk) return skip('no small file system can be mounted here (needs root)')
  await using temp = await openTempSqlite()
  const { store } = temp
  await addAna(store)
  await store.transact(function* () {
    yield* addSession('ses_a', 0)
    const error = { type: 'error' as const, data: { code: 'x', error: randomBytes(300_000).toString('base64') } }
    yield* events.insertEvents({ sessionId: 'ses_a', events: [{ seq: 1, event: error }], nowMs: OLD })
    yield* touch('ses_a', 1, OLD)
  })
  disk.leave(200_000)
  await expect(archive(store, disk.path)).rejects.toMatchObject({ code: 'ENOSPC' })
  expect(readdirSync(disk.path)).toEqual(['ballast'])
  disk.free()
  expect(await archive(store, disk.path)).toMatchObject([{ sessions: 1, rows: 1 }])
  expect(await problemsOf(pathsIn(disk.path))).toEqual([undefined])
})

test('after an archive in the process of a server, its data folder is still its own', async () => {
  using folder = temporaryFolder()
  await using temp = await openTempSqlite()
  const { store, dataDir } = temp
  await addAna(store)
  await store.transact(() => addSession('ses_a', 1))
  const beside = await openForArchive({ kind: 'sqlite', dataDir })
  expect(await archive(beside, folder.path)).toMatchObject([{ rows: 1 }])
  await beside.close()
  const second = await runModule([OPEN_AND_CLOSE, dataDir])
  expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining(`another Countersign process is using ${dataDir}`) })
})

test('a reader in the middle of a log that is archived is given a snapshot, not a gap', async () => {
  using folder = temporaryFolder()
  await using temp = await openTempSqlite()
  const { store } = temp
  await addAna(store)
  await store.transact(() => addSession('ses_a', 10))
  const log = sessionLog({
    store,
    clock: { nowMs: Date.now },
    hub: createEventHub({ log: createLog('silent') }),
    sessionId: 'ses_a',
    principal: ana,
  })
  const page = await log.read(0, 4, true)
  expect('events' in page && page.events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  await archive(store, folder.path)
  expect(await log.read(8, 4, false)).toMatchObject({ place: 20, reset: { session: { id: 'ses_a' } } })
})

test('any damage to a file is found', async () => {
  using folder = temporaryFolder()
  await using temp = await openTempSqlite()
  await addAna(temp.store)
  await temp.store.transact(() => addSession('ses_a', 5_000))
  await archive(temp.store, folder.path)
  const [first = '', second = ''] = pathsIn(folder.path)
  const bytes = readFileSync(first)
  const lines = linesOf(first)
  const damaged = async (content: Buffer) => {
    writeFileSync(first, content)
    const [problem] = await problemsOf([first])
    writeFileSync(first, bytes)
    return problem
  }
  const ofLines = (changed: string[]) => damaged(gzipSync(changed.join('\n')))
  const at = 1_234
  const line = lines[at] ?? ''
  expect(await ofLines(lines.with(at, line.replace('"x"', '"y"')))).toBe(`line ${at + 1} does not fit the lines before it`)
  expect(await ofLines(lines.toSpliced(at, 1))).toBe(`line ${at + 1} does not fit the lines before it`)
  expect(await ofLines(lines.with(at, lines[at + 1] ?? '').with(at + 1, line))).toBe(`line ${at + 1} does not fit the lines before it`)
  expect(await ofLines(lines.toSpliced(at, 0, line))).toBe(`line ${at + 2} does not fit the lines before it`)
  expect(await ofLines(lines.with(at, `${line} `))).toBe(`line ${at + 1} is not a line of the archive`)
  expect(await ofLines(lines.slice(0, -1))).toBe('its end is missing')
  expect(await ofLines([...lines, line])).toBe(`line ${lines.length + 1} is after the end`)
  expect(await ofLines(lines.slice(1))).toBe('is not a file of the archive')
  expect(await damaged(bytes.subarray(0, -10))).toBeDefined()
  expect(await damaged(Buffer.from('{}'))).toBeDefined()
  // The same lines compressed differently are not the file that the manifest names.
  expect(await damaged(gzipSync(lines.map((each) => `${each}\n`).join(''), { level: 1 }))).toBe('is another file than the manifest says')
  for (const place of [20, 5_000, bytes.length - 5])
    expect(await damaged(Buffer.from(bytes.with(place, (bytes[place] ?? 0) ^ 1)))).toBeDefined()
  expect(await problemsOf([first, second])).toEqual([undefined, undefined])
  expect(await problemsOf([join(folder.path, 'missing.jsonl.gz')])).toEqual([expect.stringContaining('ENOENT')])
})
