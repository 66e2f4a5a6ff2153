import type { Clock } from '../clock.ts'
import { type InstanceRow, instance, LONGEST_ATTEMPT_MS, type Mark, type Store } from '../store/index.ts'

/** How often a process checks whether everything is held, and whether its database was promoted. */
const LOOK_EVERY_MS = 1_000
/**
 * After a promotion the other processes have this long to reconnect and report the commits that they know. One whose attempt to connect hangs
 * at the address of a machine that is gone looks only when that has ended, and up to one look later.
 */
export const VOUCH_AFTER_MS = LONGEST_ATTEMPT_MS + LOOK_EVERY_MS + 500

const LOST =
  'The database was promoted, or restored to an earlier time, and does not hold what was already committed: approvals or the start of actions may be lost.'

/**
 * The newest commits are enough: a promoted standby holds all transactions up to some point, so it lacks the newest first. More than one is
 * needed, because answers to concurrent commits may arrive in another order.
 */
const MOST_KNOWN = 1_000

export interface PromotionOptions {
  store: Store
  clock: Clock
  /** The installation and the timeline of the database when this process opened it. */
  opened: Pick<InstanceRow, 'id' | 'timeline'>
  /** The row that this process knows to be committed when it begins to watch. */
  marks: readonly Mark[]
  /** Called with the row at each check. */
  seen(row: InstanceRow): Promise<void>
  hold(why: string): Promise<void>
  /** Called when the database of a new timeline may be used: this process, or another one, has vouched for it. */
  vouched(): void
  failed(error: unknown): void
}

/** Watches a Postgres for promotion: nothing starts on a new timeline until it is known to hold all known commits. */
export interface PromotionWatch {
  /** Notes a committed row. */
  note(mark: Mark): void
  stop(): void
}

export function watchPromotion({ store, clock, opened, marks, seen, hold, vouched, failed }: PromotionOptions): PromotionWatch {
  /** Rows committed since the last check of an unchanged timeline, after the newest one before. A new timeline has to hold all of them. */
  let known = [...marks]
  let { id, timeline } = opened
  let promotedAt: number | undefined
  let isStopped = false
  let stopWaiting = () => {}

  async function look(): Promise<void> {
    const before = known
    const row = await store.read(instance.readNow)
    await seen(row)
    const isCompared = new Set(before)
    const since = known.filter((mark) => !isCompared.has(mark))
    if (row.id !== id) {
      // A person accepted the database as it is: what it lacks of the time before is taken for lost.
      id = row.id
      timeline = row.timeline
      known = since
      promotedAt = undefined
      return
    }
    const now = row.current_timeline
    timeline ??= row.timeline
    if (row.held_at !== null || now === null || timeline === null) return
    if (now === timeline) {
      known = [...before.slice(-1), ...since]
      return
    }
    for (const mark of known) {
      if ((await store.read(() => instance.markAt.first({ place: mark.place })))?.hash !== mark.hash) return hold(LOST)
    }
    promotedAt ??= clock.nowMs()
    if (row.timeline !== now) {
      if (clock.nowMs() - promotedAt < VOUCH_AFTER_MS) return
      await store.transact(() => instance.vouchForTimeline.change({ id: row.id, timeline: now }))
    }
    timeline = now
    promotedAt = undefined
    vouched()
  }

  function again(): void {
    if (isStopped) return
    stopWaiting = clock.after(LOOK_EVERY_MS, () => {
      // An unreachable database reports nothing and accepts nothing.
      look().catch(failed).finally(again)
    })
  }
  again()

  return {
    note(mark) {
      known.push(mark)
      if (known.length > 2 * MOST_KNOWN) known = known.slice(-MOST_KNOWN)
    },
    stop() {
      isStopped = true
      stopWaiting()
    },
  }
}
