import { changedSpan } from './changed-span.ts'

/** A list, and the counts of its rows. */
export type Tally<T, K extends string> = { rows: readonly T[]; counts: Readonly<Record<K, number>> }

/**
 * Counts a list. Given what was counted `before`, only the rows that changed since are counted: of thousands few change at a time.
 * @param count Counts some rows. It must count each row for itself.
 */
export function tally<T, K extends string>(
  rows: readonly T[],
  count: (rows: readonly T[]) => Readonly<Record<K, number>>,
  before?: Tally<T, K>,
): Tally<T, K> {
  if (!before) return { rows, counts: count(rows) }
  if (before.rows === rows) return before
  const changed = changedSpan(before.rows, rows)
  const [gone, come] = [count(changed.before), count(changed.now)]
  const counts: Record<K, number> = { ...before.counts }
  for (const key of Object.keys(counts) as K[]) counts[key] += come[key] - gone[key]
  return { rows, counts }
}
