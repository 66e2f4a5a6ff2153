import type { NewEvent } from '@countersign/core'
import { lit, question, type Tx } from './query.ts'
import type { EventRow } from './schema.ts'
import type { StoredEvent } from './store.ts'

/** Room for the events of one row in the numbers of the inbox's stream: row × this + place in the row. */
const EVENTS_PER_ROW = 1_000

const INBOX = new Set<NewEvent['type']>(['action_proposed', 'action_update', 'approval_overdue'])

type Insert = Omit<EventRow, 'id'>

const insertRow = question<{ [K in keyof Insert]: Insert[K] }>((db, p) =>
  db.insertInto('event').values(
    // The database numbers the log itself.
    {
      session_id: p.session_id,
      last_seq: p.last_seq,
      delta_of: p.delta_of,
      inbox: p.inbox,
      events: p.events,
      created_at: p.created_at,
    } as EventRow,
  ),
)

export interface EventBatch {
  sessionId: string | null
  events: readonly { seq: number | null; event: NewEvent }[]
  /** The message that these events are pieces of. */
  deltaOf?: string | undefined
  nowMs: number
}

/** Stores what one transaction says to one session, and answers it with its places in the log. */
export function* insertEvents({ sessionId, events, deltaOf, nowMs }: EventBatch): Tx<StoredEvent[]> {
  const row = yield* insertRow.insert({
    session_id: sessionId,
    last_seq: events.at(-1)?.seq ?? null,
    delta_of: deltaOf ?? null,
    inbox: events.some(({ event }) => INBOX.has(event.type)) ? 1 : 0,
    events: JSON.stringify(events.map(({ seq, event }) => [seq, event.type, event.data])),
    created_at: nowMs,
  })
  return events.map(({ seq, event }, i) => ({ id: row * EVENTS_PER_ROW + i, sessionId, seq, event }))
}

/** The events of a row of the log. */
export function readEvents(row: EventRow): StoredEvent[] {
  const events: [number | null, NewEvent['type'], NewEvent['data']][] = JSON.parse(row.events)
  return events.map(([seq, type, data], i) => ({
    id: row.id * EVENTS_PER_ROW + i,
    sessionId: row.session_id,
    seq,
    event: { type, data } as NewEvent,
  }))
}

export const isForInbox = ({ event }: StoredEvent): boolean => INBOX.has(event.type)

/** Rows with events of a session after number `after`, in order; the first may begin before it. */
export const sessionRowsAfter = question<{ session_id: string; after: number; limit: number }, EventRow>((db, p) =>
  db
    .selectFrom('event')
    .selectAll()
    .where('session_id', '=', p.session_id)
    .where('last_seq', '>', p.after)
    .orderBy('last_seq')
    .limit(p.limit),
)

const inboxRowsFrom = question<{ row: number; limit: number }, EventRow>((db, p) =>
  db.selectFrom('event').selectAll().where('inbox', '=', lit(1)).where('id', '>=', p.row).orderBy('id').limit(p.limit),
)

/** Rows with events about actions, of every session, from that of place `after` in the log on; the first may begin before it. */
export const inboxRowsAfter = (after: number, limit: number): Tx<EventRow[]> =>
  inboxRowsFrom.all({ row: Math.floor(after / EVENTS_PER_ROW), limit })

const lastRow = question<Record<string, never>, { id: number | null }>((db) =>
  db.selectFrom('event').select((eb) => eb.fn.max('id').as('id')),
)

/** The highest place in the log that may have been given out. */
export function* lastPlace(): Tx<number> {
  const row = yield* lastRow.first({})
  return Math.max((row?.id ?? 0) * EVENTS_PER_ROW + EVENTS_PER_ROW - 1, yield* archivedPlace())
}

const lastArchived = question<Record<string, never>, { last_event: number }>((db) =>
  db.selectFrom('archive_file').select('last_event').orderBy('number', 'desc').limit(lit(1)),
)

/** The highest place in the log of what was archived; -1 when nothing was. */
export function* archivedPlace(): Tx<number> {
  const file = yield* lastArchived.first({})
  return file ? file.last_event * EVENTS_PER_ROW + EVENTS_PER_ROW - 1 : -1
}

/** Drops the streamed pieces of a message that is now stored whole. */
export const dropDeltas = question<{ message_id: string }>((db, p) =>
  db.deleteFrom('event').where('delta_of', 'is not', null).where('delta_of', '=', p.message_id),
)
