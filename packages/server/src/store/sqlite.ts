import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { groupCommit } from './group-commit.ts'
import { migrate, requireMigrated } from './migrate.ts'
import type { Outbox, Store } from './store.ts'

/** 3.7.0–3.51.2 can corrupt a WAL database that two connections use. */
const OLDEST_SQLITE = [3, 51, 3] as const

const PRAGMAS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL; -- an fsync on every commit
  PRAGMA foreign_keys = ON;
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -65536; -- 64 MiB: with the default 2 MiB pages are read again from the file (351 against 274 cycles/s at 1 in flight)
  PRAGMA wal_autocheckpoint = 4000; -- pages
`

export interface SqliteOptions {
  /** Folder of the database; made when missing. */
  dataDir: string
  /** Called after each commit with what its transactions asked for, in their order. */
  onCommitted(outbox: Outbox): void
}

/**
 * Opens (and migrates) the embedded database: `node:sqlite`, WAL, an fsync on every commit. One process owns a data folder at a time.
 * @throws Error when SQLite is too old, another process owns the folder, or the database is newer than this code.
 */
export function openSqlite({ dataDir, onCommitted }: SqliteOptions): Store {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const owner = holdLock(join(dataDir, 'owner.lock'))
  // A second process on the same folder would take our executing actions for lost ones.
  if (!owner) throw new Error(`another Countersign process is using ${dataDir}; stop it, or choose another folder with --data`)
  return openStore(openDatabase(dataDir, owner, migrate), owner, onCommitted)
}

/**
 * Opens the embedded database for the archive: alone, or beside the server that owns the folder. Besides moving what nobody works on any
 * more, whoever is beside writes nothing: the server's own memory of the log has to stay true.
 * @throws Error when there is no database, another archive run is under way, or the server is of another version.
 */
export function openSqliteForArchive(dataDir: string): Store {
  if (!existsSync(databaseFile(dataDir))) throw new Error(`there is no database in ${dataDir}; name its folder with --data`)
  const archiver = holdLock(join(dataDir, 'archive.lock'))
  if (!archiver) throw new Error(`${dataDir} is being archived already; wait for that to end`)
  const owner = holdLock(join(dataDir, 'owner.lock'))
  const locks = {
    close() {
      owner?.close()
      archiver.close()
    },
  }
  return openStore(openDatabase(dataDir, locks, owner ? migrate : requireMigrated), locks, () => undefined)
}

/**
 * Opens the embedded database for a command: alone, and then it is made when missing, or beside the server that owns the folder.
 * @throws Error when the server is of another version.
 */
export function openSqliteBeside(dataDir: string): Store {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const owner = holdLock(join(dataDir, 'owner.lock'))
  const lock: Lock = owner ?? { close: () => undefined }
  return openStore(openDatabase(dataDir, lock, owner ? migrate : requireMigrated), lock, () => undefined)
}

const databaseFile = (dataDir: string): string => join(dataDir, 'countersign.db')

type Lock = Pick<DatabaseSync, 'close'>

function openStore(db: DatabaseSync, lock: Lock, onCommitted: SqliteOptions['onCommitted']): Store {
  const store = groupCommit({ db, onCommitted })
  return {
    ...store,
    close: async () => {
      if (!db.isOpen) return
      await store.close()
      db.close()
      lock.close()
    },
  }
}

/** Gives the lock back when the database cannot be used: the reason is another one than "in use", also the second time. */
function openDatabase(dataDir: string, lock: Lock, prepare: (db: DatabaseSync) => void): DatabaseSync {
  const db = new DatabaseSync(databaseFile(dataDir), { timeout: 5_000 })
  try {
    requireVersion(db)
    db.exec(PRAGMAS)
    prepare(db)
    return db
  } catch (error) {
    db.close()
    lock.close()
    throw error
  }
}

/**
 * Holds a file as its only holder; undefined when another process has it. It is a SQLite transaction held for life, so the operating system
 * gives it back even after kill -9.
 */
function holdLock(file: string): DatabaseSync | undefined {
  const lock = new DatabaseSync(file, { timeout: 0 })
  try {
    lock.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

const isBusy = (error: unknown): boolean => error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5

function requireVersion(db: DatabaseSync): void {
  const version = String(db.prepare('select sqlite_version() as version').get()?.version)
  const parts = version.split('.').map(Number)
  for (const [i, oldest] of OLDEST_SQLITE.entries()) {
    if ((parts[i] ?? 0) > oldest) return
    if ((parts[i] ?? 0) < oldest)
      throw new Error(`SQLite ${version} is too old: ${OLDEST_SQLITE.join('.')} or newer is needed (Node 24.21+ or 26)`)
  }
}
