/** The bounds of a histogram of waits, in ms: seconds, minutes, hours, days. */
const BOUNDS = [0, 10_000, 30_000, 60_000, 300_000, 900_000, 3_600_000, 14_400_000, 86_400_000, 259_200_000, 604_800_000]
/** The median and the tail are those of the newest. */
const MAX_SORTED = 20_000

/** Lengths of time: how many, their median and tail, and how they are spread. */
export interface Durations {
  /** @param ms Negative ones, from clocks that differ, count as 0. */
  add(ms: number): void
  summary(): { count: number; medianMs: number | null; p95Ms: number | null }
  /** From the first to the last bin that holds any; the counts add up to the number of all. */
  histogram(): Bin[]
}

export interface Bin {
  fromMs: number
  toMs: number | null
  count: number
}

/** Add the newest first. */
export function createDurations(): Durations {
  const newest: number[] = []
  const counts = BOUNDS.map(() => 0)
  let count = 0
  return {
    add(ms) {
      const length = Math.max(0, ms)
      count++
      if (newest.length < MAX_SORTED) newest.push(length)
      const at = BOUNDS.findLastIndex((bound) => bound <= length)
      counts[at] = (counts[at] ?? 0) + 1
    },
    summary() {
      const sorted = Float64Array.from(newest).sort()
      // The smallest one that covers at least this share.
      const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? null
      return { count, medianMs: at(0.5), p95Ms: at(0.95) }
    },
    histogram: () => binsOf(BOUNDS, counts),
  }
}

/** The bins from the first to the last that is not empty. */
export function binsOf(bounds: readonly number[], counts: readonly number[]): Bin[] {
  const bins = bounds.map((fromMs, at) => ({ fromMs, toMs: bounds[at + 1] ?? null, count: counts[at] ?? 0 }))
  const first = bins.findIndex(({ count }) => count > 0)
  return first < 0 ? [] : bins.slice(first, bins.findLastIndex(({ count }) => count > 0) + 1)
}

/** Durations by a name, made when one is first added to. */
export function durationsByName() {
  const byName = new Map<string, Durations>()
  return {
    of(name: string): Durations {
      const known = byName.get(name) ?? createDurations()
      byName.set(name, known)
      return known
    },
    /** The most frequent `limit`, in that order. */
    list: (limit: number): [name: string, ReturnType<Durations['summary']>][] =>
      [...byName]
        .map(([name, durations]): [string, ReturnType<Durations['summary']>] => [name, durations.summary()])
        .sort(([a, x], [b, y]) => y.count - x.count || (a < b ? -1 : 1))
        .slice(0, limit),
  }
}

/** Reads lengths with commas between, as the database joins them. */
export const readLengths = (text: string | null): number[] => (text === null ? [] : text.split(',').map(Number))
