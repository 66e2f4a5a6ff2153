/** The rendered list while the real list changes. */
export type Steady<T> = {
  shown: T[]
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
  const latest = new Map(now.map((row) => [idOf(row), row]))
  const known = new Set(before.map(idOf))
  const lastKnown = now.findLastIndex((row) => known.has(idOf(row)))
  const behind = lastKnown < 0 ? [] : now.slice(lastKnown + 1)
  return {
    shown: [...before.map((row) => latest.get(idOf(row)) ?? row), ...behind],
    fresh: now.filter((row) => !known.has(idOf(row))).length - behind.length,
    gone: before.filter((row) => !latest.has(idOf(row))).length,
  }
}
