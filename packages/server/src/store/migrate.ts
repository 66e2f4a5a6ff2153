import { readdirSync, readFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { checkpoint } from '@countersign/toolkit/internal'
import { isDevelopmentDatabase, UPGRADE_FROM_DEVELOPMENT } from './development.ts'

const folder = new URL('./migrations/', import.meta.url)

export interface Migration {
  number: number
  name: string
}

/** A row of the table `migration`. */
export interface AppliedMigration {
  number: unknown
  name: unknown
}

/** Returns all migrations in order. Each file is for both databases. */
export const listMigrations = (): Migration[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((name) => ({ number: Number(name.slice(0, 4)), name }))

/** Reads the SQL of a migration for one of the databases. */
export const textOf = ({ name }: Migration, database: 'sqlite' | 'postgres'): string =>
  translate(readFileSync(new URL(name, folder), 'utf8'), database)

const BLOCK = /^-- begin (sqlite|postgres)\n([\s\S]*?)^-- end \1\n/gm

/**
 * Translates a migration. The text is SQL of SQLite, with blocks from `-- begin postgres` to `-- end postgres` (or `sqlite`) for one database.
 * Outside of these, Postgres gets `bigint` for `integer` and texts that compare by their bytes, as SQLite's do.
 */
function translate(text: string, database: 'sqlite' | 'postgres'): string {
  const parts = text.split(BLOCK)
  // `split` yields: text, name of a block, its content, text, …
  return parts
    .map((part, index) => {
      if (index % 3 === 1) return ''
      if (index % 3 === 2) return parts[index - 1] === database ? part : ''
      return database === 'sqlite' ? part : toPostgres(part)
    })
    .join('')
}

const toPostgres = (text: string): string =>
  text
    .replace(/^( {2}\w+ +)integer primary key autoincrement/gm, '$1bigint primary key')
    .replace(/^( {2}\w+ +)integer\b/gm, '$1bigint')
    .replace(/^( {2}\w+ +)text\b/gm, '$1text collate "C"')
    .replace(/^\) strict(, without rowid)?;/gm, ');')

/** Returns why a database is for a newer version than one with these migrations; undefined when it is not. */
export function whyNewer(migrations: readonly Migration[], applied: readonly AppliedMigration[]): string | undefined {
  const newest = migrations.at(-1)?.number ?? 0
  const newer = applied.find(({ number }) => Number(number) > newest)
  return newer && `the database is newer than this version: it has migration ${newer.name}; upgrade Countersign`
}

/**
 * Returns the migrations that are not applied yet.
 * @throws Error naming the migration when the database was written by a newer version, or by a development version that is too old.
 */
export function missing(migrations: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  if (isDevelopmentDatabase(applied)) return [...migrations]
  const why = whyNewer(migrations, applied)
  if (why !== undefined) throw new Error(why)
  const done = new Set(applied.map((row) => Number(row.number)))
  return migrations.filter(({ number }) => !done.has(number))
}

export const failed = ({ name }: Migration, cause: unknown) =>
  new Error(`migration ${name} failed: ${cause instanceof Error ? cause.message : cause}`, { cause })

const appliedTo = (db: DatabaseSync): AppliedMigration[] =>
  db.prepare('select number, name from migration order by number').all() as unknown as AppliedMigration[]

/** Is told before each migration of a database that has data: it may take long. @param left With this one. */
export type OnMigrate = (name: string, left: number) => void

/**
 * Brings the database to this code's version, one transaction per migration. When it returns, all are on disk.
 * @throws Error naming the migration when it fails, and as {@link missing}.
 */
export function migrate(db: DatabaseSync, onMigrate: OnMigrate = () => undefined): void {
  const { journal_mode, synchronous } = { ...db.prepare('PRAGMA journal_mode').get(), ...db.prepare('PRAGMA synchronous').get() }
  // The log keeps the order: with the last migration, those before it are on disk. A new database waits for the disk once instead of 20 times.
  const isLogged = journal_mode === 'wal'
  try {
    if (isLogged) db.exec('PRAGMA synchronous = NORMAL')
    db.exec('create table if not exists migration (number integer primary key, name text not null, applied_at integer not null) strict')
    const applied = appliedTo(db)
    const toDo = missing(listMigrations(), applied)
    for (const [at, migration] of toDo.entries()) {
      if (applied.length > 0) onMigrate(migration.name, toDo.length - at)
      if (isLogged && migration === toDo.at(-1)) db.exec(`PRAGMA synchronous = ${synchronous}`)
      apply(db, migration)
    }
  } finally {
    if (isLogged) db.exec(`PRAGMA synchronous = ${synchronous}`)
  }
}

function apply(db: DatabaseSync, migration: Migration): void {
  const { number, name } = migration
  db.exec('BEGIN IMMEDIATE')
  try {
    const upgrades = number === 1 && isDevelopmentDatabase(appliedTo(db))
    if (upgrades) db.exec('delete from migration')
    // The row comes first: a racing process fails here and does not run the rest.
    db.prepare('insert into migration (number, name, applied_at) values (?, ?, ?)').run(number, name, Date.now())
    db.exec(upgrades ? UPGRADE_FROM_DEVELOPMENT.sqlite : textOf(migration, 'sqlite'))
    checkpoint('migrate.before_commit')
    db.exec('COMMIT')
    checkpoint('migrate.after_commit')
  } catch (error) {
    // On a full disk SQLite has rolled back by itself.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw failed(migration, error)
  }
}

/** @throws Error when the database is not of exactly this version: a process that does not own the database must not migrate it. */
export function requireMigrated(db: DatabaseSync): void {
  if (missing(listMigrations(), appliedTo(db)).length === 0) return
  throw new Error('the server that is running here is older than this version: restart it with this one first')
}
