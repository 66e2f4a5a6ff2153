import { z } from 'zod'
import { ActionState } from './action.ts'

const Instant = z.iso.datetime({ offset: true })

/** From `since` (default: seven days before) up to `until` (default: now), a year at most; by the hour for two weeks at most. */
export const StatsQuery = z.object({
  since: Instant.optional().describe('From this time on.'),
  until: Instant.optional().describe('Before this time.'),
  bucket: z.enum(['hour', 'day']).optional().describe('The length of an entry of the series.'),
  tool: z.string().max(200).optional().describe('Only the actions and votes of this tool. Runs and models are of all tools.'),
  agent: z.string().max(200).optional().describe('Only the actions, votes and model calls of this agent.'),
})
export type StatsQuery = z.infer<typeof StatsQuery>

const Count = z.int().nonnegative()

const Tokens = {
  inputTokens: Count,
  cachedInputTokens: Count,
  cacheWriteTokens: Count,
  outputTokens: Count,
}

/** A sum of money, by the prices of the server's configuration. */
export const Cost = z.object({
  /** In units of the currency, with fractions. */
  amount: z.number().nonnegative(),
  /** An ISO 4217 code. */
  currency: z.string().regex(/^[A-Z]{3}$/),
})
export type Cost = z.infer<typeof Cost>

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
  /** The share of the input that came from the provider's cache; null without input. */
  cachedShare: z.number().nullable(),
  /** Calls whose tokens are our estimate. */
  estimated: Count,
  /** Their cost at today's prices; null where the model has no price. */
  cost: Cost.nullable(),
})
export type ModelStats = z.infer<typeof ModelStats>

/** The answers to proposals, by a rule, a grant or people, and those that still wait. `approved` includes those that run or ran. */
const ANSWERS = ['allowed', 'denied', 'approved', 'declined', 'expired', 'cancelled', 'waiting'] as const
const Answers = z.object(Object.fromEntries(ANSWERS.map((name) => [name, Count])) as Record<(typeof ANSWERS)[number], typeof Count>)
export type AnswerStats = z.infer<typeof Answers>

/** How long people took; of the newest 20,000. */
const Durations = { count: Count, medianMs: Count.nullable(), p95Ms: Count.nullable() }

/** How many lasted from `fromMs` up to `toMs`; null for no end. */
const Bin = z.object({ fromMs: Count, toMs: Count.nullable(), count: Count })

/** The actions, decisions and calls of a period. Each is counted by when it began. */
export const Stats = z.object({
  since: z.string(),
  until: z.string(),
  bucket: z.enum(['hour', 'day']),
  actions: z.object({
    total: Count,
    byState: z.partialRecord(ActionState, Count),
    byVerdict: z.object({ allow: Count, ask: Count, deny: Count }),
    answers: Answers,
    /** The hundred most used. */
    byTool: z.array(z.object({ tool: z.string(), total: Count, asked: Count, approved: Count, declined: Count, failed: Count })),
    /** How proposals ended, by the rule or the grant that decided about them; the hundred most used. */
    byRule: z.array(Answers.extend({ rule: z.string(), total: Count })),
    /** How actions ended at each destination; the hundred most used. */
    byDestination: z.array(z.object({ destination: z.string(), succeeded: Count, failed: Count, unknown: Count })),
    /**
     * Tools whose calls needed approval at least ten times, with low or medium risk, always approved and never changed. A rule could allow
     * them.
     */
    alwaysApproved: z.array(z.object({ tool: z.string(), approved: Count })),
    /** False when there were more than a million: then the newest million is counted. */
    isComplete: z.boolean(),
  }),
  /** Waiting for people now, whenever they were asked. */
  waiting: Count,
  /** The same by how long they have waited. */
  waitingByAge: z.array(Bin),
  /** From the proposal to the decision of people. The counts of `histogram` add up to `count`. */
  decisions: z.object({
    ...Durations,
    histogram: z.array(Bin),
    byTool: z.array(z.object({ tool: z.string(), ...Durations })),
    /** By the roles that were asked. */
    byRole: z.array(z.object({ role: z.string(), ...Durations })),
    /** From the proposal to their own vote. */
    byPerson: z.array(z.object({ id: z.string(), name: z.string(), approved: Count, declined: Count, ...Durations })),
  }),
  /** Why people declined, the most frequent fifty; null where they gave no reason. */
  declineReasons: z.array(z.object({ reason: z.string().nullable(), count: Count })),
  runs: z.object({ open: Count, done: Count, failed: Count, cancelled: Count }),
  models: z.array(ModelStats),
  /** One entry for each hour or day in which something was, oldest first. */
  series: z.array(z.object({ at: z.string(), actions: Count, asked: Count, answers: Answers, runs: Count, modelCalls: Count, ...Tokens })),
})
export type Stats = z.infer<typeof Stats>
