import { EVENT_SUBJECTS, type EventDataOf, type NewEvent, type StoredEventType } from '@countersign/core'
import { sql } from 'kysely'
import { lit, question, type Tx, takePlaces } from '../query.ts'
import type { StoredEvent } from '../store.ts'
import { shortText, wholeText } from './event-text.ts'
import { insertNoted } from './insert.ts'
import type { EventRow } from './session-rows.ts'

/** The event types that the inbox receives: those about an action. */
export const INBOX_TYPES: ReadonlySet<string> = new Set(
  Object.entries(EVENT_SUBJECTS).flatMap(([type, subject]) => (subject === 'action' ? [type] : [])),
)

const insertRow = insertNoted('event', {
  id: true,
  session_id: true,
  last_seq: true,
  delta_of: true,
  inbox: true,
  events: true,
  created_at: true,
})

export interface EventBatch {
  sessionId: string | null
  events: readonly { seq: number | null; event: NewEvent }[]
  /** The message that these events are pieces of. */
  deltaOf?: string | undefined
  nowMs: number
}

/** Stores the events of one transaction in one session, and returns them with their places in the log. */
export function* insertEvents({ sessionId, events, deltaOf, nowMs }: EventBatch): Tx<StoredEvent[]> {
  const id = yield* takePlaces(events.length)
  const place = { session_id: sessionId, created_at: nowMs }
  yield* insertRow.run({
    ...place,
    id,
    last_seq: events.at(-1)?.seq ?? null,
    delta_of: deltaOf ?? null,
    inbox: events.some(({ event }) => INBOX_TYPES.has(event.type)) ? 1 : 0,
    events: shortText(JSON.stringify(events.map(({ seq, event }) => [seq, event.type, event.data])), place),
  })
  const before = id - events.length
  return events.map(({ seq, event }, i) => ({ id: before + 1 + i, sessionId, seq, event }))
}

/** The row of the log that ends with this event. */
export const rowOf = (last: StoredEvent | undefined): number | undefined => last?.id

/** A row of the log, while it is there. */
export const findRow = question<{ id: number }, { id: number }>((db, p) => db.selectFrom('event').select('id').where('id', '=', p.id))

/** Returns the events of a row of the log as JSON: a list of `[number in the session, type, data]`. */
export const eventsJson = (row: Pick<EventRow, 'session_id' | 'created_at' | 'events'>): string => wholeText(row.events, row)

/** Returns the events of a row of the log. */
export function readEvents(row: EventRow): StoredEvent[] {
  const events: [number | null, NewEvent['type'], NewEvent['data']][] = JSON.parse(eventsJson(row))
  const before = row.id - events.length
  return events.map(([seq, type, data], i) => ({
    id: before + 1 + i,
    sessionId: row.session_id,
    seq,
    event: { type, data } as NewEvent,
  }))
}

const findWholeRow = question<{ id: number }, EventRow>((db, p) => db.selectFrom('event').selectAll().where('id', '=', p.id))

/** Returns true when the log holds this event, the last of its row, and no other one at its place. */
export function* isInLog({ id, event }: StoredEvent): Tx<boolean> {
  const row = yield* findWholeRow.first({ id })
  const found = row && readEvents(row).at(-1)
  return found !== undefined && found.event.type === event.type && JSON.stringify(found.event.data) === JSON.stringify(event.data)
}

const noAction = (): undefined => undefined
const namedAction = ({ actionId }: { actionId?: string | undefined }): string | undefined => actionId

const ACTION_ID: { readonly [T in StoredEventType]: (data: EventDataOf<T>) => string | undefined } = {
  session_status: noAction,
  participants: noAction,
  message: noAction,
  session_renamed: noAction,
  session_deleted: noAction,
  delta: noAction,
  reasoning_delta: noAction,
  tool_call_start: namedAction,
  action_proposed: ({ proposal }) => proposal.id,
  action_update: ({ proposalId }) => proposalId,
  approval_overdue: namedAction,
  tool_call_result: namedAction,
  done: noAction,
  error: noAction,
}

/** Returns the id of the action that an event names, if any. */
export const actionOf = <T extends StoredEventType>({ type, data }: { type: T; data: EventDataOf<T> }): string | undefined =>
  ACTION_ID[type](data)

export const isForInbox = ({ event }: StoredEvent): boolean => INBOX_TYPES.has(event.type)

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

/**
 * Rows with events about actions, of every session, after place `after` in the log, in order; the first may begin before it. Where several
 * transactions write at once, only up to the first place that one of them may still fill, so that no row ever appears behind a reader. When
 * a transaction of another database has just ended, that place may briefly appear lower than before; `known` is certainly final.
 */
export const inboxRowsAfter = question<{ after: number; limit: number; known: number }, EventRow>((db, p, { firstOpenPlace }) => {
  const query = db.selectFrom('event').selectAll().where('inbox', '=', lit(1)).where('id', '>', p.after).orderBy('id').limit(p.limit)
  return firstOpenPlace ? query.where('id', '<', sql<number>`greatest(${firstOpenPlace}, ${p.known}::bigint + 1)`) : query
})

/** The same with the rows above that place, which are not final: others may still appear before them. */
export const newInboxRows = question<{ after: number; limit: number }, EventRow & { is_final: boolean }>((db, p, { firstOpenPlace }) =>
  db
    .selectFrom('event')
    .selectAll()
    .select(sql<boolean>`id < ${firstOpenPlace ?? lit(Number.MAX_SAFE_INTEGER)}`.as('is_final'))
    .where('inbox', '=', lit(1))
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(p.limit),
)

const findLastPlace = question<Record<string, never>, { place: number | null }>((db, _, { firstOpenPlace }) => {
  const query = db.selectFrom('event').select((eb) => eb.fn.max('id').as('place'))
  return firstOpenPlace ? query.where('id', '<', firstOpenPlace) : query
})

const findNewestPlace = question<Record<string, never>, { place: number | null }>((db) =>
  db.selectFrom('event').select((eb) => eb.fn.max('id').as('place')),
)

/** Returns true when the log may have issued this place: it ends there or after it. */
export function* isWithinLog(place: number): Tx<boolean> {
  return place <= Math.max((yield* findNewestPlace.first({}))?.place ?? 0, yield* archivedPlace())
}

/** Returns the highest place in the log from which a reader can continue. */
export function* lastPlace(): Tx<number> {
  const row = yield* findLastPlace.first({})
  return Math.max(row?.place ?? 0, yield* archivedPlace())
}

const lastArchived = question<Record<string, never>, { last_event: number | null }>((db) =>
  db.selectFrom('archive_file').select('last_event').where('last_event', 'is not', null).orderBy('number', 'desc').limit(lit(1)),
)

/** Returns the highest archived place in the log; -1 when nothing was archived. */
export function* archivedPlace(): Tx<number> {
  return (yield* lastArchived.first({}))?.last_event ?? -1
}

/** The streamed pieces of a message that is not completely stored, in order. */
export const deltaRows = question<{ message_id: string }, EventRow>((db, p) =>
  db
    .selectFrom('event')
    .selectAll()
    .where('delta_of', 'is not', null)
    .where('delta_of', '=', p.message_id)
    .orderBy('id')
    .limit(lit(100_000)),
)

/** Deletes the streamed pieces of a message that is now completely stored. */
export const dropDeltas = question<{ message_id: string }>(
  (db, p) => db.deleteFrom('event').where('delta_of', 'is not', null).where('delta_of', '=', p.message_id),
  { isNoted: true },
)
