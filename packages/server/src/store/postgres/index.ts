import type { Store } from '../store.ts'
import type { PostgresOptions } from './postgres.ts'

export { type LastingConnection, LONGEST_ATTEMPT_MS, openLastingConnection } from './lasting-connection.ts'
export { findNewer, inMigrationLock } from './migrate.ts'
export type { PostgresOptions } from './postgres.ts'

/**
 * Opens (and migrates) a Postgres database, which any number of processes may share. A server on SQLite does not load its driver.
 * @throws Error when it cannot be reached, is too old, read-only or newer than this code, may lose commits, or is behind a pooler that
 * loses session state.
 */
export const openPostgres = async (options: PostgresOptions): Promise<Store> => (await import('./postgres.ts')).openPostgres(options)
