import { sql } from 'kysely'
import type { Dialect } from '../dialect.ts'
import { ask, lit, question, type Tx } from '../query.ts'
import { insertInto } from './insert.ts'
import type { DelegationRow } from './principal-rows.ts'

export const insertDelegation = insertInto('delegation', {
  id: true,
  from_id: true,
  to_id: true,
  reason: true,
  made_by: true,
  expires_at: true,
  revoked_at: true,
  revoked_by: true,
  created_at: true,
})

export const findDelegation = question<{ id: string }, DelegationRow>((db, p) =>
  db.selectFrom('delegation').selectAll().where('id', '=', p.id),
)

const isInForce = (dialect: Dialect, now: number) => sql<boolean>`expires_at > ${dialect.nowMs(now)}`

/** One person in whose place another votes, by all their delegations to that one. */
interface Lender {
  from_id: string
  /** The oldest delegation, and when it was given. */
  first_id: string
  lent_at: number
  /** When the first of the delegations expires. */
  ends_at: number
}

/**
 * The people whose delegations to a person are in force, the earliest first. Each is listed once, however often they delegated: otherwise
 * many delegations of one person would hide everybody else's behind the limit.
 */
export const lendersTo = question<{ to_id: string; now: number }, Lender>((db, p, dialect) =>
  db
    .selectFrom('delegation')
    .select((eb) => [
      'from_id',
      eb.fn.min('id').as('first_id'),
      eb.fn.min('created_at').as('lent_at'),
      eb.fn.min('expires_at').as('ends_at'),
    ])
    .where('to_id', '=', p.to_id)
    .where('revoked_at', 'is', null)
    .where(isInForce(dialect, p.now))
    .groupBy('from_id')
    .orderBy('first_id')
    .limit(lit(1_000)),
)

/** How many delegations from one person to another can be in force. */
export const MOST_FROM_ONE = 10

/** The number of delegations from one person to another that are in force. */
export const countFromOne = question<{ from_id: string; to_id: string; now: number }, { count: number }>((db, p, dialect) =>
  db
    .selectFrom('delegation')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('to_id', '=', p.to_id)
    .where('from_id', '=', p.from_id)
    .where('revoked_at', 'is', null)
    .where(isInForce(dialect, p.now)),
)

/** A delegation that was given before a vote and lasted until `at`, whatever became of it since. */
export const lastedUntil = question<{ from_id: string; to_id: string; votedAt: number; at: number }, Pick<DelegationRow, 'id'>>((db, p) =>
  db
    .selectFrom('delegation')
    .select('id')
    .where('to_id', '=', p.to_id)
    .where('from_id', '=', p.from_id)
    .where('created_at', '<=', p.votedAt)
    .where('expires_at', '>', p.at)
    // One that was ended in the same millisecond may have been in force.
    .where((eb) => eb.or([eb('revoked_at', 'is', null), eb('revoked_at', '>=', p.at)]))
    .limit(lit(1)),
)

/** The delegations from or to a person that are in force, the newest first. */
export const delegationsOf = question<{ person_id: string; now: number }, DelegationRow>((db, p, dialect) =>
  db
    .selectFrom('delegation')
    .selectAll()
    .where((eb) => eb.or([eb('from_id', '=', p.person_id), eb('to_id', '=', p.person_id)]))
    .where('revoked_at', 'is', null)
    .where(isInForce(dialect, p.now))
    .orderBy('id', 'desc')
    .limit(lit(10_000)),
)

/** Ends a delegation. No row changes when it had ended. */
export const revokeDelegation = question<{ id: string; revoked_by: string; now: number }>((db, p, dialect) =>
  db
    .updateTable('delegation')
    .set({ revoked_at: p.now, revoked_by: p.revoked_by })
    .where('id', '=', p.id)
    .where('revoked_at', 'is', null)
    .where(isInForce(dialect, p.now)),
)

/** Delegations, newest first: those from or to `personId`, or with undefined all. */
export const listDelegations = (page: { personId: string | undefined; before: string | undefined; limit: number }): Tx<DelegationRow[]> =>
  ask((db) => {
    const { personId, before, limit } = page
    let query = db.selectFrom('delegation').selectAll().orderBy('id', 'desc').limit(limit)
    if (personId !== undefined) query = query.where((eb) => eb.or([eb('from_id', '=', personId), eb('to_id', '=', personId)]))
    if (before !== undefined) query = query.where('id', '<', before)
    return query
  })
