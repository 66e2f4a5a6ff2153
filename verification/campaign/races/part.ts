import type { CampaignDatabase } from '../../crash/database.ts'
import { startPostgres } from '../../testing/postgres.ts'
import type { Part, PartOptions, PartReport } from '../part.ts'
import { type ContestReport, runContests } from './contests.ts'
import { type DeadlineOptions, type DeadlineReport, runDeadlines } from './deadlines.ts'

/** Decisions of one whole run, for each database. */
const CONTESTED = 20_000
/** A contest has 2 to 8 deciders, some of whom say it twice. */
const DECISIONS_PER_CONTEST = 5.5
const AT_DEADLINES = 10_000
/** How often a race has to end each way. */
const LEAST = 500

interface Run {
  database: string
  violations: string[]
}

/** People decide the same actions at once. */
export const contestPart: Part = (options) =>
  onEach(options, 'races', {
    run: (common) => runContests({ ...common, contests: Math.ceil(CONTESTED / DECISIONS_PER_CONTEST) }),
    missing: ({ database, decisions }: ContestReport) =>
      decisions < CONTESTED ? [`${database}: ${decisions} decisions, ${CONTESTED} are needed`] : [],
  })

/** People decide actions at the moment they expire. */
export const deadlinePart: Part = (options) =>
  onEach(options, 'expiry', {
    run: (common) => runDeadlines({ ...common, decisions: AT_DEADLINES, inTime: LEAST }),
    missing: ({ database, near, accepted, endings }: DeadlineReport) => [
      ...(near < AT_DEADLINES ? [`${database}: ${near} decisions near a deadline, ${AT_DEADLINES} are needed`] : []),
      ...(accepted < LEAST ? [`${database}: ${accepted} came in time, ${LEAST} are needed`] : []),
      ...((endings.expired ?? 0) < LEAST ? [`${database}: ${endings.expired ?? 0} expired, ${LEAST} are needed`] : []),
    ],
  })

interface Race<R extends Run> {
  run(common: Pick<DeadlineOptions, 'cluster' | 'seed' | 'endsAt' | 'say'>): Promise<R>
  missing(report: R): string[]
}

/** Runs a race on each database. */
async function onEach<R extends Run>({ seed, minutes, database, say }: PartOptions, name: string, race: Race<R>): Promise<PartReport> {
  const reports: R[] = []
  for (const kind of database ? [database] : (['sqlite', 'postgres'] as const)) reports.push(await onOne(kind))
  return {
    violations: reports.flatMap((report) => report.violations.map((sentence) => `${report.database}: ${sentence}`)),
    missing: reports.flatMap(race.missing),
    figures: reports.map((report) => ({ ...report, violations: report.violations.length })),
  }

  async function onOne(kind: CampaignDatabase['kind']): Promise<R> {
    await using cluster = kind === 'postgres' ? await startPostgres() : undefined
    const endsAt = minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000
    // Awaited here: the cluster ends with this function.
    return await race.run({ cluster, seed, endsAt, say: (text) => say(`${name} ${kind}: ${text}`) })
  }
}
