import type { Logger } from 'pino'
import { recordAudit, SYSTEM } from '../../audit/index.ts'
import type { Clock } from '../../clock.ts'
import type { Store } from '../../store/index.ts'
import { createBuckets } from './limits.ts'

/** This many refused sign-ins a minute are rows of the record; the next row says how many more there were. */
const ROWS_PER_MINUTE = 10

export interface RefusedSignIn {
  how: 'local' | 'key'
  /** Why, in a word. */
  reason: string
  /** Where the request came from. */
  address: string
}

/** Notes every refused sign-in in the log, and in the record as far as it is no flood: whoever guesses must not fill the disk. */
export function createRefusedSignIns({ store, clock, log }: { store: Store; clock: Clock; log: Logger }): {
  note(refused: RefusedSignIn): Promise<void>
} {
  const rows = createBuckets({ perSecond: ROWS_PER_MINUTE / 60, burst: ROWS_PER_MINUTE, clock })
  let unrecorded = 0
  return {
    async note({ how, reason, address }) {
      log.warn({ how, reason, address }, 'sign_in.refused')
      if (rows.take('all') > 0) {
        unrecorded++
        return
      }
      const data = { how, reason, address, unrecorded }
      unrecorded = 0
      const now = clock.nowMs()
      await store.transact((outbox) => recordAudit(outbox, { kind: 'sign_in_refused', actor: SYSTEM, data }, now))
    },
  }
}
