import type { Sample, SoakReport } from './run-soak.ts'
import { TABLES } from './tables.ts'

/** The log of SQLite is begun again after 4,000 pages, and a batch may end later. */
const MOST_WAL_BYTES = 20_000_000
const MOST_DRIFT = 0.1
/** Sockets that an idle connection keeps for a moment come and go. */
const MOST_MORE_HANDLES = 5

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

/** The median of the first and of the last fifth. */
export function ends(samples: readonly Sample[], of: (sample: Sample) => number): { first: number; last: number } {
  const fifth = Math.max(1, Math.floor(samples.length / 5))
  return { first: median(samples.slice(0, fifth).map(of)), last: median(samples.slice(-fifth).map(of)) }
}

/** Drops the samples of the warm-up: the first ten minutes of an hour, a sixth of any shorter time. */
export function afterWarmUp(samples: readonly Sample[]): Sample[] {
  const wholeMs = samples.at(-1)?.atMs ?? 0
  const warmUpMs = Math.min(wholeMs / 6, 10 * 60_000)
  return samples.filter(({ atMs }) => atMs >= warmUpMs)
}

/** Of SQLite: as much of the file as was read is kept in memory, up to this. */
const PAGE_CACHE_BYTES = 65_536 * 1_024

/**
 * Returns the memory of a server without SQLite's page cache, which grows with the file up to its intended 64 MiB. On Postgres the cache
 * belongs to the database server.
 */
export const memoryOf = ({ rssBytes, walBytes, databaseBytes }: Sample): number =>
  walBytes === undefined ? rssBytes : rssBytes - Math.min(databaseBytes, PAGE_CACHE_BYTES)

/** Sentences about what grew that must not. */
export function judgeSoak({ database, samples: all, failures }: SoakReport): string[] {
  const samples = afterWarmUp(all)
  const violations = failures.map((failure) => `${database}: ${failure}`)
  const problem = (sentence: string) => violations.push(`${database}: ${sentence}`)

  const memory = ends(samples, memoryOf)
  if (Math.abs(memory.last / memory.first - 1) > MOST_DRIFT) problem(`memory went from ${memory.first} to ${memory.last} bytes`)
  const handles = ends(samples, (sample) => sample.handles)
  if (handles.last > handles.first + MOST_MORE_HANDLES) problem(`open files went from ${handles.first} to ${handles.last}`)
  const resources = ends(samples, (sample) => sample.resources)
  if (resources.last > resources.first + MOST_MORE_HANDLES) problem(`timers and sockets went from ${resources.first} to ${resources.last}`)
  const wal = Math.max(...all.map(({ walBytes = 0 }) => walBytes))
  if (wal > MOST_WAL_BYTES) problem(`the write-ahead log reached ${wal} bytes`)
  for (const table of Object.keys(all.at(-1)?.rows ?? {})) {
    const owner = TABLES[table]?.fate
    if (owner === undefined) problem(`nobody owns the table ${table}`)
    if (owner === undefined || owner === 'kept') continue
    // Rows go once in ten minutes: between two rounds they rise, so what counts is how high.
    const peak = (some: readonly Sample[]) => Math.max(0, ...some.map(({ rows }) => rows[table] ?? 0))
    const middle = Math.ceil(samples.length / 2)
    const [first, last] = [peak(samples.slice(0, middle)), peak(samples.slice(middle))]
    if (last > first * 1.5 + 20) problem(`the table ${table} went from ${first} to ${last} rows`)
  }
  return violations
}
