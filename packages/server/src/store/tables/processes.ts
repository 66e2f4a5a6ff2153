import type { QueryConfig, QueryResult, QueryResultRow } from 'pg'

// The advisory locks of living processes are pairs of this number and their own; 'CS'.
const LOCKS = 0x4353

const NOW_MS = 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint'

/** A connection that belongs to one process and is not shared: its session's locks are the process's. */
export interface OwnConnection {
  query<R extends QueryResultRow>(query: QueryConfig): Promise<QueryResult<R>>
}

/** The data that a process reports about itself. */
export interface ProcessCard {
  id: string
  /** For operators: machine and process number. */
  name: string
  version: string
  /** The ids under which it takes jobs. */
  pools: readonly string[]
}

/** Another process's view of one that it may have to take over. */
export interface OtherProcess {
  id: string
  number: number
  pools: string[]
  /** Its own connection, by the number that the database gave it. */
  backend: number
  /** The connection that holds its lock; null when none does. */
  heldBy: number | null
  /** Time since its last beat, by the database's clock. */
  silentMs: number
}

const first = async <R extends QueryResultRow>(
  connection: OwnConnection,
  name: string,
  text: string,
  values: unknown[] = [],
): Promise<R | undefined> => (await connection.query<R>({ name, text, values })).rows[0]

/** Registers a process. The lock exists before the row is visible. Returns its number. */
export async function registerProcess(connection: OwnConnection, { id, name, version, pools }: ProcessCard): Promise<number> {
  const row = await first<{ number: number }>(
    connection,
    'process_register',
    `with me as (
       insert into process (id, name, version, pools, backend, started_at, seen_at)
       values ($1, $2, $3, $4, pg_backend_pid(), ${NOW_MS}, ${NOW_MS}) returning number
     )
     select number, pg_advisory_lock(${LOCKS}, number) from me`,
    [id, name, version, JSON.stringify(pools)],
  )
  return Number(row?.number)
}

/**
 * Takes the lock of a process for its new connection. Returns false when the process has been taken over: then its id is dead. The server
 * ends a previous connection that it still considers open.
 */
export async function resumeProcess(connection: OwnConnection, id: string, number: number): Promise<boolean> {
  await first(
    connection,
    'process_end_former',
    `select pg_terminate_backend(pid, 1000) from pg_locks
     where locktype = 'advisory' and classid = ${LOCKS} and objid = $2::bigint::oid and objsubid = 2 and granted
     and database = (select oid from pg_database where datname = current_database())
     and pid = (select backend from process where id = $1) and pid <> pg_backend_pid()`,
    [id, number],
  )
  if (!(await takeProcess(connection, number))) return false
  const isThere = await first(
    connection,
    'process_resume',
    `update process set backend = pg_backend_pid(), seen_at = ${NOW_MS} where id = $1 returning id`,
    [id],
  )
  if (!isThere) await releaseProcess(connection, number)
  return isThere !== undefined
}

/** Announces the ids under which this process takes jobs from now on. */
export const savePools = (connection: OwnConnection, id: string, pools: readonly string[]): Promise<unknown> =>
  first(connection, 'process_pools', 'update process set pools = $2 where id = $1', [id, JSON.stringify(pools)])

interface BeatRow {
  now: string
  known: string
  id: string | null
  number: number
  pools: string
  backend: number
  held_by: number | null
  silent: string
}

/** Reports that the process is alive. Returns the database's time, whether the process is still registered, and the others. */
export async function beat(connection: OwnConnection, id: string): Promise<{ nowMs: number; isKnown: boolean; others: OtherProcess[] }> {
  const { rows } = await connection.query<BeatRow>({
    name: 'process_beat',
    text: `with me as (update process set seen_at = ${NOW_MS} where id = $1 returning id),
      held as materialized (
        select objid::bigint as number, min(pid) as pid from pg_locks
        where locktype = 'advisory' and classid = ${LOCKS} and objsubid = 2 and granted
        and database = (select oid from pg_database where datname = current_database()) group by objid
      )
      select extract(epoch from clock_timestamp()) * 1000 as now, (select count(*) from me) as known, other.*
      from (select 1) as one left join (
        select p.id, p.number, p.pools, p.backend, held.pid as held_by, ${NOW_MS} - p.seen_at as silent
        from process as p left join held on held.number = p.number where p.id <> $1 order by p.number
      ) as other on true`,
    values: [id],
  })
  const others: OtherProcess[] = []
  for (const { id, number, pools, backend, held_by, silent } of rows) {
    if (id !== null) others.push({ id, number, pools: JSON.parse(pools), backend, heldBy: held_by, silentMs: Number(silent) })
  }
  return { nowMs: Number(rows[0]?.now), isKnown: Number(rows[0]?.known) === 1, others }
}

/** Returns the name of a process that lives on the database, which may have no tables yet; undefined when none does. */
export async function livingProcess(connection: OwnConnection): Promise<string | undefined> {
  const isThere = await first<{ process: string | null }>(connection, 'process_table', `select to_regclass('process')::text as process`)
  if (!isThere?.process) return undefined
  const row = await first<{ name: string }>(
    connection,
    'process_living',
    `select name from process where number in (
       select objid::bigint from pg_locks where locktype = 'advisory' and classid = ${LOCKS} and objsubid = 2 and granted
       and database = (select oid from pg_database where datname = current_database())
     ) order by number limit 1`,
  )
  return row?.name
}

/** Ends the connection of a silent process: when it resumes, it finds its sign of life gone. */
export const endConnection = (connection: OwnConnection, backend: number): Promise<unknown> =>
  first(connection, 'process_end', 'select pg_terminate_backend($1)', [backend])

/** Takes the lock of a process that is gone. Returns false when another process has it, or the process is alive after all. */
export async function takeProcess(connection: OwnConnection, number: number): Promise<boolean> {
  const row = await first<{ taken: boolean }>(connection, 'process_take', `select pg_try_advisory_lock(${LOCKS}, $1) as taken`, [number])
  return row?.taken === true
}

export const releaseProcess = (connection: OwnConnection, number: number): Promise<unknown> =>
  first(connection, 'process_release', `select pg_advisory_unlock(${LOCKS}, $1)`, [number])

/** @returns False for a process that still executes an action or makes a model call: its row is kept. */
export async function forgetProcess(connection: OwnConnection, id: string): Promise<boolean> {
  const row = await first(
    connection,
    'process_forget',
    `delete from process where id = $1
     and not exists (select 1 from action where runner = $1 and state = 'executing' and executor = 'server')
     and not exists (select 1 from run where runner = $1 and state = 'open' and claimed = steps) returning id`,
    [id],
  )
  return row !== undefined
}

/** Reports that a process leaves unfinished work: another process takes over at once. */
export const abandonProcess = (connection: OwnConnection, id: string): Promise<unknown> =>
  first(connection, 'process_abandon', 'update process set seen_at = 0 where id = $1', [id])
