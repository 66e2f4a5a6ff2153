import { z } from 'zod'
import { ActionState } from './action.ts'

const Instant = z.iso.datetime({ offset: true })

/** From `since` (default: seven days before) up to `until` (default: now), a year at most; by the hour for two weeks at most. */
export const StatsQuery = z.object({
  since: Instant.optional(),
  until: Instant.optional(),
  bucket: z.enum(['hour', 'day']).optional(),
})
export type StatsQuery = z.infer<typeof StatsQuery>

const Count = z.int().nonnegative()

const Tokens = {
  inputTokens: Count,
  cachedInputTokens: Count,
  cacheWriteTokens: Count,
  outputTokens: Count,
}

/** The calls of one model for one agent. */
export const ModelStats = z.object({
  agent: z.string(),
  model: z.string(),
  calls: Count,
  /** Calls that it answered because another should have and did not. */
  fallbacks: Count,
  /** Calls that ended in an error. */
  errors: Count,
  ...Tokens,
  /** Which part of the input came from the provider's cache; null without input. */
  cachedShare: z.number().nullable(),
  /** Calls whose tokens are our estimate. */
  estimated: Count,
})
export type ModelStats = z.infer<typeof ModelStats>

/** The actions, decisions and calls of a period. Each is counted by when it began. */
export const Stats = z.object({
  since: z.string(),
  until: z.string(),
  bucket: z.enum(['hour', 'day']),
  actions: z.object({
    total: Count,
    byState: z.partialRecord(ActionState, Count),
    byVerdict: z.object({ allow: Count, ask: Count, deny: Count }),
    /** The hundred most used. */
    byTool: z.array(z.object({ tool: z.string(), total: Count, asked: Count, declined: Count, failed: Count })),
    /** False when there were more than a million: then the newest million is counted. */
    isComplete: z.boolean(),
  }),
  /** Waiting for people now, whenever they were asked. */
  waiting: Count,
  /** From the proposal to the last vote, of the newest 2,000 that people voted on. */
  decisions: z.object({ count: Count, medianMs: Count.nullable(), p95Ms: Count.nullable() }),
  runs: z.object({ open: Count, done: Count, failed: Count, cancelled: Count }),
  models: z.array(ModelStats),
  /** One entry for each hour or day in which something was, oldest first. */
  series: z.array(z.object({ at: z.string(), actions: Count, asked: Count, runs: Count, modelCalls: Count, ...Tokens })),
})
export type Stats = z.infer<typeof Stats>
