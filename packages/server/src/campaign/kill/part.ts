import type { Part } from '../part.ts'
import { type KillReport, pointsOf, runKills } from './kills.ts'

/** Kills per database in a whole run. */
const KILLS = 320
const LANES = { sqlite: 3, postgres: 2 } as const
/** How often each kind of ending has to occur. */
const LEAST = 20

/** Kills servers at every point, on both databases. */
export const killPart: Part = async ({ seed, minutes, database, say }) => {
  const reports: KillReport[] = []
  for (const kind of database ? [database] : (['sqlite', 'postgres'] as const)) {
    const endsAt = minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000
    const line = (text: string) => say(`kill ${kind}: ${text}`)
    reports.push(await runKills({ database: kind, seed, kills: KILLS, endsAt, lanes: LANES[kind], say: line }))
  }
  return {
    violations: reports.flatMap((report) => report.violations.map((sentence) => `${report.database}: ${sentence}`)),
    missing: reports.flatMap(missingIn),
    figures: reports.map(({ violations, ...figures }) => ({ ...figures, violations: violations.length })),
  }
}

function missingIn({ database, killsAt, outcomes }: KillReport): string[] {
  const never = pointsOf(database).filter(({ name }) => killsAt[name] === undefined)
  const rare = Object.entries(outcomes).filter(([, count]) => count < LEAST)
  return [
    ...never.map(({ name }) => `${database}: no server was killed at ${name}`),
    ...rare.map(([name, count]) => `${database}: ${name}: ${count} times, ${LEAST} are needed`),
  ]
}
