import { sql } from 'kysely'
import { ask, lit, question, type Tx, takePlaces } from '../query.ts'
import type { ActionRow } from './action-rows.ts'
import type { AuditHeadRow, AuditRow } from './audit-rows.ts'
import { insertInto, insertJoined } from './insert.ts'

const insert = insertJoined('audit', {
  id: true,
  scope: true,
  seq: true,
  prev: true,
  follows: true,
  at: true,
  kind: true,
  actor: true,
  action_id: true,
  data: true,
  salt: true,
  data_hash: true,
  hash: true,
})

/**
 * Stores one row of the record, at the next place, and returns the place. The transaction holds the lock of the scope, so that rows follow
 * each other.
 */
export function* insertRow(row: Omit<AuditRow, 'id'>): Tx<number> {
  const id = yield* takePlaces(1)
  yield* insert.run({ id, ...row })
  return id
}

/** True for a scope that is not a session, in exactly the words of the partial index. A session row stores its own last audit row. */
export const isNoSession = sql<boolean>`substr(scope, 1, 4) <> 'ses_'`

/** The last row of a scope that is not a session. */
export const lastOfScope = question<{ scope: string }, Pick<AuditRow, 'seq' | 'hash'> & { place: number }>((db, p) =>
  db
    .selectFrom('audit')
    .select(['seq', 'hash', 'id as place'])
    .where('scope', '=', p.scope)
    .where(isNoSession)
    .orderBy('seq', 'desc')
    .limit(lit(1)),
)

/** The places of a scope's rows, backwards from its end, or from the predecessor of the row at `before`, to its first. */
function chainOf(scope: string, before?: number) {
  const end = sql`select audit_place from session where id = ${scope}
    union all select * from (select id from audit where scope = ${scope} and ${isNoSession} order by seq desc limit 1) as newest`
  const start = before === undefined ? end : sql`select follows from audit where id = ${before} and scope = ${scope}`
  return sql<number>`(with recursive chain (place) as (
    select * from (${start}) as start
    union all select audit.follows from chain join audit on audit.id = chain.place where audit.follows is not null
  ) select place from chain)`
}

export const lastHead = question<Record<string, never>, AuditHeadRow>((db) =>
  db.selectFrom('audit_head').selectAll().orderBy('number', 'desc').limit(lit(1)),
)

/** The fields of a row that a head covers. */
export type SealedRow = Pick<AuditRow, 'id' | 'at' | 'hash' | 'follows'>

/** Rows of the record after a place, in order. Rows that are not final must not be sealed yet: other rows may still appear before them. */
export const rowsToSeal = question<{ after: number; limit: number }, SealedRow & { is_final: number }>((db, p, { firstOpenPlace }) =>
  db
    .selectFrom('audit')
    .select(['id', 'at', 'hash', 'follows'])
    .select(sql<number>`case when id < ${firstOpenPlace ?? lit(Number.MAX_SAFE_INTEGER)} then 1 else 0 end`.as('is_final'))
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(p.limit),
)

/** Stores a head. It fails when another process sealed meanwhile. */
export const insertHead = insertInto('audit_head', {
  number: true,
  prev: true,
  at: true,
  first_id: true,
  last_id: true,
  row_count: true,
  first_at: true,
  last_at: true,
  rows_hash: true,
  key: true,
  hash: true,
  signature: true,
  format: true,
  gap: true,
})

/** The newest head before which a person accepted a gap. */
export const lastGapHead = question<Record<string, never>, AuditHeadRow>((db) =>
  db.selectFrom('audit_head').selectAll().where('gap', 'is not', null).orderBy('number', 'desc').limit(lit(1)),
)

/** Heads up to `last`, newest first. */
export const headsDownFrom = question<{ last: number; limit: number }, AuditHeadRow>((db, p) =>
  db.selectFrom('audit_head').selectAll().where('number', '<=', p.last).orderBy('number', 'desc').limit(p.limit),
)

/** Deletes heads that were not signed by this installation. Returns how many. */
export const deleteHeadsAfter = question<{ number: number }>((db, p) => db.deleteFrom('audit_head').where('number', '>', p.number))

/** A row, and the hash of the row that it claims to follow. */
export type CheckedRow = AuditRow & { follows_hash: string | null }

/** Rows after `after` up to `last`, in order, each with the hash of the row that it follows. */
export const rowsToCheck = question<{ after: number; last: number; limit: number }, CheckedRow>((db, p) =>
  db
    .selectFrom('audit')
    .leftJoin('audit as followed', 'followed.id', 'audit.follows')
    .selectAll('audit')
    .select('followed.hash as follows_hash')
    .where('audit.id', '>', p.after)
    .where('audit.id', '<=', p.last)
    .orderBy('audit.id')
    .limit(p.limit),
)

/** The newest rows of a scope that is not a session. */
export const newestOfScope = question<{ scope: string; limit: number }, Pick<AuditRow, 'kind' | 'data'>>((db, p) =>
  db.selectFrom('audit').select(['kind', 'data']).where('scope', '=', p.scope).where(isNoSession).orderBy('seq', 'desc').limit(p.limit),
)

/** Among some heads, those with rows of a period: their first and last number and place, null without any. */
type HeadPiece = Record<'firstNumber' | 'lastNumber' | 'firstId' | 'lastId', number | null> & {
  /** The lowest number that was looked at; null when there were no heads. */
  lowest: number | null
}

/** Looks for heads with rows of a period among the `count` heads before the number `before`. */
export const headPiece = question<{ before: number; count: number; since: number; until: number }, HeadPiece>((db, p) => {
  const piece = db
    .selectFrom('audit_head')
    .select(['number', 'first_id', 'last_id'])
    .select(sql<number>`case when last_at >= ${p.since} and first_at < ${p.until} then 1 else 0 end`.as('is_of_period'))
    .where('number', '<', p.before)
    .orderBy('number', 'desc')
    .limit(p.count)
  return db
    .selectFrom(piece.as('piece'))
    .select((eb) => eb.fn.min<number | null>('number').as('lowest'))
    .select(sql<number | null>`min(case when is_of_period = 1 then number end)`.as('firstNumber'))
    .select(sql<number | null>`max(case when is_of_period = 1 then number end)`.as('lastNumber'))
    .select(sql<number | null>`min(case when is_of_period = 1 then first_id end)`.as('firstId'))
    .select(sql<number | null>`max(case when is_of_period = 1 then last_id end)`.as('lastId'))
})

/** The actions whose redaction is recorded after a place. */
export const redactedAfter = question<{ after: number }, { action_id: string }>((db, p) =>
  db
    .selectFrom('audit')
    .select('action_id')
    .$narrowType<{ action_id: string }>()
    .where('id', '>', p.after)
    .where('kind', '=', 'redacted')
    .where('action_id', 'is not', null),
)

/** Heads after `after` up to `last`, in order. */
export const headsUpTo = question<{ after: number; last: number; limit: number }, AuditHeadRow>((db, p) =>
  db.selectFrom('audit_head').selectAll().where('number', '>', p.after).where('number', '<=', p.last).orderBy('number').limit(p.limit),
)

/** Rows after `after` up to `last`, in order. */
export const rowsUpTo = question<{ after: number; last: number; limit: number }, AuditRow>((db, p) =>
  db.selectFrom('audit').selectAll().where('id', '>', p.after).where('id', '<=', p.last).orderBy('id').limit(p.limit),
)

export interface AuditFilter {
  actionId?: string | undefined
  actor?: string | undefined
  kind?: string | undefined
  since?: number | undefined
  until?: number | undefined
}

/** Rows of one scope that match every given filter, newest first. @param before Only rows before the one at this place. */
export const listScope = (scope: string, filter: AuditFilter, before: number | undefined, limit: number): Tx<AuditRow[]> =>
  ask((db) =>
    db
      .selectFrom('audit')
      .selectAll()
      .where('id', 'in', chainOf(scope, before))
      .where((eb) => eb.and(fitting(filter).map(([column, is, value]) => eb(column, is, value))))
      .orderBy('seq', 'desc')
      .limit(limit),
  )

/** The same over all scopes, among the rows with places from `from` up to, not including, `before`. */
export const listRows = (filter: AuditFilter, { from, before }: { from: number; before: number }, limit: number): Tx<AuditRow[]> =>
  ask((db) =>
    db
      .selectFrom('audit')
      .selectAll()
      .where('id', '>=', from)
      .where('id', '<', before)
      .where((eb) => eb.and(fitting(filter).map(([column, is, value]) => eb(column, is, value))))
      .orderBy('id', 'desc')
      .limit(limit),
  )

type Condition = [column: 'action_id' | 'actor' | 'kind' | 'at', is: '=' | '>=' | '<', value: string | number]

const fitting = ({ actionId, actor, kind, since, until }: AuditFilter): Condition[] =>
  [
    ['action_id', '=', actionId] as const,
    ['actor', '=', actor] as const,
    ['kind', '=', kind] as const,
    ['at', '>=', since] as const,
    ['at', '<', until] as const,
  ].flatMap(([column, is, value]) => (value === undefined ? [] : [[column, is, value] as Condition]))

/** The place of the row that is `count` rows before `before`; undefined when there are not so many. */
export const placeBefore = question<{ before: number; count: number }, { id: number }>((db, p) =>
  db.selectFrom('audit').select('id').where('id', '<', p.before).orderBy('id', 'desc').offset(p.count).limit(lit(1)),
)

/** Redacts the audit data of an action, but not the rows themselves. */
export const blankRows = ({ scope, actionId }: { scope: string; actionId: string }): Tx<unknown[]> =>
  ask((db) => db.updateTable('audit').set({ data: null, salt: null }).where('id', 'in', chainOf(scope)).where('action_id', '=', actionId))

/** When an action was first sent under its key; null where the record does not tell. */
export function* firstWithKey({ id, session_id, idempotency_key }: ActionRow): Tx<number | null> {
  const [first] = yield* ask((db) =>
    db
      .selectFrom('audit')
      .select((eb) => eb.fn.min<number | null>('at').as('at'))
      .where('id', 'in', chainOf(session_id ?? id))
      .where('action_id', '=', id)
      .where('data', 'like', `%"key":"${idempotency_key}"%`),
  )
  return first?.at ?? null
}

export const blankVotes = question<{ action_id: string }>((db, p) =>
  db.updateTable('vote').set({ reason: null }).where('action_id', '=', p.action_id),
)
