import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { mountSmallDisk } from '../../../../verification/testing/small-disk.ts'
import { openTempSqlite, raw } from '../../../../verification/testing/temp-store.ts'
import { temporaryFolder } from '../../../../verification/testing/test-server.ts'
import { backupDatabase, restoreDatabase } from './backup/index.ts'
import { checkFor } from './check-pages.ts'
import { lookAtDatabase } from './inspect.ts'
import { openSqlite } from './sqlite/sqlite.ts'
import { addEvent } from './testing/add-event.ts'

/** Simulates a killed server: its newest commits are in the write-ahead log only. */
async function crashedFolder(): Promise<string> {
  const [live, crashed] = [temporaryFolder(), temporaryFolder()]
  onTestFinished(() => {
    live[Symbol.dispose]()
    crashed[Symbol.dispose]()
  })
  await using temp = await openTempSqlite(live.path)
  for (const name of ['first', 'second', 'third']) await temp.store.transact((outbox) => addEvent(outbox, name))
  cpSync(live.path, crashed.path, { recursive: true, filter: (path) => !path.endsWith('.lock') })
  return crashed.path
}

/** Without the folder, a restore makes a second database somewhere else. */
const restoreInto = (dataDir: string) => `countersign restore FILE --force --data ${dataDir}`

const databaseIn = (dataDir: string) => join(dataDir, 'countersign.db')
const eventsIn = async (dataDir: string, acceptLoss = false) => {
  await using temp = await openTempSqlite(dataDir, { acceptLoss })
  return (await temp.store.read(() => raw(sql`select id from event`))).length
}

test('a folder whose server was killed opens with everything that was committed', async () => {
  expect(await eventsIn(await crashedFolder())).toBe(3)
})

for (const { what, damage } of [
  { what: 'deleted', damage: (file: string) => rmSync(file) },
  { what: 'emptied', damage: (file: string) => truncateSync(file) },
]) {
  test(`a database file that was ${what} is refused, the write-ahead log beside it is kept, and --accept-loss begins anew`, async () => {
    const dataDir = await crashedFolder()
    damage(databaseIn(dataDir))
    const walBytes = statSync(`${databaseIn(dataDir)}-wal`).size
    for (let attempt = 0; attempt < 2; attempt++) {
      const opening = eventsIn(dataDir)
      await expect(opening).rejects.toThrow(databaseIn(dataDir))
      await expect(opening).rejects.toThrow(/countersign restore .*--accept-loss/s)
    }
    expect(statSync(`${databaseIn(dataDir)}-wal`).size).toBe(walBytes)
    expect(await eventsIn(dataDir, true)).toBe(0)
    const [aside = ''] = readdirSync(dataDir).filter((name) => name.startsWith('lost-'))
    expect(statSync(join(dataDir, aside, 'countersign.db-wal')).size).toBe(walBytes)
    expect(await eventsIn(dataDir)).toBe(0)
  })
}

test('a folder that was stopped cleanly and lost its database file is refused, too', async () => {
  using folder = temporaryFolder()
  expect(await eventsIn(folder.path)).toBe(0)
  rmSync(databaseIn(folder.path))
  await expect(eventsIn(folder.path)).rejects.toThrow(`${databaseIn(folder.path)} is missing`)
})

test('a database that lost its write-ahead log is refused with how much is missing, and --accept-loss goes on without it', async () => {
  const dataDir = await crashedFolder()
  using folder = temporaryFolder()
  await eventsIn(dataDir)
  {
    await using temp = await openTempSqlite(dataDir)
    await temp.store.transact((outbox) => addEvent(outbox, 'fourth'))
    cpSync(dataDir, folder.path, { recursive: true, filter: (path) => !/\.lock$|-wal$|-shm$/.test(path) })
  }
  const lossy = folder.path
  await expect(eventsIn(lossy)).rejects.toThrow(/countersign\.db-wal is missing.*log ends at 3, and it had reached 4.*--accept-loss/s)
  expect(await eventsIn(lossy, true)).toBe(3)
  expect(await eventsIn(lossy)).toBe(3)
})

test('a database file that was copied without its write-ahead log says so', async () => {
  const dataDir = await crashedFolder()
  using folder = temporaryFolder()
  cpSync(databaseIn(dataDir), databaseIn(folder.path))
  expect(statSync(databaseIn(folder.path)).size).toBe(4096)
  await expect(eventsIn(folder.path)).rejects.toThrow(/copied without .*countersign\.db-wal.*countersign backup/s)
  expect(existsSync(`${databaseIn(folder.path)}-wal`)).toBe(false)
})

test('a database whose making was cut short by a power failure is made at the next start', async () => {
  const dataDir = await crashedFolder()
  using folder = temporaryFolder()
  cpSync(databaseIn(dataDir), databaseIn(folder.path))
  writeFileSync(`${databaseIn(folder.path)}.new`, '')
  expect(await eventsIn(folder.path)).toBe(0)
  expect(existsSync(`${databaseIn(folder.path)}.new`)).toBe(false)
})

test('a database folded in by another program after a crash is whole and opens', async () => {
  const dataDir = await crashedFolder()
  const other = new DatabaseSync(databaseIn(dataDir))
  other.prepare('select count(*) from event').get()
  other.close()
  expect(existsSync(`${databaseIn(dataDir)}-wal`)).toBe(false)
  expect(await eventsIn(dataDir)).toBe(3)
})

test('a file that is no database, and one with damaged pages, are refused by their path', async () => {
  using folder = temporaryFolder()
  writeFileSync(databaseIn(folder.path), 'not a database, but long enough to be read as the head of one'.repeat(200))
  const none = eventsIn(folder.path)
  await expect(none).rejects.toThrow('countersign.db is not a database')
  await expect(none).rejects.toThrow(restoreInto(folder.path))

  const dataDir = await crashedFolder()
  await eventsIn(dataDir)
  const bytes = new Uint8Array(4096).fill(0x5a)
  const pages = statSync(databaseIn(dataDir)).size / 4096
  const file = new DatabaseSync(databaseIn(dataDir))
  const root = Number(file.prepare("select rootpage from sqlite_schema where name = 'event'").get()?.rootpage)
  file.close()
  expect(root).toBeLessThanOrEqual(pages)
  overwrite(databaseIn(dataDir), (root - 1) * 4096, bytes)
  const damaged = eventsIn(dataDir)
  await expect(damaged).rejects.toThrow('countersign.db is damaged')
  await expect(damaged).rejects.toThrow(restoreInto(dataDir))
})

test('countersign doctor names a database that is lost, and one that is none', async () => {
  const look = (dataDir: string) => lookAtDatabase({ kind: 'sqlite', dataDir }, new AbortController().signal)
  const dataDir = await crashedFolder()
  expect(await look(dataDir)).toMatchObject({ isThere: true, pending: [] })
  truncateSync(databaseIn(dataDir))
  await expect(look(dataDir)).rejects.toThrow(`${databaseIn(dataDir)} is empty`)
  using folder = temporaryFolder()
  writeFileSync(databaseIn(folder.path), 'not a database, but long enough to be read as the head of one'.repeat(200))
  await expect(look(folder.path)).rejects.toThrow(`${databaseIn(folder.path)} is not a database`)
})

test('a restore that was interrupted leaves a folder that no server starts on, and can be run again', async () => {
  const dataDir = await crashedFolder()
  using folder = temporaryFolder()
  const backup = join(folder.path, 'a.backup')
  const options = { overwrite: false, onProgress: () => undefined, environment: {} }
  expect(await backupDatabase({ kind: 'sqlite', dataDir }, backup, options)).toMatchObject({ position: 3, waiting: 0 })
  const target = join(folder.path, 'restored')
  mkdirSync(target)
  cpSync(backup, join(target, 'countersign.db.restoring'))
  await expect(eventsIn(target)).rejects.toThrow(/countersign\.db is missing.*countersign\.db\.restoring/)
  expect(
    await restoreDatabase({ kind: 'sqlite', dataDir: target }, backup, {
      replace: false,
      onProgress: () => undefined,
      environment: {},
    }),
  ).toMatchObject({ summary: { position: 3 } })
  expect(await eventsIn(target)).toBe(3)
})

test('a large file is checked by another process, which is ended when it takes too long', async () => {
  const dataDir = await crashedFolder()
  await eventsIn(dataDir)
  expect(checkFor(databaseIn(dataDir), 60_000)).toBe('ok')
  expect(checkFor(databaseIn(dataDir), 1)).toBe('')
  truncateSync(databaseIn(dataDir), 20_000)
  expect(checkFor(databaseIn(dataDir), 60_000)).toMatch(/malformed|database|page/i)
})

test('a large file opens before it is checked to its end; damage that is found then refuses every write', async () => {
  const dataDir = await crashedFolder()
  await eventsIn(dataDir)
  const db = new DatabaseSync(databaseIn(dataDir))
  db.exec('create table large (bytes blob); insert into large values (zeroblob(70000000))')
  const root = Number(db.prepare("select rootpage from sqlite_schema where name = 'message'").get()?.rootpage)
  db.close()
  const opened = async () => {
    const found = Promise.withResolvers<string>()
    return { store: openSqlite({ dataDir, onCommitted: () => undefined, onDamage: found.resolve, checkMs: 1 }), found: found.promise }
  }
  const sound = await opened()
  await sound.store.transact((outbox) => addEvent(outbox, 'fourth'))
  expect(sound.store.health.damage).toBeUndefined()
  await sound.store.close()

  overwrite(databaseIn(dataDir), (root - 1) * 4096, new Uint8Array(4096).fill(0x5a))
  const damaged = await opened()
  expect(await damaged.found).toContain('countersign.db is damaged')
  expect(await damaged.found).toContain(restoreInto(dataDir))
  await expect(damaged.store.transact((outbox) => addEvent(outbox, 'fifth'))).rejects.toThrow(/is damaged/)
  await damaged.store.close()
})

test('a data folder that cannot be written is named', async ({ skip }) => {
  using disk = mountSmallDisk(4_000_000)
  if (!disk) return skip('no small file system can be mounted here (needs root)')
  expect(await eventsIn(disk.path)).toBe(0)
  disk.makeReadOnly()
  await expect(eventsIn(disk.path)).rejects.toThrow(`the data folder ${disk.path} cannot be written`)
})

function overwrite(file: string, at: number, bytes: Uint8Array): void {
  const handle = openSync(file, 'r+')
  writeSync(handle, bytes, 0, bytes.length, at)
  closeSync(handle)
}

for (const [what, statement] of Object.entries({ 'a table': 'drop table vote', 'an index': 'drop index run_open' })) {
  test(`a database that has lost ${what} is refused with the name of it`, async () => {
    const dataDir = await crashedFolder()
    await eventsIn(dataDir)
    const db = new DatabaseSync(databaseIn(dataDir))
    db.exec(statement)
    db.close()
    await expect(eventsIn(dataDir)).rejects.toThrow(`it has no ${statement.split(' ').at(-1)}`)
  })
}

test('an index that does not agree with its table is refused, although each page by itself is sound', async () => {
  const dataDir = await crashedFolder()
  await eventsIn(dataDir)
  const file = databaseIn(dataDir)
  const db = new DatabaseSync(file)
  db.exec("create table other (name text); insert into other values ('found by its name'); create index other_name on other (name)")
  const root = Number(db.prepare("select rootpage from sqlite_schema where name = 'other_name'").get()?.rootpage)
  db.close()
  const at =
    (root - 1) * 4096 +
    readFileSync(file)
      .subarray((root - 1) * 4096, root * 4096)
      .indexOf('found by')
  overwrite(file, at, Buffer.from('hidden'))
  await expect(eventsIn(dataDir)).rejects.toThrow(/countersign\.db is damaged.*other_name/s)
})

const BACKUP = { overwrite: false, replace: false, onProgress: () => undefined, environment: {} }

/** Writes a journal as a process leaves it that was killed in the middle of a change of many pages. */
function leaveHotJournal(file: string): void {
  using folder = temporaryFolder()
  const other = join(folder.path, 'other.db')
  const db = new DatabaseSync(other)
  db.exec('pragma cache_size = 2; create table t (text text)')
  db.exec(
    'insert into t select hex(randomblob(2000)) from (with recursive n(i) as (select 1 union all select i + 1 from n where i < 300) select i from n)',
  )
  db.exec('begin; update t set text = hex(randomblob(2000))')
  cpSync(`${other}-journal`, file)
  db.close()
}

test('a backup and a restore after one that was killed in the middle are not changed by the journal that it left', async () => {
  const dataDir = await crashedFolder()
  using folder = temporaryFolder()
  const file = join(folder.path, 'a.backup')
  leaveHotJournal(`${file}.partial-journal`)
  expect(await backupDatabase({ kind: 'sqlite', dataDir }, file, BACKUP)).toMatchObject({ position: 3 })
  expect(readdirSync(folder.path)).toEqual(['a.backup'])
  const target = join(folder.path, 'restored')
  mkdirSync(target)
  leaveHotJournal(join(target, 'countersign.db.restoring-journal'))
  await restoreDatabase({ kind: 'sqlite', dataDir: target }, file, BACKUP)
  expect(await eventsIn(target)).toBe(3)
})

test('a backup never takes the place of the database that it is of, nor of a file beside it', async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  {
    await using temp = await openTempSqlite(dataDir)
    await temp.store.transact((outbox) => addEvent(outbox, 'first'))
    const link = join(folder.path, 'link')
    symlinkSync(dataDir, link)
    const before = readdirSync(dataDir)
    const names = ['countersign.db', 'countersign.db-wal', 'countersign.db-shm', 'database.state', 'instance', 'record.head', 'owner.lock']
    for (const file of [...names.map((name) => join(dataDir, name)), databaseIn(link), join(dataDir, '..', 'data', 'countersign.db')]) {
      for (const overwrite of [false, true]) {
        const writing = backupDatabase({ kind: 'sqlite', dataDir }, file, { ...BACKUP, overwrite })
        await expect(writing, file).rejects.toThrow(`${file} is a file of the database itself: name another file`)
      }
    }
    expect(readdirSync(dataDir)).toEqual(before)
    // Any other name is free, also in the same folder.
    expect(await backupDatabase({ kind: 'sqlite', dataDir }, databaseIn(dataDir).replace('.db', '.backup'), BACKUP)).toMatchObject({
      position: 1,
    })
    await temp.store.transact((outbox) => addEvent(outbox, 'second'))
  }
  expect(await eventsIn(dataDir)).toBe(2)
})

test('a database that has lost a table is refused with the restore into its own folder', async () => {
  const dataDir = await crashedFolder()
  await eventsIn(dataDir)
  const db = new DatabaseSync(databaseIn(dataDir))
  db.exec('drop table vote')
  db.close()
  const opening = eventsIn(dataDir)
  await expect(opening).rejects.toThrow('it has no vote')
  await expect(opening).rejects.toThrow(restoreInto(dataDir))
})

test('a backup that has lost a table is not restored', async () => {
  const dataDir = await crashedFolder()
  using folder = temporaryFolder()
  const file = join(folder.path, 'a.backup')
  await backupDatabase({ kind: 'sqlite', dataDir }, file, BACKUP)
  const db = new DatabaseSync(file)
  db.exec('drop table vote')
  db.close()
  const target = join(folder.path, 'restored')
  const restoring = restoreDatabase({ kind: 'sqlite', dataDir: target }, file, BACKUP)
  await expect(restoring).rejects.toThrow(/it has no vote.*restore another backup/)
  expect(existsSync(databaseIn(target))).toBe(false)
})

test('a file in the place of the data folder, or of a folder above it, is named by a start and a restore, and stays', async () => {
  using folder = temporaryFolder()
  const backup = join(folder.path, 'a.backup')
  await backupDatabase({ kind: 'sqlite', dataDir: await crashedFolder() }, backup, { ...BACKUP, overwrite: false })
  const notes = join(folder.path, 'notes.txt')
  writeFileSync(notes, 'mine')
  for (const dataDir of [notes, join(notes, 'data')]) {
    const words = `the data folder ${dataDir} cannot be made, because a file is in its place: name another with --data`
    await expect(eventsIn(dataDir)).rejects.toThrow(words)
    await expect(restoreDatabase({ kind: 'sqlite', dataDir }, backup, BACKUP)).rejects.toThrow(words)
  }
  const look = lookAtDatabase({ kind: 'sqlite', dataDir: notes }, AbortSignal.timeout(300_000))
  await expect(look).rejects.toThrow(`the data folder ${notes} cannot be made`)
  expect(readFileSync(notes, 'utf8')).toBe('mine')
})

test('a full disk is named by a first start, a backup and a restore, and nothing half done has the name of a whole one', async ({
  skip,
}) => {
  using disk = mountSmallDisk(1_000_000)
  if (!disk) return skip('no small file system can be mounted here (needs root)')
  const dataDir = await crashedFolder()
  using folder = temporaryFolder()
  const file = join(folder.path, 'a.backup')
  await backupDatabase({ kind: 'sqlite', dataDir }, file, BACKUP)

  disk.leave(100_000)
  await expect(eventsIn(disk.path)).rejects.toThrow(`the disk of ${disk.path} is full`)
  disk.leave(100_000)
  const onDisk = join(disk.path, 'a.backup')
  await expect(backupDatabase({ kind: 'sqlite', dataDir }, onDisk, BACKUP)).rejects.toThrow(`${onDisk} was not written: the disk of`)
  const target = join(disk.path, 'restored')
  const restoring = restoreDatabase({ kind: 'sqlite', dataDir: target }, file, BACKUP)
  await expect(restoring).rejects.toThrow(`nothing was restored: the disk of ${target} is full`)
  expect(existsSync(databaseIn(target))).toBe(false)
  expect(readdirSync(disk.path).filter((name) => name.startsWith('a.backup'))).toEqual([])

  disk.free()
  expect(await eventsIn(disk.path)).toBe(0)
})

test('a data folder that cannot be made on a read-only disk is named', async ({ skip }) => {
  using disk = mountSmallDisk(1_000_000)
  if (!disk) return skip('no small file system can be mounted here (needs root)')
  disk.makeReadOnly()
  await expect(eventsIn(join(disk.path, 'data'))).rejects.toThrow(`the data folder ${join(disk.path, 'data')} cannot be written`)
})
