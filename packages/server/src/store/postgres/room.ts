import { CountersignError, isCountersignError } from '@countersign/core'
import { sql } from 'kysely'
import { ask } from '../query.ts'
import type { Store } from '../store.ts'

/** Rolls the attempt back. */
const ROOM_FOUND = new Error('there is room')

/** A provider sets a database whose disk is full to take no writes, and a primary may have become a standby. */
const TAKES_NONE = sql<{ takes_none: boolean }>`
  select current_setting('default_transaction_read_only') = 'on' or pg_is_in_recovery() as takes_none`

/**
 * Checks whether the database takes writes. After a write that found no room it tries one: a temporary table needs new blocks like rows do,
 * and leaves nothing behind.
 */
export const postgresRoom =
  (store: Store) =>
  async (hasFailed: boolean): Promise<void> => {
    const [found] = await store.read(() => ask<{ takes_none: boolean }>((db) => ({ compile: () => TAKES_NONE.compile(db) })))
    if (found?.takes_none) throw new CountersignError('storage_full', 'the database takes no writes at the moment')
    if (!hasFailed) return
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
