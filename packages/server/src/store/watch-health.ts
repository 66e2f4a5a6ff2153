import { isCountersignError } from '@countersign/core'
import type { DamageWatch } from './damage-watch.ts'
import type { Store } from './store.ts'

export interface HealthOptions {
  /** Shared with `store` where that can refuse transactions that are queued already. */
  watch: DamageWatch
  /**
   * Finds out whether there is room.
   * @param hasFailed True when the last write found none: then a real attempt is worth its price.
   * @throws CountersignError `storage_full`.
   */
  findRoom(hasFailed: boolean): Promise<void>
}

/**
 * A store that remembers what its errors say about the database. After the first sign of damage it takes no more transactions until the
 * server is started again. Reads go on, as far as they succeed.
 */
export function watchHealth(store: Store, { watch, findRoom }: HealthOptions): Store {
  let isFull = false

  function learn(error: unknown): unknown {
    if (isCountersignError(error) && error.code === 'storage_full') isFull = true
    return watch.learn(error)
  }

  return {
    health: {
      get damage() {
        return watch.damage
      },
      async requireRoom() {
        await findRoom(isFull)
        isFull = false
      },
    },
    async transact(work) {
      if (watch.refusal) throw watch.refusal
      try {
        return await store.transact(work)
      } catch (error) {
        throw learn(error)
      }
    },
    async read(work) {
      try {
        return await store.read(work)
      } catch (error) {
        throw learn(error)
      }
    },
    close: () => store.close(),
  }
}
