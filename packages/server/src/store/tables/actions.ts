import { OPEN_STATES, type SettledOrder } from '@countersign/core'
import { type SelectQueryBuilder, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'
import { ask, lit, question, type Tx } from '../query.ts'
import { isAlongTimes, isInPiece, type OrderPlace, orderOf, type Piece, placeIn, stretchesOf } from './action-order.ts'
import type { ActionRow } from './action-rows.ts'
import { type ActionSearch, hasWord, idsSettledIn, lowestIdAt, searchConditions } from './action-search.ts'
import { type ActionUpdate, actionUpdate, notedUpdate } from './action-update.ts'
import { insertNoted } from './insert.ts'
import type { Schema } from './schema.ts'
import { isSnoozed } from './snoozes.ts'
import { listOfStates } from './state-in.ts'
import { actionIsVisible, type Reader } from './visibility.ts'

export const insertAction = insertNoted('action', {
  id: true,
  session_id: true,
  run_id: true,
  message_id: true,
  tool_call_id: true,
  position: true,
  tool: true,
  effect: true,
  destination: true,
  credential: true,
  definition_hash: true,
  arguments: true,
  digest: true,
  revision: true,
  revised: true,
  edited_by: true,
  description: true,
  preview: true,
  preview_error: true,
  previewed_at: true,
  precondition: true,
  target_version: true,
  risk: true,
  state: true,
  policy: true,
  requires: true,
  requested_by: true,
  requesters: true,
  agent: true,
  agent_verified: true,
  agent_says: true,
  context: true,
  callback: true,
  times_asked: true,
  unkeyed: true,
  executor: true,
  attempt: true,
  epoch: true,
  result_delivered: true,
  runner: true,
  due_at: true,
  resolution: true,
  cached_from: true,
  reusable_until: true,
  claimed_by: true,
  idempotency_key: true,
  in_doubt: true,
  first_send: true,
  checks: true,
  result: true,
  result_url: true,
  error: true,
  expires_at: true,
  extended: true,
  assigned: true,
  remind_at: true,
  escalate_at: true,
  grant_id: true,
  archived_at: true,
  redacted_at: true,
  instance_epoch: true,
  released_at: true,
  starts_at: true,
  decided_at: true,
  started_at: true,
  settled_at: true,
  created_at: true,
  updated_at: true,
})

export const findAction = question<{ id: string }, ActionRow>((db, p) => db.selectFrom('action').selectAll().where('id', '=', p.id))

/**
 * True while people may still decide. The deadline is compared in the very update that moves the action, by the database's clock where
 * several processes share it: no answer slips in between, and a process with a slow clock cannot accept one too late.
 */
export const isInTime = (dialect: Dialect, now: number) => sql<boolean>`(expires_at is null or expires_at > ${dialect.nowMs(now)})`
const isSameQuestion = (update: ActionUpdate, p: Asked, dialect: Dialect) =>
  update.where('state', '=', lit('proposed')).where('revision', '=', p.revision).where(isInTime(dialect, p.now))

interface Asked {
  revision: number
  now: number
  [name: string]: string | number | null
}

/** Records a vote that does not decide yet. No row changes when another vote won, the action changed, or its deadline has passed. */
export const noteVote = notedUpdate(['updated_at'], isSameQuestion)

/** Records that a vote by which an action was approved is void. No row changes when it has started, or its approval was taken back. */
export const noteVoided = notedUpdate(['updated_at'], (update, p: Pick<Asked, 'revision'>) =>
  update.where('state', '=', lit('approved')).where('revision', '=', p.revision),
)

/** Returns the earlier of two optional times. */
const earlier = (a: 'remind_at' | 'escalate_at', b: 'expires_at') =>
  sql<number | null>`coalesce(case when ${sql.ref(a)} < ${sql.ref(b)} then ${sql.ref(a)} else ${sql.ref(b)} end, ${sql.ref(a)})`

/** Records a reminder. No row changes when it is too early, when it was sent already, or when the action was settled. */
export const remindAction = question<{ id: string; now: number }>((db, p, dialect) =>
  db
    .updateTable('action')
    .set({
      remind_at: null,
      due_at: earlier('escalate_at', 'expires_at'),
      // Later than the previous view, and never later than the database's own clock: a reader keeps the later of two views.
      updated_at: sql<number>`case when updated_at > remind_at then updated_at else remind_at end`,
    })
    .where('id', '=', p.id)
    .where('state', '=', lit('proposed'))
    .where('remind_at', '<=', dialect.nowMs(p.now))
    .where(isInTime(dialect, p.now)),
)

/**
 * Escalates to further people, according to `requires`. No row changes when it is too early, or when the action was escalated, settled or
 * revised.
 */
export const escalateAction = actionUpdate(['requires', 'updated_at'], (update, p: Asked, dialect) =>
  isSameQuestion(update, p, dialect)
    .set({ escalate_at: null, due_at: earlier('remind_at', 'expires_at') })
    .where('escalate_at', '<=', dialect.nowMs(p.now)),
)

/**
 * Extends the deadline of a waiting action. No row changes when it was extended before, when its deadline has passed by the clock of the
 * database, or when the action was settled or revised.
 */
export const extendAction = notedUpdate(['expires_at', 'extended', 'updated_at'], (update, p: Asked & { until: number }, dialect) =>
  isSameQuestion(update, p, dialect)
    .set({ due_at: earliestOf(p.until) })
    .where('extended', 'is', null),
)

/**
 * Says who should decide about an action that needs a person. No row changes when it needs nobody any more, or when the assignment is not
 * `was` any more; empty for none.
 */
export const assignAction = notedUpdate(['assigned', 'updated_at'], (update, p: { was: string }) =>
  update.where('state', 'in', [lit('proposed'), lit('outcome_unknown')]).where(sql<boolean>`coalesce(assigned, '') = ${p.was}`),
)

/** Says of an action that was not allowed that its program carried it out all the same. No row changes in every other state. */
export const noteRanElsewhere = notedUpdate(['error', 'updated_at'], (update) =>
  update.where('state', 'in', [lit('declined'), lit('expired'), lit('cancelled')]),
)

/** The earliest of the other timers and a new deadline. */
const earliestOf = (until: number) =>
  sql<number>`(select min(at) from (select cast(${until} as bigint) as at union all select remind_at union all select escalate_at) as timers)`

export type OpenAction = Pick<ActionRow, 'id' | 'state' | 'run_id' | 'executor' | 'due_at'>

/** True for an approved action that the server starts once its grace period is over: until then, its timer is set. */
export const isInGrace = ({ state, executor, due_at }: Pick<ActionRow, 'state' | 'executor' | 'due_at'>): boolean =>
  state === 'approved' && executor === 'server' && due_at !== null

/** Ends the grace period of an approved action, by the clock of the database. No row changes when it is too early, or was undone. */
export const endGrace = question<{ id: string; now: number }>((db, p, dialect) =>
  db
    .updateTable('action')
    .set({ due_at: null })
    .where('id', '=', p.id)
    .where('state', '=', lit('approved'))
    .where('executor', '=', lit('server'))
    .where('due_at', '<=', dialect.nowMs(p.now)),
)

/** The actions of a session that still need a person or an answer, oldest first. */
export const openActions = question<{ session_id: string }, OpenAction>((db, p) =>
  db
    .selectFrom('action')
    .select(['id', 'state', 'run_id', 'executor', 'due_at'])
    .where('session_id', '=', p.session_id)
    // Literals, so that the partial index of exactly these states is used.
    .where(sql<boolean>`state in ${listOfStates(OPEN_STATES)}`)
    .orderBy('id')
    .limit(lit(10_000)),
)

/** Counts the actions of a session with an unknown outcome. */
export const countUnknown = question<{ session_id: string }, { unknown: number }>((db, p) =>
  db
    .selectFrom('action')
    .select((eb) => eb.fn.countAll<number>().as('unknown'))
    .where('session_id', '=', p.session_id)
    // A literal, so that the partial index of exactly this state is used.
    .where('state', '=', lit('outcome_unknown')),
)

/** Actions with a due timer, the longest due first. */
export const dueActions = question<{ now: number; limit: number }, Pick<ActionRow, 'id' | 'session_id' | 'state' | 'due_at'>>(
  (db, p, dialect) =>
    db
      .selectFrom('action')
      .select(['id', 'session_id', 'state', 'due_at'])
      .where('due_at', 'is not', null)
      // As a subquery, the clock is read once, and the index used up to there; otherwise it is read for every row: 0.04 against 830 ms on
      // Postgres with 300,000 actions that are due later.
      .where(sql<boolean>`due_at <= (select ${dialect.nowMs(p.now)})`)
      .orderBy('due_at')
      .limit(p.limit),
)

/** The action with the earliest timer: how long until then, negative when it is overdue. */
export const nextDue = question<{ now: number }, { waitMs: number }>((db, p, dialect) =>
  db
    .selectFrom('action')
    .select(sql<number>`due_at - ${dialect.nowMs(p.now)}`.as('waitMs'))
    .where('due_at', 'is not', null)
    .orderBy('due_at')
    .limit(lit(1)),
)

/** The actions that were declined in a session under a digest, the oldest first. */
export const declinedWith = question<{ session_id: string; digest: string }, ActionRow>((db, p) =>
  db
    .selectFrom('action')
    .selectAll()
    .where('session_id', '=', p.session_id)
    .where('digest', '=', p.digest)
    // A literal, so that the partial index of exactly this state is used.
    .where('state', '=', lit('declined'))
    .orderBy('id')
    .limit(lit(1_000)),
)

export const actionsOfMessage = question<{ session_id: string; message_id: string }, ActionRow>((db, p) =>
  db
    .selectFrom('action')
    .selectAll()
    .where('session_id', '=', p.session_id)
    .where('message_id', '=', p.message_id)
    .orderBy('position')
    .limit(lit(1_000)),
)

/** How many earlier calls are searched, over all tools. */
const LOOK_AT = 5_000

/** The latest decided calls of a tool by an agent that required approval, before an action; newest first. */
export const askedBefore = question<
  Pick<ActionRow, 'id' | 'tool' | 'agent'> & { limit: number },
  Pick<ActionRow, 'id' | 'arguments' | 'state'>
>((db, p) =>
  db
    .selectFrom(
      db
        .selectFrom('action')
        .select(['id', 'tool', 'agent', 'arguments', 'state', 'policy'])
        .where('id', '<', p.id)
        .orderBy('id', 'desc')
        .limit(lit(LOOK_AT))
        .as('lately'),
    )
    .select(['id', 'arguments', 'state'])
    .where('tool', '=', p.tool)
    .where(sql<boolean>`coalesce(agent, '') = coalesce(${p.agent}, '')`)
    .where('state', '<>', lit('proposed'))
    .where(sql<boolean>`policy like '%"verdict":"ask"%'`)
    .orderBy('id', 'desc')
    .limit(p.limit),
)

export type { ActionSearch, OrderPlace, Piece }
export { lowestIdAt, placeIn, stretchesOf }

export interface ActionFilter {
  /** Any of them; an empty list means all. */
  states?: readonly ActionRow['state'][]
  tool?: string | undefined
  session?: string | undefined
  agent?: string | undefined
  risk?: string | undefined
  /** Text in the description or the arguments. */
  text?: string | undefined
  search?: ActionSearch | undefined
  /** True where few actions were settled in the time of the search: they are looked up by the index of these times. */
  bySettled?: boolean | undefined
  /** Only what a person has snoozed, or with `not` only what they have not. */
  snoozed?: { by: string; now: number; not: boolean } | undefined
  /** The reader; undefined for readers who see everything. */
  reader?: Reader | undefined
  /** Only settled actions, in an order other than that of their ids. @see searchActions, which reads it piece by piece. */
  ordered?: { order: SettledOrder; after?: OrderPlace | undefined } | undefined
  /** A piece of that order. */
  piece?: Piece | undefined
  /** Only ids before this one. */
  before?: string | undefined
  /** Only this id and later ones. */
  from?: string | undefined
  limit: number
}

/** Returns the place that continues a filter after an action that it found. */
export const placeAfter = ({ ordered }: Pick<ActionFilter, 'ordered'>, row: ActionRow): Pick<ActionFilter, 'ordered' | 'before'> =>
  ordered ? { ordered: { ...ordered, after: placeIn(ordered.order, row) } } : { before: row.id }

export type ActionQuery<O> = SelectQueryBuilder<Schema, 'action', O>

/** Adds the conditions of a filter. */
export function narrowed<O>(from: ActionQuery<O>, filter: ActionFilter, dialect: Dialect): ActionQuery<O> {
  let query = from
  const { states = [] } = filter
  const [only] = states
  // Literals, so that the partial index of exactly these states is used.
  if (only !== undefined && states.length === 1) query = query.where('state', '=', lit(only))
  else if (states.length > 0) query = query.where(sql<boolean>`state in ${listOfStates(states)}`)
  if (filter.tool !== undefined) query = query.where('tool', '=', filter.tool)
  if (filter.session !== undefined) query = query.where('session_id', '=', filter.session)
  if (filter.agent !== undefined) query = query.where('agent', '=', filter.agent)
  if (filter.reader !== undefined) query = query.where(actionIsVisible(filter.reader, 'action', dialect))
  if (filter.snoozed !== undefined) {
    const snoozed = isSnoozed(filter.snoozed)
    query = query.where(filter.snoozed.not ? sql<boolean>`not ${snoozed}` : snoozed)
  }
  if (filter.before !== undefined) query = query.where('id', '<', filter.before)
  if (filter.from !== undefined) query = query.where('id', '>=', filter.from)
  if (filter.risk !== undefined) query = query.where('risk', 'like', `%"level":"${filter.risk}"%`)
  if (filter.bySettled) query = query.where(sql<boolean>`action.id in (${idsSettledIn(filter.search ?? {})})`)
  const { search = {}, piece } = filter
  if (piece !== undefined) query = query.where(isInPiece(piece, search, dialect))
  // The range of the index bounds the times already. Said twice, Postgres expects so few rows that it sorts all of them.
  const rest = piece && isAlongTimes(piece) ? { ...search, settledAfter: undefined, settledBefore: undefined } : search
  for (const condition of searchConditions(rest, dialect)) query = query.where(condition)
  if (filter.text !== undefined) query = query.where(hasWord(filter.text, dialect))
  return query
}

/** The id of the action that is `count` before the id `before`; undefined when there are not so many. */
export const idBefore = question<{ before: string; count: number }, { id: string }>((db, p) =>
  db.selectFrom('action').select('id').where('id', '<', p.before).orderBy('id', 'desc').offset(p.count).limit(lit(1)),
)

/** The place of the action that is `count` behind the beginning of a piece; undefined when it has not so many. */
export const placeBehind = (piece: Piece, search: ActionSearch, count: number): Tx<Pick<OrderPlace, 'key' | 'id'>[]> =>
  ask((db, dialect) => {
    const { key, direction } = orderOf(piece)
    const query = db
      .selectFrom('action')
      .select('id')
      .select(key.as('key'))
      .where(isInPiece(piece, search, dialect))
    return query.orderBy(key, direction).orderBy('id', direction).offset(count).limit(1)
  })

/** Counts the actions that were settled in the time of a search, up to a limit. */
export const countSettled = (search: ActionSearch, limit: number): Tx<{ settled: number }[]> =>
  ask((db) =>
    db.selectFrom(sql`(${idsSettledIn(search)} limit ${limit})`.as('some')).select((eb) => eb.fn.countAll<number>().as('settled')),
  )

/** Actions that match every given filter, newest first; with `piece`, in its order. */
export const listActions = (filter: ActionFilter): Tx<ActionRow[]> => ask((_, dialect) => listActionsQuery(filter, dialect))

/** The open states, as two partial indexes by id divide them: an index of all three has them by session. */
const OPEN_BY_INDEX = [['proposed'], OPEN_STATES.filter((state) => state !== 'proposed')] as const

/** The ids of the newest open actions that a reader sees, at most `limit` of those that wait for people, and as many others. */
export function* listOpenIds(reader: Reader, limit: number): Tx<string[]> {
  const ids: string[] = []
  for (const states of OPEN_BY_INDEX) {
    const rows = yield* ask((db, dialect) =>
      narrowed(db.selectFrom('action').select('id'), { states, reader, limit }, dialect).orderBy('id', 'desc').limit(limit),
    )
    ids.push(...rows.map(({ id }) => id))
  }
  return ids
}

export function listActionsQuery(filter: ActionFilter, dialect: Dialect): ActionQuery<ActionRow> {
  const query = narrowed(dialect.builder.selectFrom('action').selectAll(), filter, dialect)
  if (filter.piece === undefined) return query.orderBy('id', 'desc').limit(filter.limit)
  const { key, direction } = orderOf(filter.piece)
  // An expression that no index has: the few that were settled in the time are sorted, instead of all actions looked through in order.
  const by = filter.bySettled ? sql`${key} + 0` : key
  return query.orderBy(by, direction).orderBy('id', direction).limit(filter.limit)
}
