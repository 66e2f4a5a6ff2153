import { closeSync, openSync, readSync } from 'node:fs'
import type { Database } from '../store.ts'
import { backupPostgres, restorePostgres } from './postgres.ts'
import { type BackupOptions, type BackupProgress, backupSqlite, type Restored, type RestoreOptions, restoreSqlite } from './sqlite.ts'
import type { BackupSummary } from './summary.ts'

export type { BackupProgress, BackupSummary }

/**
 * Writes a checked, consistent backup of a database to one file. Servers may run on it meanwhile: every decision that was answered before
 * the start is in the backup.
 * @throws Error; the file is then unchanged.
 */
export const backupDatabase = (database: Database, file: string, options: BackupOptions): Promise<BackupSummary> =>
  database.kind === 'sqlite'
    ? backupSqlite(database.dataDir, file, options)
    : backupPostgres(database.directUrl ?? database.url, file, options)

/**
 * Restores a backup where no server runs.
 * @throws Error; nothing was restored then.
 */
export async function restoreDatabase(database: Database, file: string, options: RestoreOptions): Promise<Restored> {
  const kind = kindOf(file)
  if (kind === 'postgres' && database.kind === 'sqlite')
    throw new Error(`${file} is a backup of Postgres: name an empty database with --database-url`)
  if (kind === 'sqlite' && database.kind === 'postgres')
    throw new Error(`${file} is a backup of the built-in database: take out DATABASE_URL, and name an empty folder with --data`)
  return database.kind === 'sqlite'
    ? restoreSqlite(database.dataDir, file, options)
    : restorePostgres(database.directUrl ?? database.url, file, options)
}

/** Returns the database that a backup is of, by its first bytes; undefined for any other file. @throws Error when it cannot be read. */
function kindOf(file: string): Database['kind'] | undefined {
  const start = Buffer.alloc(15)
  try {
    const descriptor = openSync(file, 'r')
    try {
      readSync(descriptor, start)
    } finally {
      closeSync(descriptor)
    }
  } catch (cause) {
    throw new Error(`the backup ${file} cannot be read (${cause instanceof Error && 'code' in cause ? cause.code : cause})`, { cause })
  }
  if (start.toString().startsWith('PGDMP')) return 'postgres'
  return start.toString() === 'SQLite format 3' ? 'sqlite' : undefined
}
