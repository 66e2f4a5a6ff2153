export interface Stats {
  n: number
  median: number
  p95: number
  p99: number
}

/** Median and tail of samples, in their own unit, to three digits after the point. */
export function statsOf(samples: readonly number[]): Stats {
  const sorted = [...samples].sort((a, b) => a - b)
  const at = (share: number) => Number((sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(3))
  return { n: sorted.length, median: at(0.5), p95: at(0.95), p99: at(0.99) }
}
