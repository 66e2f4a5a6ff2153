import type { AppliedMigration } from './migrate.ts'

/** The migrations of the development versions before 0.1.0. 0001 replaces all of them. */
const FIRST = /^0001_start\./
const LAST = 29

/**
 * True for a database of the last development version, which an upgrade turns into one of 0.1.0.
 * @throws Error for a database of an earlier development version.
 */
export function isDevelopmentDatabase(applied: readonly AppliedMigration[]): boolean {
  if (!applied.some(({ name }) => FIRST.test(String(name)))) return false
  const newest = Math.max(...applied.map(({ number }) => Number(number)))
  if (newest === LAST) return true
  throw new Error(
    `the database was made by a development version with migration ${newest}: start the last development version (migration ${LAST}) on it once, then this one`,
  )
}

/** Turns the tables of the last development version into those of migration 0001. */
export const UPGRADE_FROM_DEVELOPMENT = {
  // SQLite cannot drop session.approve_all_by, which has a foreign key. Nothing reads or writes it.
  sqlite: "alter table action rename column told to result_delivered; create index session_active on session (id) where status = 'active'",
  postgres: 'alter table action rename column told to result_delivered; alter table session drop column approve_all_by',
} as const
