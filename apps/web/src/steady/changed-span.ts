/** Where two lists differ: what comes before and after is the same row for row. */
export type ChangedSpan<T> = {
  /** How many rows both begin with. */
  head: number
  /** How many rows both end with. */
  tail: number
  before: readonly T[]
  now: readonly T[]
}

/**
 * Finds the part in which two lists differ. Of thousands of rows few change at a time, and comparing is far cheaper than what is done with each row.
 * @param isSame True for rows that count as the same. Default: the same object.
 */
export function changedSpan<T>(before: readonly T[], now: readonly T[], isSame: (a: T, b: T) => boolean = Object.is): ChangedSpan<T> {
  const isSameAt = (a: number, b: number) => isSame(before[a] as T, now[b] as T)
  const shorter = Math.min(before.length, now.length)
  let head = 0
  while (head < shorter && isSameAt(head, head)) head++
  let tail = 0
  while (tail < shorter - head && isSameAt(before.length - 1 - tail, now.length - 1 - tail)) tail++
  return { head, tail, before: before.slice(head, before.length - tail), now: now.slice(head, now.length - tail) }
}
