import { CountersignError, isCountersignError } from '@countersign/core'
import { sql } from 'kysely'
import type { Clock } from '../../clock.ts'
import { ask } from '../query.ts'
import type { Store } from '../store.ts'
import { createLockWatch, LOCKS, type TableLock } from './locked-tables.ts'

/** Rolls the attempt back. */
const ROOM_FOUND = new Error('there is room')

/** A provider sets a database whose disk is full to take no writes, and a primary may have become a standby. */
const TAKES_NONE = sql`current_setting('default_transaction_read_only') = 'on' or pg_is_in_recovery()`

/** One row for each lock, or one without a lock: a balancer asks every second, so this is one question. */
type Found = { takes_none: boolean } & (TableLock | { table_name: null })
const STATE = sql<Found>`select ${TAKES_NONE} as takes_none, locks.* from (values (1)) as one left join (${LOCKS}) as locks on true`

/**
 * Checks whether the database takes the writes of a decision. After a write that found no room it tries one: a temporary table needs new
 * blocks like rows do, and leaves nothing behind.
 */
export function postgresRoom(store: Store, clock: Clock): (hasFailed: boolean) => Promise<void> {
  const requireUnlocked = createLockWatch(clock)
  return async (hasFailed) => {
    const found = await store.read(() => ask<Found>((db) => ({ compile: () => STATE.compile(db) })))
    if (found[0]?.takes_none) throw new CountersignError('storage_full', 'the database takes no writes at the moment')
    requireUnlocked(found.filter((row) => row.table_name !== null))
    if (hasFailed) await tryToWrite(store)
  }
}

/** @throws CountersignError `storage_full`. */
async function tryToWrite(store: Store): Promise<void> {
  try {
    await store.transact(function* () {
      const query = sql`create temp table countersign_room on commit drop as select repeat('x', 500) from generate_series(1, 1000)`
      yield* ask((db) => ({ compile: () => query.compile(db) }))
      throw ROOM_FOUND
    })
  } catch (error) {
    // Without permission for temporary tables, the next write shows it.
    if (isCountersignError(error)) throw error
  }
}
