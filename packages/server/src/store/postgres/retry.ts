import { CountersignError } from '@countersign/core'
import type { Clock } from '../../clock.ts'
import { asStoreError, failureOf } from './errors.ts'

/** How often a transaction is repeated because of conflicts with others. */
const MAX_RUNS = 20
/** How long to wait for an unreachable database. */
const LOST_MS = 10_000
/** How long to ask for the result of a transaction whose COMMIT was not answered: longer than the server keeps an idle one. */
const FATE_MS = 30_000

/** How long to repeat what may still succeed. */
export interface Patience {
  /** Runs `attempt` until it succeeds, as often and as long as that may help. @throws The error for callers after all retries. */
  insist<T>(attempt: () => Promise<T>): Promise<T>
  /** Asks until there is an answer. @throws CountersignError `not_ready`. */
  untilKnown<T>(ask: () => Promise<T | undefined>): Promise<T>
}

export function createPatience(clock: Clock): Patience {
  const pause = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve))
  const longer = (runs: number) => Math.min(25 * 2 ** Math.min(runs, 5), 500)

  return {
    async insist(attempt) {
      const giveUpAt = clock.nowMs() + LOST_MS
      for (let runs = 1; ; runs++) {
        try {
          return await attempt()
        } catch (error) {
          const failure = failureOf(error)
          const isHopeless = failure === 'final' || (failure === 'again' ? runs === MAX_RUNS : clock.nowMs() > giveUpAt)
          if (isHopeless) throw asStoreError(error)
          if (failure === 'lost') await pause(longer(runs))
        }
      }
    },

    async untilKnown(ask) {
      const giveUpAt = clock.nowMs() + FATE_MS
      for (let runs = 1; ; runs++) {
        const answer = await ask().catch((error) => {
          if (failureOf(error) === 'final') throw error
          return undefined
        })
        if (answer !== undefined) return answer
        if (clock.nowMs() > giveUpAt) {
          throw new CountersignError(
            'not_ready',
            'the database went away in the middle of a commit: look what became of it, then try again',
          )
        }
        await pause(longer(runs))
      }
    },
  }
}
