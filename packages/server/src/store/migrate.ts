import { readdirSync, readFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { checkpoint } from '@countersign/toolkit/internal'

const folder = new URL('./migrations/', import.meta.url)

export interface Migration {
  number: number
  name: string
}

export const listMigrations = (database: 'sqlite' | 'pg'): Migration[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith(`.${database}.sql`))
    .sort()
    .map((name) => ({ number: Number(name.slice(0, 4)), name }))

export const textOf = ({ name }: Migration): string => readFileSync(new URL(name, folder), 'utf8')

/**
 * Returns the migrations that are not applied yet.
 * @throws Error naming the migration when the database was written by a newer version.
 */
export function missing(migrations: readonly Migration[], applied: readonly { number: unknown; name: unknown }[]): Migration[] {
  const newest = migrations.at(-1)?.number ?? 0
  for (const row of applied) {
    if (Number(row.number) > newest)
      throw new Error(`the database is newer than this version: it has migration ${row.name}; upgrade Countersign`)
  }
  const done = new Set(applied.map((row) => Number(row.number)))
  return migrations.filter(({ number }) => !done.has(number))
}

export const failed = ({ name }: Migration, cause: unknown) =>
  new Error(`migration ${name} failed: ${cause instanceof Error ? cause.message : cause}`, { cause })

/**
 * Brings the database to this code's version, one transaction per migration.
 * @throws Error naming the migration when the database was written by a newer version.
 */
export function migrate(db: DatabaseSync): void {
  db.exec('create table if not exists migration (number integer primary key, name text not null, applied_at integer not null) strict')
  const applied = db.prepare('select number, name from migration order by number').all() as { number: unknown; name: unknown }[]
  for (const migration of missing(listMigrations('sqlite'), applied)) {
    const { number, name } = migration
    db.exec('BEGIN IMMEDIATE')
    try {
      // The row comes first: a racing process fails here and does not run the rest.
      db.prepare('insert into migration (number, name, applied_at) values (?, ?, ?)').run(number, name, Date.now())
      db.exec(textOf(migration))
      checkpoint('migrate.before_commit')
      db.exec('COMMIT')
      checkpoint('migrate.after_commit')
    } catch (error) {
      db.exec('ROLLBACK')
      throw failed(migration, error)
    }
  }
}

/** @throws Error when the database is not of exactly this version: a process that does not own the database must not migrate it. */
export function requireMigrated(db: DatabaseSync): void {
  const applied = db.prepare('select number, name from migration order by number').all() as { number: unknown; name: unknown }[]
  if (missing(listMigrations('sqlite'), applied).length === 0) return
  throw new Error('the server that is running here is older than this version: restart it with this one first')
}
