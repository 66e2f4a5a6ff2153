import { readdirSync, readFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Client } from 'pg'

const folder = new URL('./migrations/', import.meta.url)

interface Migration {
  number: number
  name: string
}

const listMigrations = (database: 'sqlite' | 'pg'): Migration[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith(`.${database}.sql`))
    .sort()
    .map((name) => ({ number: Number(name.slice(0, 4)), name }))

const textOf = ({ name }: Migration): string => readFileSync(new URL(name, folder), 'utf8')

/**
 * What is still to be done.
 * @throws Error naming the migration when the database was written by a newer version.
 */
function missing(migrations: readonly Migration[], applied: readonly { number: unknown; name: unknown }[]): Migration[] {
  const newest = migrations.at(-1)?.number ?? 0
  for (const row of applied) {
    if (Number(row.number) > newest)
      throw new Error(`the database is newer than this version: it has migration ${row.name}; upgrade Countersign`)
  }
  const done = new Set(applied.map((row) => Number(row.number)))
  return migrations.filter(({ number }) => !done.has(number))
}

const failed = ({ name }: Migration, cause: unknown) =>
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
      // The row first: a process that races us fails here and does not run the rest.
      db.prepare('insert into migration (number, name, applied_at) values (?, ?, ?)').run(number, name, Date.now())
      db.exec(textOf(migration))
      db.exec('COMMIT')
    } catch (error) {
      db.exec('ROLLBACK')
      throw failed(migration, error)
    }
  }
}

/** Locks out other processes that migrate the same database. Any number that nobody else uses in it. */
const MIGRATION_LOCK = 4_319_001

/**
 * The same for Postgres, where several processes may start at once: the first one migrates, the others wait and find it done. An older
 * version that is still running goes on working beside it.
 * @param client Connected, in no transaction, and nobody else's meanwhile.
 * @throws Error naming the migration when the database was written by a newer version.
 */
export async function migratePostgres(client: Client): Promise<void> {
  const migrations = listMigrations('pg')
  await inMigrationLock(client, async () => {
    await client.query('create table if not exists migration (number bigint primary key, name text not null, applied_at bigint not null)')
  })
  const findApplied = async () => (await client.query('select number, name from migration order by number')).rows
  for (const migration of missing(migrations, await findApplied())) {
    const { number, name } = migration
    await inMigrationLock(client, async () => {
      const { rowCount } = await client.query(
        `insert into migration (number, name, applied_at) values ($1, $2, extract(epoch from now()) * 1000) on conflict do nothing`,
        [number, name],
      )
      if (rowCount === 0) return
      await client.query(textOf(migration)).catch((error) => {
        throw failed(migration, error)
      })
    })
  }
}

/** One transaction at a time over all processes. The lock ends with the transaction: it works through a pooler too. */
export async function inMigrationLock(client: Client, work: () => Promise<void>): Promise<void> {
  await client.query('BEGIN')
  try {
    await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    await work()
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}
