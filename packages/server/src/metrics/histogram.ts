import type { Sample } from './text.ts'

/** Counts durations. */
export interface Histogram {
  observe(ms: number): void
  /** In seconds, the unit of Prometheus. */
  samples(): Sample[]
}

/** @param bounds Upper bounds of its buckets in seconds, in ascending order; longer durations are counted beyond them. */
export function createHistogram(bounds: readonly number[], labels: Record<string, string> = {}): Histogram {
  // Each duration is counted in the first bucket that holds it; reading adds them up.
  const counts = bounds.map(() => 0)
  let beyond = 0
  let sumMs = 0
  return {
    observe(ms) {
      const took = Math.max(0, ms)
      const bucket = bounds.findIndex((bound) => took <= bound * 1_000)
      if (bucket === -1) beyond++
      else counts[bucket] = (counts[bucket] ?? 0) + 1
      sumMs += took
    },
    samples() {
      let total = 0
      const buckets = bounds.map((bound, index): Sample => {
        total += counts[index] ?? 0
        return { suffix: '_bucket', labels: { ...labels, le: String(bound) }, value: total }
      })
      total += beyond
      return [
        ...buckets,
        { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: total },
        { suffix: '_sum', labels, value: sumMs / 1_000 },
        { suffix: '_count', labels, value: total },
      ]
    },
  }
}
