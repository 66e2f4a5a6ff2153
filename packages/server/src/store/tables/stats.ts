import { sql } from 'kysely'
import { lit, question } from '../query.ts'
import type { RunRow } from './schema.ts'

/** How many actions one query reads: SQLite blocks others meanwhile. */
export const ACTIONS_PER_PAGE = 1_000

/** The actions of a page, grouped by common properties. `first_id` is the oldest of the group. */
export interface ActionGroup {
  tool: string
  state: string
  verdict: string
  bucket: number
  count: number
  first_id: string
}

/**
 * Groups of the newest actions with ids from `from` up to before `before`. @param bucketMs Their times are rounded to steps of this length.
 */
export const groupActions = question<{ from: string; before: string; bucket_ms: number }, ActionGroup>((db, p) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('action')
        .select(['id', 'tool', 'state', 'created_at'])
        .select(
          sql<string>`case when policy like '%"verdict":"ask"%' then 'ask' when policy like '%"verdict":"deny"%' then 'deny' else 'allow' end`.as(
            'verdict',
          ),
        )
        .where('id', '>=', p.from)
        .where('id', '<', p.before)
        .orderBy('id', 'desc')
        .limit(lit(ACTIONS_PER_PAGE))
        .as('page'),
    )
    .select(['tool', 'state', 'verdict'])
    .select(sql<number>`created_at - created_at % ${p.bucket_ms}`.as('bucket'))
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.min('id').as('first_id')])
    .groupBy(['tool', 'state', 'verdict', sql`4`]),
)

/** Counts the actions that wait for people. */
export const countWaiting = question<Record<string, never>, { count: number }>((db) =>
  db
    .selectFrom('action')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('state', '=', lit('proposed')),
)

/** How long the newest decided actions with votes took to their last vote. */
export const decisionTimes = question<{ from: string; before: string }, { ms: number }>((db, p) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('vote')
        .select('action_id')
        .select(({ fn }) => fn.max('created_at').as('decided_at'))
        .where('action_id', '>=', p.from)
        .where('action_id', '<', p.before)
        .groupBy('action_id')
        .orderBy('action_id', 'desc')
        .limit(lit(2_000))
        .as('voted'),
    )
    .innerJoin('action', 'action.id', 'voted.action_id')
    .select(sql<number>`voted.decided_at - action.created_at`.as('ms'))
    .where('action.state', '<>', lit('proposed')),
)

/** How the runs of a period ended. */
export const groupRuns = question<{ since: number; until: number }, { state: RunRow['state']; count: number }>((db, p) =>
  db
    .selectFrom('run')
    .select('state')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('created_at', '>=', p.since)
    .where('created_at', '<', p.until)
    .groupBy('state'),
)

export interface ModelCallGroup {
  agent: string
  model: string
  calls: number
  fallbacks: number
  errors: number
  input_tokens: number
  cached_input_tokens: number
  cache_write_tokens: number
  output_tokens: number
  estimated: number
}

/** Results and usage of models in a period, by agent and model. */
export const groupModelCalls = question<{ since: number; until: number }, ModelCallGroup>((db, p) =>
  db
    .selectFrom('model_call')
    .select(['agent', 'model'])
    .select(({ fn }) => [
      fn.countAll<number>().as('calls'),
      fn.count<number>('fell_back').as('fallbacks'),
      fn.count<number>('error').as('errors'),
      ...(['input_tokens', 'cached_input_tokens', 'cache_write_tokens', 'output_tokens', 'estimated'] as const).map((column) =>
        fn.sum<number>(column).as(column),
      ),
    ])
    .where('created_at', '>=', p.since)
    .where('created_at', '<', p.until)
    .groupBy(['agent', 'model']),
)
