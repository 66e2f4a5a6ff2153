import type { Sample } from './text.ts'

/** Counts by labels; a set of labels appears with its first count. */
export interface Counter<L extends Record<string, string>> {
  add(labels: L, count?: number): void
  samples(): Sample[]
}

/** @param known Label sets that exist from the start with 0, so that a rate over the first count is not lost. */
export function createCounter<L extends Record<string, string>>(known: readonly L[] = []): Counter<L> {
  const byLabels = new Map<string, { labels: L; value: number }>()
  const sampleOf = (labels: L) => {
    const name = JSON.stringify(labels)
    const sample = byLabels.get(name) ?? { labels, value: 0 }
    byLabels.set(name, sample)
    return sample
  }
  for (const labels of known) sampleOf(labels)
  return {
    add(labels, count = 1) {
      sampleOf(labels).value += count
    },
    samples: () => [...byLabels.values()],
  }
}
