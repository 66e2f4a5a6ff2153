import type { Client } from 'pg'
import { FIRST_TRANSACTION, PLACES_PER_TRANSACTION } from '../dialect.ts'
import type { OnMigrate } from '../migrate.ts'
import { inMigrationLock, migratePostgres } from './migrate.ts'

const OLDEST_VERSION = 15

/**
 * Prepares a database for this code: checks its capabilities and migrates it. Returns the transaction that counts as the first of its log.
 * @param hear `warn` receives, as a sentence, unsafe settings that the operator may have chosen on purpose.
 * @throws Error when the database cannot be used.
 */
export async function prepareDatabase(
  client: Client,
  { warn = () => undefined, onMigrate }: { warn?: ((sentence: string) => void) | undefined; onMigrate?: OnMigrate | undefined } = {},
): Promise<number> {
  await requireDurability(client, warn)
  await requireSchema(client)
  await migratePostgres(client, onMigrate)
  let first = 0
  await inMigrationLock(client, async () => {
    first = await findFirstTransaction(client)
  })
  return first
}

async function requireDurability(client: Client, warn: (sentence: string) => void): Promise<void> {
  const { rows } = await client.query(`select current_setting('server_version_num')::int / 10000 as version,
    current_setting('server_version') as version_name, current_setting('synchronous_commit') as waits_for_disk, current_setting('fsync') as fsync,
    current_setting('full_page_writes') as full_page_writes, pg_is_in_recovery() as is_standby,
    current_setting('default_transaction_read_only') as read_only`)
  const { version, version_name, waits_for_disk, fsync, full_page_writes, is_standby, read_only } = rows[0]
  if (version < OLDEST_VERSION) throw new Error(`Postgres ${version_name} is too old: ${OLDEST_VERSION} or newer is needed`)
  if (is_standby) throw new Error('the database is a standby that takes no writes: name the primary in DATABASE_URL')
  if (read_only === 'on')
    throw new Error('the database has default_transaction_read_only = on and takes no writes: set it off for this database and its role')
  if (waits_for_disk === 'off') {
    throw new Error(
      'the database has synchronous_commit = off and could forget a decision that was taken: set it on for this database (alter database … set synchronous_commit = on)',
    )
  }
  // A setting of the whole cluster, not of this database: the operator chose it, and it only matters when the machine is lost.
  for (const [name, value] of Object.entries({ fsync, full_page_writes })) {
    if (value === 'off')
      warn(`the database server runs with ${name} = off: when its machine fails, decisions that were taken are lost or the data is damaged`)
  }
}

/** Tables that no other program is likely to have. */
const OWN_TABLES = ['action_revision', 'console_session', 'gateway_call']

/** A changed `search_path` hides the tables: a database in use would be taken for an empty one. */
async function requireSchema(client: Client): Promise<void> {
  const { rows } = await client.query(
    `select current_schema() as schema, current_setting('search_path') as path, (select min(nspname) from (
      select nspname from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where relname = any($1) and relkind = 'r' group by nspname having count(*) = $2) as holding) as used`,
    [OWN_TABLES, OWN_TABLES.length],
  )
  const { schema, path, used } = rows[0]
  if (schema === null)
    throw new Error(
      `the search_path of the database (${path}) names no schema that exists: set it to ${used ?? 'public'}, for this database and its role`,
    )
  if (used !== null && used !== schema)
    throw new Error(
      `the tables are in the schema ${used}, and the search_path of the database (${path}) leads to ${schema}: set it to ${used}, for this database and its role`,
    )
}

/**
 * Determines the first transaction of the log. A database that was restored into a cluster with fewer transactions counts from an earlier
 * one; otherwise new events would precede old ones.
 */
async function findFirstTransaction(client: Client): Promise<number> {
  const { rows } = await client.query(
    `select value::bigint::text as first, pg_snapshot_xmax(pg_current_snapshot())::text as next,
    greatest((select max(id) from event), (select max(id) from audit), (select max(last_event) from archive_file))::text as last_place from setting where name = $1`,
    [FIRST_TRANSACTION],
  )
  const first = Number(rows[0].first)
  const next = Number(rows[0].next)
  const transactionsInLog = Math.floor(Number(rows[0].last_place ?? 0) / PLACES_PER_TRANSACTION) + 1
  if (next - first >= transactionsInLog) return first
  await client.query('update setting set value = $2 where name = $1', [FIRST_TRANSACTION, String(next - transactionsInLog)])
  return next - transactionsInLog
}
