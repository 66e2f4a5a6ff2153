import type { ErrorCode } from '@countersign/core'
import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/index.ts'
import { recordAudit } from './record.ts'
import { SYSTEM } from './row.ts'

/** The same refusal within this time counts as a repeat of the first. */
const WINDOW_MS = 60_000
/**
 * How many different refusals of one actor per window have their own rows; further ones are counted together. A flood must not fill the
 * record, and a flood by one actor must not hide another's attempts. All unauthenticated requests count as one actor.
 */
const MOST_ROWS = 20
/** How many actors with refusals are distinguished per window. Each but the first needs a key. */
const MOST_ACTORS = 100

export interface Refusal {
  /** Id of the refused principal; `system` for an unauthenticated one. */
  actor: string
  data: { code: ErrorCode; why: string } & Record<string, string>
  /** Identifies repeats: two refusals of one actor with the same value are one and a repeat. */
  sameAs: readonly string[]
}

interface RefusalDeps {
  store: Pick<Store, 'transact'>
  clock: Clock
  log: Pick<Logger, 'warn'>
}

/** Writes refusals to the record. */
export interface Refusals {
  /** Counts a refusal, and records the first of its kind without making the caller wait. */
  note(refusal: Refusal): void
  /** Records the repeats that were counted and have no row yet. */
  flush(): Promise<void>
}

/**
 * Writes rows `refused`: the first refusal of a kind at once, its repeats within a minute as one more row with their number, and at most 20
 * different ones a minute for each actor. The refused request does not wait for it, and does not depend on it.
 */
export function createRefusals({ store, clock, log }: RefusalDeps): Refusals {
  let counted = new Map<string, Refusal & { times: number }>()
  /** For each actor, how many different refusals have a row, and how many more there were. */
  let actors = new Map<string, { rows: number; beyond: number }>()
  let stopWaiting: (() => void) | undefined
  let writing: Promise<unknown> = Promise.resolve()

  function write(rows: { actor: string; data: Record<string, string | number> }[]): void {
    if (rows.length === 0) return
    const nowMs = clock.nowMs()
    const written = store.transact(function* (outbox) {
      for (const { actor, data } of rows) yield* recordAudit(outbox, { kind: 'refused', actor, data }, nowMs)
    })
    writing = Promise.all([writing, written.catch((error: unknown) => log.warn({ error }, 'record.refusal_write_failed'))])
  }

  function endWindow(): void {
    stopWaiting?.()
    stopWaiting = undefined
    const repeated = [...counted.values()].filter(({ times }) => times > 0)
    write([
      ...repeated.map(({ actor, data, times }) => ({ actor, data: { ...data, times } })),
      ...[...actors]
        .filter(([, { beyond }]) => beyond > 0)
        .map(([actor, { beyond }]) => ({ actor, data: { why: 'more refusals than have a row of their own', times: beyond } })),
    ])
    counted = new Map()
    actors = new Map()
  }

  return {
    note(refusal) {
      stopWaiting ??= clock.after(WINDOW_MS, endWindow)
      const actor = actors.has(refusal.actor) || actors.size < MOST_ACTORS ? refusal.actor : SYSTEM
      const known = actors.get(actor) ?? { rows: 0, beyond: 0 }
      actors.set(actor, known)
      const name = JSON.stringify([actor, refusal.data.code, ...refusal.sameAs])
      const earlier = counted.get(name)
      if (earlier) earlier.times++
      else if (known.rows >= MOST_ROWS) known.beyond++
      else {
        known.rows++
        counted.set(name, { ...refusal, times: 0 })
        write([refusal])
      }
    },
    async flush() {
      endWindow()
      await writing
    },
  }
}
