import { sql } from 'kysely'
import { ask, lit, question, type Tx } from '../query.ts'
import type { ActionRow } from './action-rows.ts'
import type { RunRow } from './session-rows.ts'

/** How many actions one query reads: SQLite blocks others meanwhile. */
export const ACTIONS_PER_PAGE = 1_000

/** The actions of a page, grouped by common properties. `first_id` is the oldest of the group. */
export interface ActionGroup {
  tool: string
  agent: string | null
  state: ActionRow['state']
  destination: string
  /** JSON texts. */
  verdict: string
  rule: string
  roles: string
  level: string
  bucket: number
  count: number
  /** How many of them a person changed. */
  edited: number
  /** How long those waited that were decided, in ms, with commas between. */
  waits: string | null
  first_id: string
}

/**
 * Groups of the newest actions with ids from `from` up to before `before`. @param bucketMs Their times are rounded to steps of this length.
 */
export const groupActions = question<{ from: string; before: string; bucket_ms: number }, ActionGroup>((db, p, dialect) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('action')
        .select(['id', 'tool', 'agent', 'state', 'destination', 'created_at', 'decided_at', 'edited_by'])
        .select([
          dialect.jsonText('policy', 'verdict').as('verdict'),
          dialect.jsonText('policy', 'rule').as('rule'),
          dialect.jsonText('requires', 'roles').as('roles'),
          dialect.jsonText('risk', 'level').as('level'),
        ])
        .where('id', '>=', p.from)
        .where('id', '<', p.before)
        .orderBy('id', 'desc')
        .limit(lit(ACTIONS_PER_PAGE))
        .as('page'),
    )
    .select(['tool', 'agent', 'state', 'destination', 'verdict', 'rule', 'roles', 'level'])
    .select(sql<number>`created_at - created_at % ${p.bucket_ms}`.as('bucket'))
    .select((eb) => [
      eb.fn.countAll<number>().as('count'),
      eb.fn.count<number>('edited_by').as('edited'),
      dialect.joined(sql`decided_at - created_at`).as('waits'),
      eb.fn.min('id').as('first_id'),
    ])
    .groupBy(['tool', 'agent', 'state', 'destination', 'verdict', 'rule', 'roles', 'level', sql`9`]),
)

/** The actions of a page that one rule decided. */
export interface RuleGroup {
  /** JSON text. */
  rule: string
  count: number
  first_id: string
  last_at: number
}

/** Groups the newest actions with ids from `from` up to before `before` by the rule that decided about them. */
export const groupRules = question<{ from: string; before: string }, RuleGroup>((db, p, dialect) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('action')
        .select(['id', 'created_at'])
        .select(dialect.jsonText('policy', 'rule').as('rule'))
        .where('id', '>=', p.from)
        .where('id', '<', p.before)
        .orderBy('id', 'desc')
        .limit(lit(ACTIONS_PER_PAGE))
        .as('page'),
    )
    .select('rule')
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.min('id').as('first_id'), eb.fn.max<number>('created_at').as('last_at')])
    .groupBy('rule'),
)

/** Counts the actions that wait for people, by the bounds of their ids: each was proposed before the one before it. */
export const countWaiting = (bounds: readonly string[]): Tx<{ age: number; count: number }[]> =>
  ask((db) =>
    db
      .selectFrom((eb) =>
        eb
          .selectFrom('action')
          .select(
            sql<number>`case ${sql.join(
              bounds.map((id, age) => sql`when id >= ${id} then ${lit(age)}`),
              sql` `,
            )} else ${lit(bounds.length)} end`.as('age'),
          )
          .where('state', '=', lit('proposed'))
          .as('aged'),
      )
      .select('age')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .groupBy('age'),
  )

/** The votes of a page of actions, grouped. */
export interface VoteGroup {
  principal_id: string
  verdict: 'approve' | 'decline'
  reason: string | null
  tool: string
  agent: string | null
  count: number
  /** How long after the proposals they were cast, in ms, with commas between. */
  waits: string
  first_id: string
}

/** Groups of the votes on the newest actions with ids from `from` up to before `before`, of a thousand actions. */
export const groupVotes = question<{ from: string; before: string }, VoteGroup>((db, p, dialect) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('vote')
        .select('action_id')
        .distinct()
        .where('action_id', '>=', p.from)
        .where('action_id', '<', p.before)
        .orderBy('action_id', 'desc')
        .limit(lit(ACTIONS_PER_PAGE))
        .as('page'),
    )
    .innerJoin('vote', 'vote.action_id', 'page.action_id')
    .innerJoin('action', 'action.id', 'page.action_id')
    .select(['vote.principal_id', 'vote.verdict', 'vote.reason', 'action.tool', 'action.agent'])
    .select((eb) => [
      eb.fn.countAll<number>().as('count'),
      dialect.joined(sql`vote.created_at - action.created_at`).$castTo<string>().as('waits'),
      eb.fn.min('page.action_id').as('first_id'),
    ])
    .groupBy(['vote.principal_id', 'vote.verdict', 'vote.reason', 'action.tool', 'action.agent']),
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
