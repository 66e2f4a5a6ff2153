import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import { reach } from '../points.ts'
import { audit, lockKey, type Store, type Tx } from '../store/index.ts'
import { createTally, makeHead } from './head.ts'
import type { AuditKey } from './key.ts'

/** New rows wait for their seal this long: those of the same second share it. */
const SEAL_AFTER_MS = 1_000
/** After a failure, when the database was away for example. */
const RETRY_MS = 5_000
/** Rows under one head. */
const MAX_ROWS = 5_000

export interface SealerWork {
  store: Store
  key: AuditKey
  log: Logger
}

/**
 * Seals the record: signs a head over the rows that are new, a second after the first of them. Every process does it for the rows of all,
 * one at a time; what one leaves the next one finds.
 */
export interface Sealer {
  /** Before this nothing is sealed. Seals what earlier processes left. */
  start(work: SealerWork): void
  /** There are new rows, or may be. */
  wake(): void
  /** Seals what is left, as far as it can be, and nothing more after that. */
  finish(): Promise<void>
}

export function createSealer(clock: Clock): Sealer {
  let work: SealerWork | undefined
  let takeBack: (() => void) | undefined
  let isAsked = false
  let isFinished = false
  let underWay: Promise<void> | undefined

  function arm(waitMs: number): void {
    if (takeBack || isFinished) return
    takeBack = clock.after(waitMs, () => {
      takeBack = undefined
      void look()
    })
  }

  function look(): Promise<void> {
    underWay ??= seal().finally(() => {
      underWay = undefined
    })
    return underWay
  }

  async function seal(): Promise<void> {
    if (!work) return
    const { store, key, log } = work
    isAsked = false
    try {
      reach('seal.before_store')
      const sealed = await sealAll(store, key, () => clock.nowMs())
      reach('seal.after_store')
      if (!sealed || isAsked) arm(SEAL_AFTER_MS)
    } catch (error) {
      log.warn({ error }, 'audit.not_sealed')
      arm(RETRY_MS)
    }
  }

  return {
    start(given) {
      work = given
      void look()
    },
    wake() {
      isAsked = true
      if (work && !underWay) arm(SEAL_AFTER_MS)
    },
    async finish() {
      isFinished = true
      takeBack?.()
      await underWay
      await look()
    },
  }
}

/** Seals every row that can be. False when there are rows left that something may still be written before. */
export async function sealAll(store: Store, key: AuditKey, nowMs: () => number): Promise<boolean> {
  for (;;) {
    // Looked for first without the lock: mostly there is nothing.
    const found = await store.read(findNew)
    if (found === 'nothing') return true
    if (found === 'open') return false
    await store.transact(() => sealSome(key, nowMs()))
  }
}

function* findNew(): Tx<'nothing' | 'open' | 'some'> {
  const last = yield* audit.lastHead.first({})
  const first = yield* audit.rowsToSeal.first({ after: last?.last_id ?? 0, limit: 1 })
  if (!first) return 'nothing'
  return first.is_final ? 'some' : 'open'
}

function* sealSome(key: AuditKey, nowMs: number): Tx<void> {
  yield* lockKey('audit_head')
  const last = yield* audit.lastHead.first({})
  const tally = createTally()
  for (const row of yield* audit.rowsToSeal.all({ after: last?.last_id ?? 0, limit: MAX_ROWS })) {
    if (!row.is_final) break
    tally.add(row)
  }
  if (tally.rowCount > 0) yield* audit.insertHead.run(makeHead(tally, last, key, nowMs))
}
