import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { mountSmallDisk } from '../../../../../verification/testing/small-disk.ts'
import { openTempSqlite, raw } from '../../../../../verification/testing/temp-store.ts'
import { findSetting, insertSetting } from '../tables/settings.ts'
import { keyOfNobody } from '../testing/key-of-nobody.ts'
import { ownFolder } from './sqlite.ts'

type TempStore = Awaited<ReturnType<typeof openTempSqlite>>

const settingOf = async ({ store }: TempStore, name: string) => (await store.read(() => findSetting.first({ name })))?.value
const put = ({ store }: TempStore, name: string, value = name) => store.transact(() => insertSetting.run({ name, value }))

/** Returns the files as another program sees them on disk. */
function onDisk({ dataDir }: TempStore, name: string): unknown {
  const db = new DatabaseSync(join(dataDir, 'countersign.db'), { readOnly: true })
  try {
    return db.prepare('select value from setting where name = ?').get(name)?.value
  } finally {
    db.close()
  }
}

test('nobody hears of a transaction before it can be read from the disk', async () => {
  await using temp = await openTempSqlite()
  await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      await put(temp, `n${index}`)
      expect(onDisk(temp, `n${index}`)).toBe(`n${index}`)
    }),
  )
})

test('a commit that fails rejects every member of its batch, stores nothing, and the next batch works', async () => {
  await using temp = await openTempSqlite()
  const owed = temp.store.transact(function* () {
    // A key without a principal is only detected at the end of the transaction.
    yield* raw(sql`pragma defer_foreign_keys = on`)
    yield* keyOfNobody()
  })
  const results = await Promise.allSettled([put(temp, 'before'), owed, put(temp, 'after')])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(results[0]).toMatchObject({ reason: { message: expect.stringContaining('FOREIGN KEY') } })
  expect([await settingOf(temp, 'before'), await settingOf(temp, 'after')]).toEqual([undefined, undefined])
  expect(temp.committed).toEqual([])
  await put(temp, 'later')
  expect(await settingOf(temp, 'later')).toBe('later')
})

/** Another program with unsaved changes, such as an editor of databases. */
function lockFile({ dataDir }: TempStore): DatabaseSync {
  const other = new DatabaseSync(join(dataDir, 'countersign.db'))
  other.exec('BEGIN IMMEDIATE')
  return other
}

test('while another program has locked the file, writes wait, and reads and everything else go on', async () => {
  await using temp = await openTempSqlite()
  await put(temp, 'before')
  const other = lockFile(temp)
  const stored = Promise.all([put(temp, 'first'), put(temp, 'second')])
  // The first attempt is made within these turns of the event loop.
  for (let read = 0; read < 10; read++) {
    expect([await settingOf(temp, 'before'), await settingOf(temp, 'first')]).toEqual(['before', undefined])
    await setImmediate()
  }
  other.exec('COMMIT')
  other.close()
  await stored
  expect([await settingOf(temp, 'first'), await settingOf(temp, 'second')]).toEqual(['first', 'second'])
  expect(temp.committed).toHaveLength(3)
})

test('a write that another program keeps from the file for seconds fails with what to do, is not stored later, and the next one works', async () => {
  await using temp = await openTempSqlite()
  const other = lockFile(temp)
  await expect(put(temp, 'kept out')).rejects.toMatchObject({
    code: 'not_ready',
    message: expect.stringContaining('locked the database file'),
  })
  other.exec('ROLLBACK')
  other.close()
  await put(temp, 'later')
  expect([await settingOf(temp, 'kept out'), await settingOf(temp, 'later')]).toEqual([undefined, 'later'])
})

test('the connection keeps a write-ahead log, waits for the disk at every commit and checks foreign keys', async () => {
  await using temp = await openTempSqlite()
  const pragma = (name: string) => temp.store.read(() => raw(sql`pragma ${sql.raw(name)}`))
  expect(await pragma('journal_mode')).toEqual([{ journal_mode: 'wal' }])
  expect(await pragma('synchronous')).toEqual([{ synchronous: 2 }])
  expect(await pragma('foreign_keys')).toEqual([{ foreign_keys: 1 }])
  const orphan = temp.store.transact(keyOfNobody)
  await expect(orphan).rejects.toThrow('FOREIGN KEY')
})

test('opening a folder again finds the same schema, the same migrations and the same data', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'countersign-store-'))
  const looks: unknown[] = []
  for (let round = 0; round < 2; round++) {
    await using temp = await openTempSqlite(dataDir)
    await put(temp, 'kept', `round ${round}`)
    looks.push([
      await settingOf(temp, 'kept'),
      await temp.store.read(() => raw(sql`select * from migration`)),
      await temp.store.read(() => raw(sql`select type, name, sql from sqlite_schema order by name`)),
    ])
  }
  expect(looks[1]).toEqual(looks[0])
  await rm(dataDir, { recursive: true })
})

test('a database of a newer version is refused by the name of its migration, and left as it is', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'countersign-store-'))
  await (await openTempSqlite(dataDir))[Symbol.asyncDispose]()
  const change = (text: string) => {
    const db = new DatabaseSync(join(dataDir, 'countersign.db'))
    db.exec(text)
    db.close()
  }
  change(`insert into migration values (9000, '9000_time_travel.sqlite.sql', 1)`)
  for (let attempt = 0; attempt < 2; attempt++) {
    await expect(openTempSqlite(dataDir)).rejects.toThrow('newer than this version: it has migration 9000_time_travel.sqlite.sql')
  }
  change('delete from migration where number = 9000')
  await (await openTempSqlite(dataDir))[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true })
})

test('one process owns a data folder; when it is killed, the next one opens it and has what it wrote', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'countersign-store-'))
  const script = fileURLToPath(new URL('../testing/hold-store.ts', import.meta.url))
  const first = spawn(process.execPath, ['--conditions=countersign-source', script, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(first, 'exit')
  await Promise.race([once(first.stdout, 'data'), exited])
  await expect(openTempSqlite(dataDir)).rejects.toThrow(`another Countersign process is using ${dataDir}`)
  first.kill('SIGKILL')
  expect(await exited).toEqual([null, 'SIGKILL'])
  {
    await using temp = await openTempSqlite(dataDir)
    expect(await settingOf(temp, 'written-by')).toBe('the first process')
  }
  await rm(dataDir, { recursive: true })
})

test('after close nothing is taken, and what was under way before is stored', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'countersign-store-'))
  const temp = await openTempSqlite(dataDir)
  const last = put(temp, 'last')
  await temp.store.close()
  await last
  await expect(put(temp, 'late')).rejects.toMatchObject({ code: 'not_ready' })
  expect(onDisk(temp, 'last')).toBe('last')
  await rm(dataDir, { recursive: true })
})

test('a full disk is named at the start', async ({ skip }) => {
  using disk = mountSmallDisk(1_000_000)
  if (!disk) return skip('no small file system can be mounted here (needs root)')
  disk.leave(0)
  await expect(openTempSqlite(disk.path)).rejects.toThrow(`the disk of ${disk.path} is full: make room, and start again`)
})

test('on a full disk every transaction of the batch is refused as storage_full, nothing is half there, and with room it goes on', async ({
  skip,
}) => {
  using disk = mountSmallDisk(4_000_000)
  if (!disk) return skip('no small file system can be mounted here (needs root)')
  disk.leave(2_000_000)
  await using temp = await openTempSqlite(disk.path)
  await put(temp, 'early')
  temp.committed.length = 0
  // More than SQLite buffers in memory: the disk is full in the middle of the transaction, not only at its commit.
  await temp.store.read(() => raw(sql`pragma cache_size = -500`))
  const large = () =>
    temp.store.transact(function* () {
      for (let piece = 0; piece < 60; piece++) yield* insertSetting.run({ name: `piece${piece}`, value: 'x'.repeat(100_000) })
    })
  const batch = await Promise.allSettled([put(temp, 'before'), large(), put(temp, 'after')])
  expect(batch).toMatchObject([1, 2, 3].map(() => ({ status: 'rejected', reason: { code: 'storage_full' } })))
  await expect(large()).rejects.toMatchObject({ code: 'storage_full' })
  expect(temp.committed).toEqual([])
  expect(await temp.store.read(() => raw(sql`select name from setting`))).toEqual([{ name: 'early' }])

  let written = 0
  const fill = async (): Promise<void> => {
    for (; ; written++) await put(temp, `fill${written}`, 'x'.repeat(50_000))
  }
  await expect(fill()).rejects.toMatchObject({ code: 'storage_full' })
  expect(written).toBeGreaterThan(0)
  expect(await settingOf(temp, `fill${written - 1}`)).toBeDefined()
  expect(await settingOf(temp, `fill${written}`)).toBeUndefined()

  disk.free()
  await put(temp, 'room again')
  expect(onDisk(temp, 'room again')).toBe('room again')
  expect(await temp.store.read(() => raw(sql`pragma integrity_check`))).toEqual([{ integrity_check: 'ok' }])
})

test('a database that takes no writes refuses them as full storage, goes on reading, and takes them again when it can', async () => {
  await using temp = await openTempSqlite()
  await put(temp, 'before')
  await temp.store.read(() => raw(sql`pragma query_only = on`))
  await expect(put(temp, 'meanwhile')).rejects.toMatchObject({ code: 'storage_full', status: 507 })
  expect([await settingOf(temp, 'before'), await settingOf(temp, 'meanwhile')]).toEqual(['before', undefined])
  await temp.store.read(() => raw(sql`pragma query_only = off`))
  await put(temp, 'after')
  expect(temp.committed).toHaveLength(2)
})

test('a database whose file or log is moved or deleted under it takes no writes until it is back: they would be gone with the process', async () => {
  for (const name of ['countersign.db', 'countersign.db-wal']) {
    await using temp = await openTempSqlite()
    await put(temp, 'before')
    const [file, elsewhere] = [join(temp.dataDir, name), join(temp.dataDir, 'elsewhere')]
    renameSync(file, elsewhere)
    await expect(put(temp, 'meanwhile')).rejects.toMatchObject({ code: 'not_ready', message: expect.stringContaining(`${file} was moved`) })
    // Another file of that name is not it.
    copyFileSync(elsewhere, file)
    await expect(put(temp, 'meanwhile')).rejects.toMatchObject({ code: 'not_ready' })
    renameSync(elsewhere, file)
    await put(temp, 'after')
    expect([await settingOf(temp, 'before'), await settingOf(temp, 'meanwhile')]).toEqual(['before', undefined])
    expect(onDisk(temp, 'after')).toBe('after')
  }
})

test('a server whose lock file is deleted takes no writes, also not beside another one that took the folder', async () => {
  await using temp = await openTempSqlite()
  await put(temp, 'before')
  const lock = join(temp.dataDir, 'owner.lock')
  const refused = { code: 'not_ready', status: 503, message: expect.stringContaining(`${lock} was moved or deleted`) }
  rmSync(lock)
  await expect(put(temp, 'alone')).rejects.toMatchObject(refused)
  const second = ownFolder(temp.dataDir)
  await expect(put(temp, 'beside')).rejects.toMatchObject(refused)
  second.close()
  expect([await settingOf(temp, 'before'), await settingOf(temp, 'beside')]).toEqual(['before', undefined])
})

const bytesOf = (file: string): number => statSync(file).size

const fill = ({ store }: TempStore, from: number, rows: number) =>
  store.transact(function* () {
    for (let i = from; i < from + rows; i++) yield* insertSetting.run({ name: `row ${i}`, value: 'x'.repeat(10_000) })
  })

test('the write-ahead log that a reader beside the server made long is cut when the reader has gone', async () => {
  await using temp = await openTempSqlite()
  const log = join(temp.dataDir, 'countersign.db-wal')
  const reader = new DatabaseSync(join(temp.dataDir, 'countersign.db'), { readOnly: true })
  reader.exec('begin')
  reader.prepare('select count(*) from setting').get()
  for (let i = 0; i < 60; i++) await fill(temp, i * 100, 100)
  expect(bytesOf(log)).toBeGreaterThan(50_000_000)
  reader.close()
  // A reset log is truncated with the first commit after a complete checkpoint.
  for (let i = 60; i < 64; i++) await fill(temp, i * 100, 100)
  expect(bytesOf(log)).toBeLessThanOrEqual(33_554_432)
})

test('without a reader beside it the write-ahead log stays at 4,000 pages and a transaction, however much is written', async () => {
  await using temp = await openTempSqlite()
  for (let i = 0; i < 60; i++) await fill(temp, i * 100, 100)
  expect(bytesOf(join(temp.dataDir, 'countersign.db-wal'))).toBeLessThan(20_000_000)
})

test('the pages of deleted rows are used again: a file that is filled and cleaned again and again does not grow', async () => {
  await using temp = await openTempSqlite()
  const pages = async () => Number((await temp.store.read(() => raw(sql<{ page_count: number }>`pragma page_count`)))[0]?.page_count)
  const round = async (from: number) => {
    await fill(temp, from, 300)
    await temp.store.transact(() => raw(sql`delete from setting where name like 'row %'`))
  }
  await round(0)
  const first = await pages()
  for (let i = 1; i < 6; i++) await round(i * 300)
  expect(await pages()).toBeLessThanOrEqual(first * 1.05)
})
