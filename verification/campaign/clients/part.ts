import type { Part } from '../part.ts'
import { runAgUiTalks } from './ag-ui/talks.ts'
import { runAiSdkTalks } from './ai-sdk-talks.ts'

const TALKS = 100
/** The events that must occur at least once. */
const LEAST = { aiSdk: { streams: 100, cuts: 10_000 }, agUi: { streams: 500, events: 5_000, cuts: 500 } }

/** Conversations of unmodified clients: what they are sent, held against the parsers, schemas and verifiers of their own packages. */
export const clientsPart: Part = async ({ seed, minutes, say }) => {
  // Each has an equal share of the time.
  const until = () => {
    const endsAt = minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 30_000
    return () => Date.now() >= endsAt
  }
  const aiSdk = await runAiSdkTalks({ seed, talks: TALKS, isOver: until(), say })
  const agUi = await runAgUiTalks({ seed, talks: TALKS, isOver: until(), say })
  const figures = { aiSdk: aiSdk.figures, agUi: agUi.figures }
  const missing = [
    ...tooFew('the AI SDK', { ...figures.aiSdk }, LEAST.aiSdk),
    ...tooFew('AG-UI', { ...figures.agUi }, LEAST.agUi),
    ...agUi.missing,
  ]
  return { violations: [...aiSdk.violations, ...agUi.violations], missing, figures }
}

const tooFew = (of: string, seen: Record<string, number>, least: Record<string, number>): string[] =>
  Object.entries(least).flatMap(([name, enough]) => ((seen[name] ?? 0) < enough ? [`${seen[name]} ${name} of ${of}, not ${enough}`] : []))
