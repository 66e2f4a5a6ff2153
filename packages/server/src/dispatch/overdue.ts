import type { DueRow } from '../store/index.ts'

/** Work that has not begun long after it became due. */
export interface Overdue {
  /** Approved actions. */
  readonly actions: number
  readonly sessions: number
  /** Since when the oldest of these actions has been due, epoch ms; undefined without any. */
  readonly oldestSinceMs: number | undefined
}

export interface OverduePage {
  /** The due rows on this page. */
  due: readonly DueRow[]
  /** Those of them that nothing has begun although there is room. */
  unattended: readonly DueRow[]
  isOverdue(row: DueRow): boolean
  /** True on the last page: the next one is the first again. */
  isLast: boolean
  /** Reports a row that was not reported before. */
  tell(row: DueRow): void
}

/**
 * Tracks overdue rows while they are read page by page, and reports each once. A row counts when two passes found it unattended: work of a
 * process that is gone is unattended for the few milliseconds until another one begins it.
 */
export interface OverdueList {
  readonly count: number
  readonly oldestSinceMs: number | undefined
  note(page: OverduePage): void
  /** Forgets all rows: the next page is the first again. */
  clear(): void
}

export function createOverdue(): OverdueList {
  /** The rows that the last complete pass found, and those found so far in this one. */
  let last = new Map<string, number>()
  let current = new Map<string, number>()
  let stillDue = new Set<string>()
  let told = new Set<string>()
  let lastUnattended = new Set<string>()
  let unattendedNow = new Set<string>()

  const all = () => new Map([...last, ...current])
  return {
    get count() {
      return all().size
    },
    get oldestSinceMs() {
      const times = [...all().values()]
      return times.length === 0 ? undefined : times.reduce((a, b) => Math.min(a, b))
    },
    note({ due, unattended, isOverdue, isLast, tell }) {
      for (const { id } of due) {
        last.delete(id)
        if (told.has(id)) stillDue.add(id)
      }
      for (const row of unattended) {
        unattendedNow.add(row.id)
        if (!lastUnattended.has(row.id) || !isOverdue(row)) continue
        current.set(row.id, row.sinceMs)
        stillDue.add(row.id)
        if (!told.has(row.id)) tell(row)
        told.add(row.id)
      }
      if (!isLast) return
      last = current
      told = stillDue
      current = new Map()
      stillDue = new Set()
      lastUnattended = unattendedNow
      unattendedNow = new Set()
    },
    clear() {
      last = new Map()
      current = new Map()
      stillDue = new Set()
      told = new Set()
      lastUnattended = new Set()
      unattendedNow = new Set()
    },
  }
}
