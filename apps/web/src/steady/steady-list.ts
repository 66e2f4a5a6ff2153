import { changedSpan } from './changed-span.ts'

/** The rendered list while the real list changes. */
export type Steady<T> = {
  shown: readonly T[]
  /** Rows of the real list that are not shown yet. */
  fresh: readonly T[]
  /** Shown rows that have left the real list. */
  gone: readonly T[]
}

/**
 * The list to draw while somebody's pointer or focus is in it: the rows of `before`, in their order, each with its latest value; rows
 * that left the real list stay with their last value, new ones wait. So no button ever moves under a finger. Rows added after the last
 * one move nothing, so they are shown at once.
 * @param keep Returns the latest value of a row with what must not change while it stands where it was. Default: the latest value.
 */
export function holdList<T>(
  before: readonly T[],
  now: readonly T[],
  idOf: (row: T) => string,
  keep: (before: T, latest: T) => T = (_, latest) => latest,
): Steady<T> {
  const { head, tail, ...span } = changedSpan(before, now, (a, b) => idOf(a) === idOf(b))
  const shownHead = now.slice(0, head).map((row, at) => keep(before[at] as T, row))
  const shownTail = now.slice(now.length - tail).map((row, at) => keep(before[before.length - tail + at] as T, row))
  const latest = new Map(span.now.map((row) => [idOf(row), row]))
  const known = new Set(span.before.map(idOf))
  const lastKnown = span.now.findLastIndex((row) => known.has(idOf(row)))
  const hasKnownAbove = head > 0 || lastKnown >= 0
  const [between, behind] = tail > 0 || !hasKnownAbove ? [span.now, []] : [span.now.slice(0, lastKnown + 1), span.now.slice(lastKnown + 1)]
  const held = span.before.map((row) => {
    const value = latest.get(idOf(row))
    return value === undefined ? row : keep(row, value)
  })
  return {
    shown: [...shownHead, ...held, ...shownTail, ...behind],
    fresh: between.filter((row) => !known.has(idOf(row))),
    gone: span.before.filter((row) => !latest.has(idOf(row))),
  }
}
