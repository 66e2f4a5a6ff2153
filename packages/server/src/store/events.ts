import { type Kysely, sql } from 'kysely'
import { question } from './query.ts'
import type { EventRow, Schema } from './schema.ts'

type Insert = Omit<EventRow, 'id'>

const insert = (db: Kysely<Schema>, p: { [K in keyof Insert]: Insert[K] }) =>
  db.insertInto('event').values(
    // The database numbers the log itself.
    { session_id: p.session_id, seq: p.seq, type: p.type, subject_id: p.subject_id, data: p.data, created_at: p.created_at } as EventRow,
  )

export const insertEvent = question<{ [K in keyof Insert]: Insert[K] }>(insert)

/** Also answers the event's place in the whole log, which only readers of the inbox go by. */
export const insertInboxEvent = question<{ [K in keyof Insert]: Insert[K] }, { id: number }>((db, p) => insert(db, p).returning('id'))

/** A session's events after `after`, in order. */
export const sessionEventsAfter = question<{ session_id: string; after: number; limit: number }, EventRow>((db, p) =>
  db.selectFrom('event').selectAll().where('session_id', '=', p.session_id).where('seq', '>', p.after).orderBy('seq').limit(p.limit),
)

/** The inbox's events (actions of every session) after place `after` in the log. */
export const inboxEventsAfter = question<{ after: number; limit: number }, EventRow>((db, p) =>
  db
    .selectFrom('event')
    .selectAll()
    .where(sql<boolean>`type in ('action_proposed', 'action_update')`)
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(p.limit),
)

export const lastEventId = question<Record<string, never>, { id: number | null }>((db) =>
  db.selectFrom('event').select((eb) => eb.fn.max('id').as('id')),
)

/** Drops the streamed pieces of a message that is now stored whole. */
export const dropDeltas = question<{ message_id: string }>((db, p) =>
  db.deleteFrom('event').where(sql<boolean>`type in ('delta', 'reasoning_delta')`).where('subject_id', '=', p.message_id),
)
