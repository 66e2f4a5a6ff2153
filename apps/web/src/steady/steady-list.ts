import { changedSpan } from './changed-span.ts'

/** The rendered list while the real list changes. */
export type Steady<T> = {
  shown: readonly T[]
  /** How many rows of the real list are not shown yet. */
  fresh: number
  /** How many shown rows have left the real list. */
  gone: number
}

/**
 * The list to draw while somebody's pointer or focus is in it: the rows of `before`, in their order, each with its latest value; rows
 * that left the real list stay with their last value, new ones wait. So no button ever moves under a finger. Rows added after the last
 * one move nothing, so they are shown at once.
 */
export function holdList<T>(before: readonly T[], now: readonly T[], idOf: (row: T) => string): Steady<T> {
  const { head, tail, ...span } = changedSpan(before, now, (a, b) => idOf(a) === idOf(b))
  if (span.before.length + span.now.length === 0) return { shown: now, fresh: 0, gone: 0 }
  const latest = new Map(span.now.map((row) => [idOf(row), row]))
  const known = new Set(span.before.map(idOf))
  const lastKnown = span.now.findLastIndex((row) => known.has(idOf(row)))
  const hasKnownAbove = head > 0 || lastKnown >= 0
  const behind = tail > 0 || !hasKnownAbove ? [] : span.now.slice(lastKnown + 1)
  return {
    shown: [...now.slice(0, head), ...span.before.map((row) => latest.get(idOf(row)) ?? row), ...now.slice(now.length - tail), ...behind],
    fresh: span.now.filter((row) => !known.has(idOf(row))).length - behind.length,
    gone: span.before.filter((row) => !latest.has(idOf(row))).length,
  }
}
