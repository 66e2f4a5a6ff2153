import { checkpoint } from '@countersign/toolkit/internal'
import type { Client } from 'pg'
import type { Clock } from '../../clock.ts'
import { isDevelopmentDatabase, UPGRADE_FROM_DEVELOPMENT } from '../development.ts'
import { type AppliedMigration, failed, listMigrations, type Migration, missing, type OnMigrate, textOf, whyNewer } from '../migrate.ts'
import { livingProcess, type OwnConnection } from '../tables/processes.ts'
import { requireWholeSchema } from '../whole-schema.ts'
import { pg } from './driver.ts'

/** Key of the advisory lock of migrations. It may be any number that nothing else in the database uses. */
const MIGRATION_LOCK = 4_319_001
/**
 * Shorter than the second after which Postgres checks for a deadlock: when a migration and a running process wait for each other, the
 * migration gives way.
 */
const TABLES_TIMEOUT_MS = 300
const MAX_TRIES = 100
/** Tables that transactions write to, in the order in which most transactions reach them. */
export const WRITTEN = ['session', 'run', 'action', 'message', 'vote', 'event', 'once']

/** Indexes, and tables with a primary key: each of ours has one. */
const NAMES = `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and (relkind = 'i'
  or relkind = 'r' and exists (select from pg_index where indrelid = pg_class.oid and indisprimary and indisvalid))`

/**
 * Brings a Postgres database to this code's version, one transaction per migration. Several processes may start at once: the first one
 * migrates; the others wait and find it done.
 * @param client Connected, in no transaction, and not shared while this runs.
 * @throws Error naming the migration when it fails, naming what an incomplete database lacks, when the database is of a newer or a too old version, and while a server of the older
 * version is running on it.
 */
export async function migratePostgres(client: Client, onMigrate: OnMigrate = () => undefined): Promise<void> {
  await inMigrationLock(client, async () => {
    await client.query('create table if not exists migration (number bigint primary key, name text not null, applied_at bigint not null)')
  })
  const { rows } = await client.query('select number, name from migration order by number')
  const toDo = missing(listMigrations(), rows)
  for (const [at, migration] of toDo.entries()) {
    if (rows.length > 0) onMigrate(migration.name, toDo.length - at)
    for (let tries = 1; !(await apply(client, migration, tries < MAX_TRIES)); tries++);
  }
  const { rows: found } = await client.query(NAMES)
  requireWholeSchema(
    'postgres',
    new Set(found.map(({ name }) => name)),
    'restore a backup into an empty database: countersign restore FILE --database-url URL',
  )
}

/** Applies one migration. Returns false when other transactions held the tables. */
async function apply(client: Client, migration: Migration, mayTryAgain: boolean): Promise<boolean> {
  try {
    await inMigrationLock(client, async () => {
      const { rows } = await client.query('select number, name from migration')
      const upgrades = migration.number === 1 && isDevelopmentDatabase(rows)
      if (upgrades) await client.query('delete from migration')
      const { rowCount } = await client.query(
        `insert into migration (number, name, applied_at) values ($1, $2, extract(epoch from now()) * 1000) on conflict do nothing`,
        [migration.number, migration.name],
      )
      if (rowCount === 0) return
      await requireNoServer(client)
      await takeTables(client)
      await client.query(upgrades ? UPGRADE_FROM_DEVELOPMENT.postgres : textOf(migration, 'postgres'))
      checkpoint('migrate.before_commit')
    })
    checkpoint('migrate.after_commit')
    return true
  } catch (error) {
    if (error instanceof OlderServerRunning) throw error
    // lock_not_available, deadlock_detected
    if (mayTryAgain && error instanceof pg().DatabaseError && (error.code === '55P03' || error.code === '40P01')) return false
    throw failed(migration, error)
  }
}

class OlderServerRunning extends Error {}

/**
 * An older server would go on writing to tables that it does not know. A server registers after its migrations: while one is missing, every
 * server that lives is older. One that is not seen here, because its connection is away, looks when it is back: see {@link findNewer}.
 */
async function requireNoServer(client: Client): Promise<void> {
  const name = await livingProcess(client)
  if (name !== undefined)
    throw new OlderServerRunning(
      `a server of an older version (${name}) is running on this database: stop all of them, then start this one`,
    )
}

/** How often a process looks whether a migration has ended. */
const LOOK_MS = 50

/**
 * Returns why the database is not for this code any more; undefined while it is.
 * @param session Of a process that has its sign of life: whoever migrates from now on sees it and gives way.
 */
export async function findNewer(session: OwnConnection, clock: Clock): Promise<string | undefined> {
  const isFree = async () => {
    const { rows } = await session.query<{ free: boolean }>({
      text: 'select pg_try_advisory_xact_lock_shared($1) as free',
      values: [MIGRATION_LOCK],
    })
    return rows[0]?.free === true
  }
  // A migration that did not see it may not be committed yet.
  while (!(await isFree())) await new Promise<void>((resolve) => clock.after(LOOK_MS, resolve))
  const { rows } = await session.query({ text: 'select number, name from migration order by number' })
  return whyNewer(listMigrations(), rows as unknown as AppliedMigration[])
}

/** Locks the tables once no open transaction uses them. */
async function takeTables(client: Client): Promise<void> {
  const { rows } = await client.query(
    'select name from unnest($1::text[]) with ordinality as t (name, n) where to_regclass(name) is not null order by n',
    [WRITTEN],
  )
  if (rows.length === 0) return
  await client.query(`set local lock_timeout = ${TABLES_TIMEOUT_MS}`)
  await client.query(`lock table ${rows.map(({ name }) => name).join(', ')} in access exclusive mode`)
  await client.query('set local lock_timeout = 0')
}

/** Runs one transaction at a time across all processes. The lock ends with the transaction, so it works through a pooler too. */
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
