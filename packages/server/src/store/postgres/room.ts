import { isCountersignError } from '@countersign/core'
import { sql } from 'kysely'
import { ask } from '../query.ts'
import type { Store } from '../store.ts'

/** Rolls the attempt back. */
const ROOM_FOUND = new Error('there is room')

/**
 * Finds out whether the database takes writes again after one that found no room: a temporary table needs new blocks as rows do, and
 * nothing of it stays. While writes succeed nobody asks.
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
      // Whoever may not make temporary tables learns from the next write.
      if (isCountersignError(error)) throw error
    }
  }
