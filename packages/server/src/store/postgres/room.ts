import { isCountersignError } from '@countersign/core'
import { sql } from 'kysely'
import { ask } from '../query.ts'
import type { Store } from '../store.ts'

/** Rolls the attempt back. */
const ROOM_FOUND = new Error('there is room')

/**
 * Checks whether the database takes writes again after a write that found no room: a temporary table needs new blocks like rows do, and
 * leaves nothing behind. While writes succeed, this check does not run.
 */
export const postgresRoom =
  (store: Store) =>
  async (hasFailed: boolean): Promise<void> => {
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
