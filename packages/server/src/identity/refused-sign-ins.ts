import type { Logger } from 'pino'
import { recordAudit, SYSTEM } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/index.ts'
import { createBuckets } from './limits.ts'

/** This many refused sign-ins a minute get rows in the record; the next row has the number of the others. */
const ROWS_PER_MINUTE = 10
const MINUTE_MS = 60_000

export interface RefusedSignIn {
  how: 'local' | 'key'
  /** The reason, in one word. */
  reason: string
  /** Where the request came from. */
  address: string
}

export interface RefusedSignIns {
  note(refused: RefusedSignIn): Promise<void>
  /** Writes a row for the refusals that were counted and have none yet. */
  flush(): Promise<void>
}

/**
 * Logs every refused sign-in, and records it unless there are too many: an attacker who guesses keys must not fill the disk. The others are
 * counted in the next row, which is written at the end of the minute when no other refusal comes first.
 */
export function createRefusedSignIns({ store, clock, log }: { store: Store; clock: Clock; log: Logger }): RefusedSignIns {
  const rows = createBuckets({ perSecond: ROWS_PER_MINUTE / 60, burst: ROWS_PER_MINUTE, clock })
  let unrecorded = 0
  /** The newest refusal without a row. */
  let last: RefusedSignIn | undefined
  let stopWaiting: (() => void) | undefined

  async function write(refused: RefusedSignIn): Promise<void> {
    stopWaiting?.()
    stopWaiting = undefined
    const data = { ...refused, unrecorded }
    unrecorded = 0
    last = undefined
    const now = clock.nowMs()
    await store.transact((outbox) => recordAudit(outbox, { kind: 'sign_in_refused', actor: SYSTEM, data }, now))
  }

  async function flush(): Promise<void> {
    if (last === undefined) return
    // This refusal is the row itself, so the row does not count it.
    unrecorded--
    await write(last).catch((error: unknown) => log.warn({ error }, 'record.refusal_write_failed'))
  }

  return {
    async note({ how, reason, address }) {
      log.warn({ how, reason, address }, 'sign_in.refused')
      const refused = { how, reason, address }
      if (rows.take('all') === 0) return write(refused)
      unrecorded++
      last = refused
      stopWaiting ??= clock.after(MINUTE_MS, () => void flush())
    },
    flush,
  }
}
