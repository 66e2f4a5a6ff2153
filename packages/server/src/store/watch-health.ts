import { isCountersignError } from '@countersign/core'
import type { DamageWatch } from './damage-watch.ts'
import type { Store } from './store.ts'

export interface HealthOptions {
  /** Shared with `store` when that can refuse queued transactions. */
  watch: DamageWatch
  /**
   * Checks whether a write can be stored.
   * @param hasFailed True when the last write found none: then an actual attempt is worth its cost.
   * @throws CountersignError `storage_full`; `not_ready` when others keep it from being written to.
   */
  findRoom(hasFailed: boolean): Promise<void>
}

/**
 * Wraps a store and remembers the damage that its errors indicate. After the first sign of damage it refuses all transactions until the
 * server is started again. Reads continue, as far as they succeed.
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
      refuse: watch.refuse,
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
    lastWritten: (sessionId) => store.lastWritten(sessionId),
    close: () => store.close(),
  }
}
