import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeDurableFolder, rewriteFile } from '../../durable-files.ts'
import { makePrivateFile } from '../../private-files.ts'
import { checkPages, checkPagesBeside } from '../check-pages.ts'
import { watchDamage } from '../damage-watch.ts'
import {
  beginDatabase,
  databaseFile,
  finishDatabase,
  isUnfinished,
  keepState,
  readState,
  requireDatabase,
  requireExisting,
  type StateKeeper,
} from '../data-folder.ts'
import { groupCommit } from '../group-commit.ts'
import { migrate, type OnMigrate, requireMigrated } from '../migrate.ts'
import type { Outbox, Store } from '../store.ts'
import { watchHealth } from '../watch-health.ts'
import { requireWholeSchema } from '../whole-schema.ts'
import { damagedFile, openingError, restoreCommand, sqliteDamage, whatToDoAboutDamage } from './errors.ts'
import { holdLock, type Lock } from './file-lock.ts'
import { openPlaceCheck } from './file-place.ts'
import { findLastPlace } from './last-place.ts'
import { sqliteRoom } from './room.ts'
import { addTextSearch } from './text-search.ts'

/** 3.7.0–3.51.2 can corrupt a WAL database that two connections use. */
const OLDEST_SQLITE = [3, 51, 3] as const

const PRAGMAS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL; -- an fsync on every commit
  PRAGMA foreign_keys = ON;
  PRAGMA secure_delete = ON; -- what is deleted leaves the file, and so every later backup of it
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -65536; -- 64 MiB: with the default 2 MiB pages are read again from the file (351 against 274 cycles/s at 1 in flight)
  PRAGMA wal_autocheckpoint = 4000; -- pages, 16 MB
  PRAGMA journal_size_limit = 33554432; -- bytes: a log that a long reader let grow is cut to this when it is next begun again
`

export interface SqliteOptions {
  /** Folder of the database; created when missing. */
  dataDir: string
  /** The ownership that {@link ownFolder} returned; closed with the store. Default: the store takes the folder itself. */
  owner?: Lock | undefined
  /** Called after each commit with the outboxes of its transactions, in their order. */
  onCommitted(outbox: Outbox): void
  /** True starts a new database when the old one, or its newest commits, are lost; the remaining files are moved aside. Default false. */
  acceptLoss?: boolean | undefined
  /** Receives, as a sentence, that the file is damaged. Default: none. */
  onDamage?: ((sentence: string) => void) | undefined
  /** Receives why a check of the pages of a large file did not reach its end; it is made again. Default: none. */
  onUnchecked?: ((why: string) => void) | undefined
  /** Is told before each migration of a database that has data. Default: does nothing. */
  onMigrate?: OnMigrate | undefined
  /** How long the check of a large file may delay the start; what is left is checked while the server works. Default: 1,000 ms. */
  checkMs?: number | undefined
}

/** Another process owns the data folder. */
export class DataFolderInUse extends Error {
  constructor(dataDir: string) {
    super(`another Countersign process is using ${dataDir}; stop it, or choose another folder with --data`)
  }
}

/** Another archive run holds the lock. */
export class ArchiveInProgress extends Error {
  /** @param what The data folder or the database, for the sentence. */
  constructor(what: string) {
    super(`${what} is being archived already; wait for that to end`)
  }
}

/**
 * Opens (and migrates) the embedded database: `node:sqlite`, WAL, an fsync on every commit. One process owns a data folder at a time.
 * @throws DataFolderInUse; Error when SQLite is too old, the folder cannot be written, the database is newer than this
 * code, or it is lost or damaged.
 */
export function openSqlite({
  dataDir,
  owner = ownFolder(dataDir),
  onCommitted,
  acceptLoss = false,
  onDamage,
  onUnchecked,
  onMigrate,
  checkMs,
}: SqliteOptions): Store {
  const { db, isChecked } = openOwned(dataDir, owner, { acceptLoss, onMigrate, checkMs })
  return openStore({ db, dataDir, lock: owner, onCommitted, onDamage, onUnchecked, isChecked, state: keepState(dataDir, lastPlaceOf(db)) })
}

/**
 * Opens the embedded database for the archive: alone, or beside the server that owns the folder. Beside a server, it writes nothing except
 * the removal of archived rows, so that the server's own view of the log stays correct.
 * @throws ArchiveInProgress; Error when there is no database, or the server is of another version.
 */
export function openSqliteForArchive(dataDir: string): Store {
  requireExisting(dataDir)
  const archiver = holdLock(join(dataDir, 'archive.lock'))
  if (!archiver) throw new ArchiveInProgress(dataDir)
  const owner = holdLock(lockFile(dataDir))
  const lock = {
    close() {
      owner?.close()
      archiver.close()
    },
  }
  const db = owner ? openOwned(dataDir, lock).db : openDatabase(dataDir, lock, requireMigrated)
  return openStore({ db, dataDir, lock, onCommitted: () => undefined })
}

/**
 * Opens the embedded database for a command: alone, creating it when missing, or beside the server that owns the folder.
 * @throws Error when the server is of another version, or the database is lost or damaged.
 */
export function openSqliteBeside(dataDir: string, onMigrate?: OnMigrate): Store {
  const owner = own(dataDir)
  const lock: Lock = owner ?? { close: () => undefined }
  const db = owner ? openOwned(dataDir, lock, { onMigrate }).db : openDatabase(dataDir, lock, requireMigrated)
  return openStore({ db, dataDir, lock, onCommitted: () => undefined })
}

/** The file whose lock means that a process owns the folder. */
const lockFile = (dataDir: string): string => join(dataDir, 'owner.lock')

/**
 * Takes a data folder for this process, creating it when it is missing: a second process on the same folder would take the executing actions
 * of the first for lost ones.
 * @throws DataFolderInUse; Error when the folder cannot be written.
 */
export function ownFolder(dataDir: string): Lock {
  const owner = own(dataDir)
  if (!owner) throw new DataFolderInUse(dataDir)
  return owner
}

/** Creates the folder when it is missing, and locks it; undefined when another process holds the lock. */
export function own(dataDir: string): Lock | undefined {
  try {
    makeDurableFolder(dataDir)
    return holdLock(lockFile(dataDir))
  } catch (error) {
    throw openingError(error, dataDir, databaseFile(dataDir))
  }
}

interface OpenedSqlite extends Pick<SqliteOptions, 'dataDir' | 'onCommitted' | 'onDamage' | 'onUnchecked'> {
  db: DatabaseSync
  lock: Lock
  state?: StateKeeper
  /** False when a server still has to check the pages of the file. Default: true. */
  isChecked?: boolean
}

function openStore({
  db,
  dataDir,
  lock,
  onCommitted,
  onDamage,
  onUnchecked = () => undefined,
  state,
  isChecked = true,
}: OpenedSqlite): Store {
  const file = databaseFile(dataDir)
  const watch = watchDamage({ damageOf: (error) => sqliteDamage(error, file), whatToDo: whatToDoAboutDamage(dataDir), onDamage })
  const commits = groupCommit({ db, onCommitted, onStored: state?.reached, requirePlace: openPlaceCheck(file, lockFile(dataDir)), watch })
  const store = watchHealth(commits, { watch, findRoom: sqliteRoom(dataDir) })
  const endCheck = isChecked
    ? undefined
    : checkPagesBeside(file, { onDamage: (damage) => watch.learn(damagedFile(damage)), onUnfinished: onUnchecked })
  return {
    ...store,
    close: async () => {
      if (!db.isOpen) return
      endCheck?.()
      await store.close()
      db.close()
      state?.stopped()
      lock.close()
    },
  }
}

/**
 * Makes the readable part of a left-over write-ahead log durable. The previous process may have ended because an fsync failed: its last
 * commits can be read, but they may not be on disk, and after a power failure nothing after them could be read. Takes about 30 ms for the
 * usual maximum of 16 MB; nothing after a clean stop, which leaves no log.
 */
function rewriteLog(db: DatabaseSync): void {
  const log = `${db.location()}-wal`
  if (!existsSync(log)) return
  // An archive run may still write beside this process.
  db.exec('BEGIN IMMEDIATE')
  try {
    rewriteFile(log)
  } finally {
    db.exec('ROLLBACK')
  }
}

/** Releases the lock when the database cannot be used, so that a second attempt reports the same reason instead of "in use". */
function openDatabase(dataDir: string, lock: Lock, prepare: (db: DatabaseSync) => void): DatabaseSync {
  const file = databaseFile(dataDir)
  let db: DatabaseSync | undefined
  try {
    // SQLite creates its files according to the umask, and the log and the shared memory with the database's mode.
    makePrivateFile(file)
    db = new DatabaseSync(file, { timeout: 5_000 })
    requireVersion(db)
    db.exec(PRAGMAS)
    addTextSearch(db)
    prepare(db)
    return db
  } catch (error) {
    db?.close()
    lock.close()
    throw openingError(error, dataDir, file)
  }
}

interface OwnedOptions extends Pick<SqliteOptions, 'acceptLoss' | 'onMigrate' | 'checkMs'> {}

/** Opens a database in exclusive use, and checks its integrity first; `isChecked` is false when there was no time for all of it. */
function openOwned(
  dataDir: string,
  lock: Lock,
  { acceptLoss = false, onMigrate, checkMs }: OwnedOptions = {},
): { db: DatabaseSync; isChecked: boolean } {
  const file = databaseFile(dataDir)
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  try {
    requireDatabase(dataDir, acceptLoss)
    if (bytes === 0) beginDatabase(dataDir)
  } catch (error) {
    lock.close()
    throw openingError(error, dataDir, file)
  }
  const hasLog = existsSync(`${file}-wal`)
  let isChecked = true
  const db = openDatabase(dataDir, lock, (db) => {
    const isEmpty = db.prepare('select count(*) as count from sqlite_schema').get()?.count === 0
    if (bytes > 0 && isEmpty && !hasLog && !acceptLoss && !isUnfinished(dataDir)) {
      throw new Error(
        `${file} has no tables: it was copied without ${file}-wal, where the data is until the first checkpoint. ` +
          'Copy both files of a stopped server, or make the copy with: countersign backup FILE. ' +
          'If there is no data to keep, delete the file, or start with --accept-loss',
      )
    }
    if (!acceptLoss) requireNewestCommits(db, dataDir, hasLog)
    const check = isEmpty ? undefined : checkPages(db, file, checkMs)
    if (check?.damage !== undefined) throw new Error(`${file} is damaged (${check.damage}): ${whatToDoAboutDamage(dataDir)}`)
    isChecked = check?.isWhole ?? true
    rewriteLog(db)
    migrate(db, onMigrate)
    requireWholeSchema('sqlite', namesIn(db), `restore a backup: ${restoreCommand(dataDir)}`)
    finishDatabase(dataDir)
  })
  return { db, isChecked }
}

/** Returns the names of the tables and indexes of a database. */
export const namesIn = (db: DatabaseSync): Set<string> =>
  new Set(
    db
      .prepare("select name from sqlite_schema where type in ('table', 'index')")
      .all()
      .map(({ name }) => String(name)),
  )

/** Compares with the state file, in which a server that ended without closing its database left how far its log reached. */
function requireNewestCommits(db: DatabaseSync, dataDir: string, hadLog: boolean): void {
  const state = readState(dataDir)
  const position = lastPlaceOf(db)
  if (!state?.isRunning || position >= state.position) return
  const file = databaseFile(dataDir)
  throw new Error(
    `${hadLog ? `${file} has lost its newest commits` : `${file}-wal is missing, and with it the newest commits of ${file}`}: ` +
      `the log ends at ${position}, and it had reached ${state.position}. Put the missing file back, or restore a backup: ` +
      `${restoreCommand(dataDir)}. To go on without these commits, start with --accept-loss`,
  )
}

/** The same for a database that may have no tables yet. */
const lastPlaceOf = (db: DatabaseSync): number =>
  db.prepare("select 1 from sqlite_schema where name = 'archive_file'").get() === undefined ? 0 : findLastPlace(db)

function requireVersion(db: DatabaseSync): void {
  const version = String(db.prepare('select sqlite_version() as version').get()?.version)
  const parts = version.split('.').map(Number)
  for (const [i, oldest] of OLDEST_SQLITE.entries()) {
    if ((parts[i] ?? 0) > oldest) return
    if ((parts[i] ?? 0) < oldest)
      throw new Error(`SQLite ${version} is too old: ${OLDEST_SQLITE.join('.')} or newer is needed (Node 24.21+ or 26)`)
  }
}
