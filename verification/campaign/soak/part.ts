import type { Part, PartReport } from '../part.ts'
import { afterWarmUp, ends, judgeSoak, memoryOf } from './judge.ts'
import { runSoak, type Sample, type SoakReport } from './run-soak.ts'

const MINUTES = 60
const PER_SECOND = 1
/** Of each thing that clients do. */
const LEAST = 20
const MINUTE_MS = 60_000

/** One server for an hour under a mixed load: its memory, its open files, its log and its tables. */
export const soakPart: Part = async ({ seed, minutes = MINUTES, database = 'sqlite', say }) => {
  const report: PartReport & { figures: unknown[] } = { violations: [], missing: [], figures: [] }
  let told = Number.NEGATIVE_INFINITY
  const soak = await runSoak({
    database,
    seed,
    durationMs: minutes * MINUTE_MS,
    perSecond: PER_SECOND,
    say(sample, deeds) {
      if (sample.atMs - told < MINUTE_MS) return
      told = sample.atMs
      say(`soak ${database}: ${lineOf(sample)}, ${deeds} deeds`)
    },
  })
  report.violations.push(...judgeSoak(soak))
  for (const [deed, count] of Object.entries(soak.deeds)) if (count < LEAST) report.missing.push(`${database}: ${deed} ${count} times`)
  report.figures.push(figuresOf(soak))
  return report
}

const mb = (bytes: number | undefined): string => (bytes === undefined ? '–' : (bytes / 1e6).toFixed(1))

const lineOf = ({ atMs, rssBytes, heapBytes, handles, resources, walBytes, databaseBytes, loopDelayP99Ms, rows }: Sample): string =>
  [
    `minute ${Math.round(atMs / MINUTE_MS)}`,
    `rss ${mb(rssBytes)} MB`,
    `heap ${mb(heapBytes)} MB`,
    `${handles} files`,
    `${resources} resources`,
    `log ${mb(walBytes)} MB`,
    `database ${mb(databaseBytes)} MB`,
    `loop p99 ${loopDelayP99Ms} ms`,
    `once ${rows.once}, sessions of the console ${rows.console_session}, gateway calls ${rows.gateway_call}, model calls ${rows.model_call}`,
    `actions ${rows.action}, events ${rows.event}`,
  ].join(', ')

function figuresOf({ database, samples, deeds, failures, cpuSeconds }: SoakReport): unknown {
  const steady = afterWarmUp(samples)
  const wholeMs = samples.at(-1)?.atMs ?? 0
  const at = (minute: number) => samples.find(({ atMs }) => atMs >= minute * MINUTE_MS)
  const minutes = [0, 10, 20, 30, 40, 50, 60].filter((minute) => minute * MINUTE_MS < wholeMs)
  return {
    database,
    deeds,
    failures: failures.length,
    cpuSeconds,
    rss: ends(steady, ({ rssBytes }) => rssBytes),
    withoutPageCache: ends(steady, memoryOf),
    handles: ends(steady, ({ handles }) => handles),
    mostWalBytes: Math.max(...samples.map(({ walBytes = 0 }) => walBytes)),
    samples: [...minutes.map((minute) => ({ minute, ...at(minute) })), { last: true, ...samples.at(-1) }],
  }
}
