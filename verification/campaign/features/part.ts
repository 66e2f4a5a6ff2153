import type { Part } from '../part.ts'
import { type FeatureReport, PAIRS, runFeatures } from './run.ts'

/** How often each kind of call has to be met in each phase, on each database. */
const LEAST = 5

/**
 * Kills servers while calls of every kind are in every phase, on both databases. On Postgres servers stand still as well, and answers to
 * COMMITs get lost. `point` names what to meet: `pause github sent`.
 */
export const featuresPart: Part = async ({ seed, minutes, database, point, say }) => {
  const isAimedAt = new RegExp(point ?? '')
  const reports: FeatureReport[] = []
  for (const kind of database ? [database] : (['sqlite', 'postgres'] as const)) {
    const endsAt = minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000
    const line = (text: string) => say(`features ${kind}: ${text}`)
    const pairs = PAIRS[kind].filter((pair) => isAimedAt.test(`${pair.fault} ${pair.kind} ${pair.phase}`))
    reports.push(await runFeatures({ database: kind, seed, pairs, least: LEAST, endsAt, hasLate: true, say: line }))
  }
  return {
    violations: reports.flatMap((report) => report.violations.map((sentence) => `${report.database}: ${sentence}`)),
    missing: reports.flatMap((report) => report.missing.map((sentence) => `${report.database}: ${sentence}`)),
    figures: reports.map(({ violations, missing, ...figures }) => ({ ...figures, violations: violations.length })),
  }
}
