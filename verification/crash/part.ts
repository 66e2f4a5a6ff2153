import type { Part } from '../campaign/part.ts'
import type { Checkpoint } from './checkpoints.ts'
import { type KillReport, pointsOf, runKills } from './kills.ts'

/** Kills per database in a whole run. */
const KILLS = 320
const WORKERS = { sqlite: 3, postgres: 2 } as const
/** How often each kind of ending has to occur. */
const LEAST = 20

/** Kills servers at every point, or at those that `point` names, on both databases. */
export const killPart: Part = async ({ seed, minutes, database, point, say }) => {
  const isAimedAt = new RegExp(point ?? '')
  const missing: string[] = []
  const reports: KillReport[] = []
  for (const kind of database ? [database] : (['sqlite', 'postgres'] as const)) {
    const endsAt = minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000
    const line = (text: string) => say(`kill ${kind}: ${text}`)
    const points = pointsOf(kind).filter(({ name }) => isAimedAt.test(name))
    const report = await runKills({ database: kind, seed, kills: KILLS, endsAt, workers: WORKERS[kind], points, say: line })
    reports.push(report)
    missing.push(...neverKilledAt(points, report), ...(point === undefined ? rareEndings(report) : []))
  }
  return {
    violations: reports.flatMap((report) => report.violations.map((sentence) => `${report.database}: ${sentence}`)),
    missing,
    figures: reports.map(({ violations, ...figures }) => ({ ...figures, violations: violations.length })),
  }
}

const neverKilledAt = (points: readonly Checkpoint[], { database, killsAt }: KillReport): string[] =>
  points.filter(({ name }) => killsAt[name] === undefined).map(({ name }) => `${database}: no server was killed at ${name}`)

/**
 * Lists the endings that were too rare. Aimed kills bring about only the endings around their points, so only a whole run needs this check.
 */
const rareEndings = ({ database, outcomes }: KillReport): string[] =>
  Object.entries(outcomes)
    .filter(([, count]) => count < LEAST)
    .map(([name, count]) => `${database}: ${name}: ${count} times, ${LEAST} are needed`)
