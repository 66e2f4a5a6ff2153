import { type Kysely, sql } from 'kysely'
import { ask, lit, question, type Tx } from '../query.ts'
import type { Schema } from './schema.ts'

/** A person who has had a revision of an action on their screen. */
export interface SeenRow {
  action_id: string
  principal_id: string
  revision: number
  /** Epoch ms, the first time. */
  seen_at: number
}

export type NamedSeenRow = SeenRow & { name: string }

/**
 * Notes that somebody has seen a revision, at the time of the database. Writes no row when it was noted before, and none when the action is not
 * that revision with that digest, or waits for no decision: compared in the very statement that writes.
 */
export const noteSeen = question<{ action_id: string; principal_id: string; revision: number; digest: string; now: number }>(
  (db, p, dialect) =>
    db
      .insertInto('action_seen')
      .columns(['action_id', 'principal_id', 'revision', 'seen_at'])
      .expression((eb) =>
        eb
          .selectFrom('action')
          .select(['id', sql<string>`${p.principal_id}`.as('principal_id'), 'revision', dialect.nowMs(p.now).as('seen_at')])
          .where('id', '=', p.action_id)
          .where('revision', '=', p.revision)
          .where('digest', '=', p.digest)
          .where('state', '=', lit('proposed')),
      )
      .onConflict((conflict) => conflict.doNothing()),
)

/** The most people that are named for one revision, and in a story for all of them. */
const MOST_NAMED = 20
const MOST_IN_STORY = 200

const seenByName = (db: Kysely<Schema>, actionId: string) =>
  db
    .selectFrom('action_seen')
    .innerJoin('principal', 'principal.id', 'action_seen.principal_id')
    .selectAll('action_seen')
    .select('principal.name')
    .where('action_id', '=', actionId)
    .orderBy('seen_at', 'desc')
    .orderBy('principal_id')

/** Returns the people who have seen a revision, the latest first. */
export const seenRevision = question<{ action_id: string; revision: number }, NamedSeenRow>((db, p) =>
  seenByName(db, p.action_id).where('revision', '=', p.revision).limit(lit(MOST_NAMED)),
)

/** Returns the people who have seen an action in any of its revisions, the latest first. */
export const seenAction = question<{ action_id: string }, NamedSeenRow>((db, p) => seenByName(db, p.action_id).limit(lit(MOST_IN_STORY)))

/** When these people first had these actions on their screen, in any revision. */
export const looksOf = (decisions: readonly { action_id: string; actor: string }[]): Tx<SeenRow[]> =>
  ask((db) =>
    db
      .selectFrom('action_seen')
      .selectAll()
      .where('action_id', 'in', [...new Set(decisions.map(({ action_id }) => action_id))])
      .where('principal_id', 'in', [...new Set(decisions.map(({ actor }) => actor))])
      .orderBy('action_id')
      .limit(10_000),
  )

/** Forgets who has seen an action. */
export const forgetSeen = question<{ action_id: string }>((db, p) => db.deleteFrom('action_seen').where('action_id', '=', p.action_id))

/** The same for all actions of a session. */
export const forgetSeenIn = question<{ session_id: string }>((db, p) =>
  db
    .deleteFrom('action_seen')
    .where('action_id', 'in', (eb) => eb.selectFrom('action').select('id').where('session_id', '=', p.session_id)),
)
