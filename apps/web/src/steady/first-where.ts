/** Returns where the first row is that is past something, by halves; the length where none is. @param isPast False for rows up to there, true from there on. */
export function firstWhere<T>(rows: readonly T[], isPast: (row: T) => boolean): number {
  let [from, to] = [0, rows.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (isPast(rows[middle] as T)) to = middle
    else from = middle + 1
  }
  return from
}
