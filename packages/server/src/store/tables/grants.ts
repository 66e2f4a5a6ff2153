import type { JsonObject } from '@countersign/core'
import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'
import { ask, lit, question, type Tx } from '../query.ts'
import type { GrantRow } from './action-rows.ts'
import { insertInto } from './insert.ts'
import type { Schema } from './schema.ts'

export const insertGrant = insertInto('action_grant', {
  id: true,
  scope: true,
  session_id: true,
  agent: true,
  requested_by: true,
  requesters: true,
  tool: true,
  definitions: true,
  arguments: true,
  condition: true,
  uses_left: true,
  used: true,
  last_used_at: true,
  made_by: true,
  made_from: true,
  expires_at: true,
  revoked_at: true,
  revoked_by: true,
  created_at: true,
})

export const findGrant = question<{ id: string }, GrantRow>((db, p) => db.selectFrom('action_grant').selectAll().where('id', '=', p.id))

const isInForce = (dialect: Dialect, now: number) =>
  sql<boolean>`(revoked_at is null and expires_at > ${dialect.nowMs(now)} and (uses_left is null or uses_left > 0))`

const grantsInForce = (db: Kysely<Schema>, dialect: Dialect, now: number) =>
  db.selectFrom('action_grant').selectAll().where('revoked_at', 'is', null).where(isInForce(dialect, now))

/** @property arguments Canonical JSON. */
type GrantedCall = { tool: string; arguments: string; now: number }

/** Leaves out grants for exactly other arguments: an agent may have any number of them, and the limits below are for conditions. */
const grantsFor = (db: Kysely<Schema>, dialect: Dialect, call: GrantedCall) =>
  grantsInForce(db, dialect, call.now).where((eb) => eb.or([eb('arguments', 'is', null), eb('arguments', '=', call.arguments)]))

/** The grants in force for calls of a tool in a session, the oldest first. */
export const grantsOfSession = question<GrantedCall & { session_id: string }, GrantRow>((db, p, dialect) =>
  grantsFor(db, dialect, p)
    .where('session_id', '=', p.session_id)
    .where((eb) => eb.or([eb('tool', 'is', null), eb('tool', '=', p.tool)]))
    .orderBy('id')
    .limit(lit(200)),
)

/** The grants in force for calls of a tool by an agent, the oldest first. */
export const grantsOfAgent = question<GrantedCall & { agent: string }, GrantRow>((db, p, dialect) =>
  grantsFor(db, dialect, p)
    .where('session_id', 'is', null)
    .where('requested_by', 'is', null)
    .where('agent', '=', p.agent)
    .where('tool', '=', p.tool)
    .orderBy('id')
    .limit(lit(200)),
)

/** The grants in force for calls of a tool by an outside agent, the oldest first. */
export const grantsOfKey = question<GrantedCall & { requested_by: string }, GrantRow>((db, p, dialect) =>
  grantsFor(db, dialect, p).where('requested_by', '=', p.requested_by).where('tool', '=', p.tool).orderBy('id').limit(lit(200)),
)

/** Uses a grant once. No row changes when it was revoked, expired or used up. */
export const countUse = question<{ id: string; now: number }>(
  (db, p, dialect) =>
    db
      .updateTable('action_grant')
      .set((eb) => ({ used: eb('used', '+', 1), uses_left: eb('uses_left', '-', 1), last_used_at: p.now }))
      .where('id', '=', p.id)
      .where(isInForce(dialect, p.now)),
  { isNoted: true },
)

/** True while a grant is neither revoked nor expired, regardless of its uses. */
export const isStanding = question<{ id: string; now: number }, { id: string }>((db, p, dialect) =>
  db
    .selectFrom('action_grant')
    .select('id')
    .where('id', '=', p.id)
    .where(sql<boolean>`(revoked_at is null and expires_at > ${dialect.nowMs(p.now)})`),
)

/** Revokes a grant. No row changes when it had been revoked. */
export const revokeGrant = question<{ id: string; revoked_by: string; now: number }>((db, p) =>
  db
    .updateTable('action_grant')
    .set({ revoked_at: p.now, revoked_by: p.revoked_by })
    .where('id', '=', p.id)
    .where('revoked_at', 'is', null),
)

/**
 * The grants that came with the approvals of one revision and were not revoked, the oldest first: also that of an "approve all". One made
 * from the action apart is not among them.
 * @param p `session_id` of the action.
 */
export const grantsWithVotes = question<{ action_id: string; revision: number; session_id: string | null }, Pick<GrantRow, 'id' | 'tool'>>(
  (db, p) =>
    db
      .selectFrom('vote')
      .innerJoin('action_grant', (join) =>
        join
          .onRef('action_grant.made_by', '=', 'vote.principal_id')
          // Both are written in one transaction, which has one time.
          .onRef('action_grant.created_at', '=', 'vote.created_at'),
      )
      .select(['action_grant.id', 'action_grant.tool'])
      .where('vote.action_id', '=', p.action_id)
      .where('vote.revision', '=', p.revision)
      .where('action_grant.revoked_at', 'is', null)
      .where((eb) =>
        eb.or([
          eb('action_grant.made_from', '=', p.action_id),
          eb.and([eb('action_grant.made_from', 'is', null), eb('action_grant.session_id', '=', p.session_id)]),
        ]),
      )
      .orderBy('action_grant.id')
      .limit(lit(1_000)),
)

/** The grants that a person gave and that are in force, the newest first. */
export const grantsBy = question<{ made_by: string; now: number }, GrantRow>((db, p, dialect) =>
  grantsInForce(db, dialect, p.now).where('made_by', '=', p.made_by).orderBy('id', 'desc').limit(lit(10_000)),
)

/** The grants that a person gave and that an action may still rest on, the newest first: also those that are used up. */
export const standingBy = question<{ made_by: string; now: number }, GrantRow>((db, p, dialect) =>
  db
    .selectFrom('action_grant')
    .selectAll()
    .where('made_by', '=', p.made_by)
    .where('revoked_at', 'is', null)
    .where(sql<boolean>`expires_at > ${dialect.nowMs(p.now)}`)
    .orderBy('id', 'desc')
    .limit(lit(10_000)),
)

/** The grants in force for all further actions of a session: "approve all". */
export const wholeSessionGrants = question<{ session_id: string; now: number }, GrantRow>((db, p, dialect) =>
  grantsInForce(db, dialect, p.now).where('session_id', '=', p.session_id).where('tool', 'is', null).limit(lit(1_000)),
)

/** Grants that match every given filter, newest first. */
export const listGrants = (page: {
  session: string | undefined
  agent: string | undefined
  madeBy: string | undefined
  /** The caller's time: only grants in force then. */
  standingAt: number | undefined
  before: string | undefined
  limit: number
}): Tx<GrantRow[]> =>
  ask((db, dialect) => {
    const { session, agent, madeBy, standingAt, before, limit } = page
    let query = db.selectFrom('action_grant').selectAll().orderBy('id', 'desc').limit(limit)
    if (session !== undefined) query = query.where('session_id', '=', session)
    if (agent !== undefined) query = query.where('agent', '=', agent)
    if (madeBy !== undefined) query = query.where('made_by', '=', madeBy)
    if (standingAt !== undefined) query = query.where(isInForce(dialect, standingAt))
    if (before !== undefined) query = query.where('id', '<', before)
    return query
  })

/**
 * Returns what may answer a call of a session without people: a decline under its digest, a grant that may cover it. One query instead of
 * three, because usually there are none.
 */
export const priorVerdicts = question<
  { session_id: string; agent: string | null; tool: string; digest: string },
  { declined: number; granted: number }
>((db, p) => {
  const standing = db.selectFrom('action_grant').select(lit(1).as('one')).where('revoked_at', 'is', null)
  const declined = db
    .selectFrom('action')
    .select(lit(1).as('one'))
    .where('session_id', '=', p.session_id)
    .where('digest', '=', p.digest)
    .where('state', '=', lit('declined'))
  const ofSession = standing.where('session_id', '=', p.session_id)
  const ofAgent = standing
    .where('session_id', 'is', null)
    .where('requested_by', 'is', null)
    .where('agent', '=', p.agent)
    .where('tool', '=', p.tool)
  return db.selectNoFrom(({ exists, or }) => [
    sql<number>`case when ${exists(declined)} then 1 else 0 end`.as('declined'),
    sql<number>`case when ${or([exists(ofSession), exists(ofAgent)])} then 1 else 0 end`.as('granted'),
  ])
})

/** Returns what was remembered of the definition and the credential of each tool when the grant was made, by the name of the tool. */
export const definitionsOf = ({ definitions }: Pick<GrantRow, 'definitions'>): Record<string, string> => JSON.parse(definitions)

/** Returns the ids of the requesters that a grant of a session covers; null for the owner of the session alone. */
export const requestersOf = ({ requesters }: Pick<GrantRow, 'requesters'>): string[] | null =>
  requesters === null ? null : JSON.parse(requesters)

/** Returns the arguments that a grant is limited to; null for any. */
export const argumentsOf = (row: Pick<GrantRow, 'arguments'>): JsonObject | null =>
  row.arguments === null ? null : JSON.parse(row.arguments)
