import { CountersignError } from '@countersign/core'
import { sql } from 'kysely'
import type { Clock } from '../../clock.ts'
import { WRITTEN } from './migrate.ts'

/** The tables that decisions write to, with the queue of what they start. */
const DECISION_TABLES = [...WRITTEN, 'audit', 'graphile_worker._private_jobs']

/** Longer than a session holds such a lock in passing. Decisions wait for 20 seconds. */
const IN_PASSING_MS = 2_000

/** A lock with which a session keeps others from writing to a table, or waits to do so: writes queue behind both. */
export interface TableLock {
  table_name: string
  pid: number
}

// `pg_locks` shows the locks of all roles. What maintains the tables by itself (autovacuum) is no user's session, and gives way to writes.
export const LOCKS = sql<TableLock>`
  select lock.relation::regclass::text as table_name, lock.pid
  from pg_locks as lock join pg_stat_activity as session on session.pid = lock.pid and session.usesysid is not null
  where lock.locktype = 'relation' and lock.database = (select oid from pg_database where datname = current_database())
    and lock.relation in (select to_regclass(name) from unnest(array[${sql.join(DECISION_TABLES.map(sql.lit))}]) as name)
    and lock.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`

/** Tells locks that stay from those in passing, by looking more than once: the start of another role's transaction cannot be seen. */
export function createLockWatch(clock: Clock): (locks: readonly TableLock[]) => void {
  let seen = new Map<string, number>()

  /** @throws CountersignError `not_ready` for a lock that was seen 2 seconds ago or earlier, and at each look since. */
  return (locks) => {
    const nowMs = clock.nowMs()
    const keyOf = ({ table_name, pid }: TableLock) => `${table_name} ${pid}`
    seen = new Map(locks.map((lock) => [keyOf(lock), seen.get(keyOf(lock)) ?? nowMs]))
    const staying = locks.find((lock) => nowMs - (seen.get(keyOf(lock)) ?? nowMs) >= IN_PASSING_MS)
    if (!staying) return
    const { table_name, pid } = staying
    throw new CountersignError(
      'not_ready',
      `decisions cannot be stored: the database session ${pid} locks the table ${table_name}; end its transaction, or wait for it`,
    )
  }
}
