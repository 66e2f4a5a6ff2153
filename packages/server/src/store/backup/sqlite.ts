import { copyFileSync, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { checkpoint } from '@countersign/toolkit/internal'
import { giveCopyToOwner } from '../../private-files.ts'
import { databaseFile, isOwnFile, moveAside, requireExisting, restoringFile, tracesOfUse } from '../data-folder.ts'
import { listMigrations, migrate, missing } from '../migrate.ts'
import { isFull, openingError } from '../sqlite/errors.ts'
import { namesIn, own } from '../sqlite/sqlite.ts'
import { requireWholeSchema } from '../whole-schema.ts'
import { holdRestored } from './hold.ts'
import { type BackupSummary, SUMMARY_QUERY, toSummary } from './summary.ts'
import { syncToDisk, writeWholeFile } from './target-file.ts'

/** Pages copied between two progress reports: 16 MB. */
const PAGES_PER_STEP = 4_096

/** The environment of the tools of Postgres: `PATH`, and variables that the user set for them. */
export type ToolEnvironment = Readonly<Record<string, string | undefined>>

/** How far it is: a share of 1 where the total is known, else bytes; or a step of SQLite that nothing is known about until its end. */
export type BackupProgress =
  | { share: number; what: 'copied' }
  | { bytes: number; what: 'written' | 'restored' }
  | { step: 'checking the backup' | 'bringing the copy to this version' | 'checking the copy'; ofBytes: number }

export interface BackupOptions {
  environment: ToolEnvironment
  /** True replaces an existing file. */
  overwrite: boolean
  onProgress(done: BackupProgress): void
}

/**
 * Writes a consistent copy of the database in a data folder to one file, even while a server works on it, and checks the copy.
 * @throws Error when there is no database, the file exists or is one of the database, or the copy is incomplete.
 */
export async function backupSqlite(
  dataDir: string,
  file: string,
  { overwrite, onProgress }: Omit<BackupOptions, 'environment'>,
): Promise<BackupSummary> {
  const source = databaseFile(dataDir)
  requireExisting(dataDir)
  if (isOwnFile(dataDir, file)) {
    throw new Error(`${file} is a file of the database itself: name another file for the backup; --data names the database`)
  }
  return writeWholeFile(file, overwrite, async (partial) => {
    const db = openToRead(source, dataDir)
    try {
      const progress = ({ totalPages, remainingPages }: { totalPages: number; remainingPages: number }) =>
        onProgress({ share: totalPages === 0 ? 1 : 1 - remainingPages / totalPages, what: 'copied' })
      await backup(db, partial, { rate: PAGES_PER_STEP, progress })
    } finally {
      db.close()
    }
    makeSingleFile(partial)
    onProgress({ step: 'checking the copy', ofBytes: statSync(partial).size })
    // It may be of a newer version, after an upgrade that went wrong: the backup loses nothing, and its restore names the version it needs.
    return checkSqliteBackup(partial, `${file} was not written, because the database cannot be used`)
  })
}

/**
 * Opens a database with a read transaction, so that every step of a backup copies the same state: without it, each commit of the server
 * would restart the copy.
 */
function openToRead(file: string, dataDir: string): DatabaseSync {
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
    db.exec('BEGIN')
    db.prepare('select 1 from sqlite_schema').get()
    return db
  } catch (error) {
    db?.close()
    throw openingError(error, dataDir, file)
  }
}

/** Removes the write-ahead log mode that the copy inherits from its source: a backup is a single file. */
function makeSingleFile(file: string): void {
  const db = new DatabaseSync(file)
  try {
    db.exec('PRAGMA journal_mode = DELETE')
  } finally {
    db.close()
  }
}

/**
 * Checks every page, index and foreign key of a backup.
 * @param failure The beginning of the sentence when it fails.
 * @param check What else has to be true of it.
 * @throws Error when it is damaged, or no backup of Countersign.
 */
function checkSqliteBackup(file: string, failure: string, check?: (db: DatabaseSync) => void): BackupSummary {
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { readOnly: true })
    const [result] = Object.values(db.prepare('pragma integrity_check(1)').get() ?? {})
    if (result !== 'ok') throw new Error(`it is damaged: ${result}`)
    if (db.prepare('pragma foreign_key_check').get() !== undefined) throw new Error('it is damaged: a row refers to one that is not there')
    const tables = db.prepare("select count(*) as count from sqlite_schema where name in ('migration', 'action', 'event')").get()?.count
    if (tables !== 3) throw new Error('it is no database of Countersign, or was copied without its -wal file')
    check?.(db)
    return toSummary(db.prepare(SUMMARY_QUERY).get() ?? {})
  } catch (cause) {
    throw new Error(`${failure}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  } finally {
    db?.close()
  }
}

/** @throws Error for the database of a server that did not stop: only a part of it is in this file. */
function requireSingleFile(file: string): void {
  const log = `${file}-wal`
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  throw new Error(
    `${file} is the database of a server, and its newest commits are in ${log}: ` +
      (basename(file) === 'countersign.db'
        ? `make a backup of it with "countersign backup FILE --data ${dirname(file)}", and restore that`
        : 'put both into a folder of their own as countersign.db and countersign.db-wal, make a backup with ' +
          '"countersign backup FILE --data FOLDER", and restore that'),
  )
}

/** @throws Error when a database is of a newer version. */
const requireKnownVersion = (db: DatabaseSync): void =>
  void missing(listMigrations(), db.prepare('select number, name from migration').all() as { number: unknown; name: unknown }[])

/** Brings a copy to this version, which can hold it, before it gets its name. */
function holdFile(file: string): void {
  const db = new DatabaseSync(file)
  try {
    db.exec('PRAGMA journal_mode = DELETE')
    migrate(db)
    requireWholeSchema('sqlite', namesIn(db), 'restore another backup')
    db.exec(holdRestored(Date.now()))
  } finally {
    db.close()
  }
}

export interface RestoreOptions {
  environment: ToolEnvironment
  /** True moves a database in the data folder aside; a Postgres database is never replaced. */
  replace: boolean
  onProgress(done: BackupProgress): void
}

export interface Restored {
  summary: BackupSummary
  /** Where the database is now that was there before. */
  movedTo?: string | undefined
}

/**
 * Restores a backup into a data folder that no server uses, migrates it to this version and holds it.
 * @throws Error when the backup cannot be used, a server uses the folder, or it has data.
 */
export async function restoreSqlite(
  dataDir: string,
  file: string,
  { replace, onProgress }: Pick<RestoreOptions, 'replace' | 'onProgress'>,
): Promise<Restored> {
  const ofBytes = statSync(file).size
  requireSingleFile(file)
  onProgress({ step: 'checking the backup', ofBytes })
  checkSqliteBackup(file, `the backup ${file} cannot be used`, requireKnownVersion)
  const owner = own(dataDir)
  if (!owner) throw new Error(`a Countersign process is using ${dataDir}; stop it first`)
  try {
    const target = databaseFile(dataDir)
    const interrupted = restoringFile(dataDir)
    const hasData = existsSync(target) || tracesOfUse(dataDir).some((name) => name === 'countersign.db-wal' || name === 'database.state')
    if (hasData && !replace) {
      throw new Error(`${dataDir} has data; restore into an empty folder with --data, or move the data aside with --force`)
    }
    // With the journal of a migration that was interrupted: SQLite would take it for that of the new copy.
    for (const name of [interrupted, `${interrupted}-journal`]) rmSync(name, { force: true })
    copyFileSync(file, interrupted)
    // The copy has the mode of the backup, which may be kept so that nobody writes it.
    giveCopyToOwner(interrupted)
    onProgress({ step: 'bringing the copy to this version', ofBytes })
    holdFile(interrupted)
    await syncToDisk(interrupted)
    onProgress({ step: 'checking the copy', ofBytes })
    // Again: what counts is what was written here.
    const summary = checkSqliteBackup(interrupted, 'nothing was restored, because the copy cannot be used')
    const movedTo = hasData ? moveAside(dataDir, 'before-restore') : undefined
    checkpoint('restore.before_commit')
    renameSync(interrupted, target)
    await syncToDisk(dataDir)
    return { summary, movedTo }
  } catch (error) {
    // A database that is still there may need the room. Without one, what was copied keeps a server from taking the folder for an empty one.
    if (existsSync(databaseFile(dataDir))) rmSync(restoringFile(dataDir), { force: true })
    throw isFull(error) ? new Error(`nothing was restored: the disk of ${dataDir} is full`, { cause: error }) : error
  } finally {
    owner.close()
  }
}
