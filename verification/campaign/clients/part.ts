import type { Part } from '../part.ts'
import { runTalks } from './run-talks.ts'

const TALKS = 100
/** What has to be seen at least. */
const LEAST = { streams: 100, cuts: 10_000 }

/** Conversations of unmodified clients: what they are sent, held against the parsers, schemas and verifiers of their own packages. */
export const clientsPart: Part = async ({ seed, minutes, say }) => {
  const endsAt = minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000
  const { violations, ...figures } = await runTalks({ seed, talks: TALKS, isOver: () => Date.now() >= endsAt, say })
  const { streams, cuts } = figures.aiSdk
  const missing: string[] = []
  if (streams < LEAST.streams || cuts < LEAST.cuts) missing.push(`${streams} streams of the AI SDK were cut ${cuts} times`)
  return { violations, missing, figures }
}
