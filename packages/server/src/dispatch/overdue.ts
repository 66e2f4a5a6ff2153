import type { DueRow } from '../store/index.ts'

/** What has not begun long after its turn. */
export interface Overdue {
  /** Approved actions. */
  readonly actions: number
  readonly sessions: number
  /** Since when the oldest of these actions has been due, epoch ms; undefined without any. */
  readonly oldestSinceMs: number | undefined
}

export interface OverduePage {
  /** What is due on this page. */
  due: readonly DueRow[]
  /** What of it is overdue. */
  late: readonly DueRow[]
  /** True on the last page: the next one is the first again. */
  isLast: boolean
  /** Tells of one that was not told of before. */
  tell(row: DueRow): void
}

/** Keeps what is overdue while the rows are read page by page, and tells of each once. */
export interface OverdueList {
  readonly count: number
  readonly oldestSinceMs: number | undefined
  note(page: OverduePage): void
}

export function createOverdue(): OverdueList {
  /** What the last whole reading found, and what this one has found so far. */
  let last = new Map<string, number>()
  let current = new Map<string, number>()
  let stillDue = new Set<string>()
  let told = new Set<string>()

  const all = () => new Map([...last, ...current])
  return {
    get count() {
      return all().size
    },
    get oldestSinceMs() {
      const times = [...all().values()]
      return times.length === 0 ? undefined : times.reduce((a, b) => Math.min(a, b))
    },
    note({ due, late, isLast, tell }) {
      for (const { id } of due) {
        last.delete(id)
        if (told.has(id)) stillDue.add(id)
      }
      for (const row of late) {
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
    },
  }
}
