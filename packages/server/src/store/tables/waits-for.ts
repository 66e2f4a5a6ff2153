import { type RawBuilder, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'
import { ask, lit, question, type Tx } from '../query.ts'
import type { ActionRow } from './action-rows.ts'
import { type ActionFilter, type ActionQuery, narrowed } from './actions.ts'

/** The requirements that decide who may vote on a waiting action. Waiting actions have few different ones, each with an index entry of its own. */
export interface WaitsFor {
  /** Voters need one of these. */
  roles: string[]
  /** And one of each of these. */
  alsoRoles: string[][]
  /** Ids of the principals who asked for it, where they have no vote; null among them for an action that does not say who they are. */
  askedBy: (string | null)[]
}

/** As it is in the index `action_waits_for`. */
export interface Waiting {
  waits_for: string
  /** Id of the newest such action before the place; empty without any. */
  newest: string
}

/** The expression of the index, to the letter: otherwise the index is not used. */
const waitsFor = (dialect: Dialect): RawBuilder<string> => {
  const part = (key: string) => dialect.jsonText('requires', key)
  return sql`('[' || ${part('roles')} || ',' || coalesce(${part('alsoRoles')}, '[]') || ','
    || case when ${part('notRequester')} = 'true' then coalesce(requesters, '[null]') else '[]' end || ']')`
}

export function readWaitsFor({ waits_for }: Waiting): WaitsFor {
  const [roles, alsoRoles, askedBy] = JSON.parse(waits_for)
  return { roles, alsoRoles, askedBy }
}

/** More different ones are not listed: they are an index of nothing then. */
export const MAX_WAITS_FOR = 2_000

/** Each different one among the waiting actions, the one with the newest action first: a look into the index each, however many wait. */
export const listWaitsFor = question<{ before: string }, Waiting>((db, p, dialect) => {
  const text = waitsFor(dialect)
  const newest = (place: RawBuilder<unknown>) =>
    sql`select ${text} as waits_for, id from action where state = 'proposed' and ${place} order by ${text} desc, id desc limit 1`
  const firstAfter = (place: RawBuilder<unknown>) =>
    sql`select ${text} from action where state = 'proposed' and ${text} > ${place} order by ${text} limit 1`
  // Postgres finds the text and its newest action with one look into the index. SQLite has no `lateral`, so it looks once for each, and it
  // uses the index only with a place to begin at.
  const each = dialect.hasLateral
    ? sql`select * from (${newest(sql`true`)}) as last
      union all
      select below.* from one cross join lateral (${newest(sql`${text} < one.waits_for`)}) as below`
    : sql`select (${firstAfter(sql`''`)}), null
      union all
      select (${firstAfter(sql`one.waits_for`)}), null from one where one.waits_for is not null`
  const before = sql`select id from action where state = 'proposed' and ${text} = one.waits_for and id < ${p.before} order by id desc limit 1`
  return {
    compile: () =>
      sql<Waiting>`with recursive one(waits_for, id) as (${each})
      select waits_for, case when id < ${p.before} then id else coalesce((${before}), '') end as newest
      from one where waits_for is not null order by 2 desc limit ${lit(MAX_WAITS_FOR)}`.compile(db),
  }
})

/** So many are searched by one statement. */
const AT_ONCE = 64

type WaitingFilter = ActionFilter & {
  /** Only actions without a vote of this person in their own right. */
  voter: string
}

/**
 * Waiting actions that match a filter, newest first.
 * @param from Only those that wait for one of these, of {@link listWaitsFor} in its order; undefined for all.
 */
export function* listWaiting(from: readonly Waiting[] | undefined, filter: WaitingFilter): Tx<ActionRow[]> {
  if (from === undefined) return yield* ask((db, dialect) => waiting(db.selectFrom('action').selectAll(), filter, dialect))
  let found: ActionRow[] = []
  for (let at = 0; at < from.length; at += AT_ONCE) {
    const some = from.slice(at, at + AT_ONCE)
    const last = found[filter.limit - 1]
    if (last && some[0] && last.id > some[0].newest) break
    found = [...found, ...(yield* newestOf(some, filter))].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, filter.limit)
  }
  return found
}

const waiting = <O>(from: ActionQuery<O>, filter: WaitingFilter, dialect: Dialect): ActionQuery<O> =>
  narrowed(from, filter, dialect)
    .where('state', '=', lit('proposed'))
    .where(
      sql<boolean>`not exists (select 1 from vote where vote.action_id = action.id and vote.revision = action.revision and vote.principal_id = ${filter.voter}
        and vote.for_id is null)`,
    )
    .orderBy('id', 'desc')
    .limit(lit(filter.limit))

const newestOf = (some: readonly Waiting[], filter: WaitingFilter): Tx<ActionRow[]> =>
  ask((db, dialect) => {
    const text = waitsFor(dialect)
    const newest = <O>(from: ActionQuery<O>, { waits_for }: Waiting) =>
      waiting(from, filter, dialect).where(sql<boolean>`${text} = ${waits_for}`)
    const [only, another] = some
    // Half of what the other form takes Postgres to plan.
    if (only && !another) return newest(db.selectFrom('action').selectAll(), only)
    const each = some.map((one) => sql`select id from (${newest(db.selectFrom('action').select('id'), one)}) as newest`)
    return db
      .selectFrom('action')
      .selectAll()
      .where(
        sql<boolean>`id in (select id from (${sql.join(each, sql` union all `)}) as found order by id desc limit ${lit(filter.limit)})`,
      )
      .orderBy('id', 'desc')
  })
