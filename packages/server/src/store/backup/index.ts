import type { Database } from '../store.ts'
import { backupPostgres, restorePostgres } from './postgres.ts'
import { type BackupOptions, backupSqlite, type Restored, type RestoreOptions, restoreSqlite } from './sqlite.ts'
import type { BackupSummary } from './summary.ts'

export type { BackupSummary }

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
export const restoreDatabase = (database: Database, file: string, options: RestoreOptions): Promise<Restored> =>
  database.kind === 'sqlite'
    ? restoreSqlite(database.dataDir, file, options.replace)
    : restorePostgres(database.directUrl ?? database.url, file, options)
