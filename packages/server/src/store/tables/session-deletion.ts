import { sql } from 'kysely'
import { lit, question, type Tx } from '../query.ts'
import type { ActionRow, GrantRow } from './action-rows.ts'
import { shortText } from './event-text.ts'
import { eventsJson, INBOX_TYPES } from './events.ts'
import type { EventRow } from './session-rows.ts'

/** True for an action of a session that is in progress, or has an unknown outcome. */
export const unsettledAction = question<{ session_id: string }, Pick<ActionRow, 'id' | 'state' | 'description'>>((db, p) =>
  db
    .selectFrom('action')
    .select(['id', 'state', 'description'])
    .where('session_id', '=', p.session_id)
    .where(sql<boolean>`state in ('executing', 'outcome_unknown')`)
    .orderBy('id')
    .limit(lit(1)),
)

/** Every grant for the session that could still be used. */
export const grantsToEnd = question<{ session_id: string }, Pick<GrantRow, 'id' | 'tool'>>((db, p) =>
  db
    .selectFrom('action_grant')
    .select(['id', 'tool'])
    .where('revoked_at', 'is', null)
    .where('session_id', '=', p.session_id)
    .orderBy('id')
    .limit(lit(100_000)),
)

const deleteMessages = question<{ session_id: string }>((db, p) => db.deleteFrom('message').where('session_id', '=', p.session_id))

const deleteRequests = question<{ session_id: string }>((db, p) => db.deleteFrom('agent_request').where('session_id', '=', p.session_id))

const deleteParticipants = question<{ session_id: string }>((db, p) =>
  db.deleteFrom('session_participant').where('session_id', '=', p.session_id),
)

const deleteThreads = question<{ session_id: string }>((db, p) => db.deleteFrom('session_thread').where('session_id', '=', p.session_id))

const deleteEvents = question<{ session_id: string; last: number }>((db, p) =>
  db.deleteFrom('event').where('session_id', '=', p.session_id).where('last_seq', '<=', p.last).where('inbox', '=', lit(0)),
)

const INBOX_PAGE = 100

const inboxRows = question<{ session_id: string; after: number; last: number }, EventRow>((db, p) =>
  db
    .selectFrom('event')
    .selectAll()
    .where('session_id', '=', p.session_id)
    .where('last_seq', '>', p.after)
    .where('last_seq', '<=', p.last)
    .where('inbox', '=', lit(1))
    .orderBy('last_seq')
    .limit(lit(INBOX_PAGE)),
)

const updateEvents = question<{ id: number; events: string }>((db, p) =>
  db.updateTable('event').set({ events: p.events }).where('id', '=', p.id),
)

const markDeleted = question<{ id: string; now: number }>((db, p) =>
  db
    .updateTable('session')
    .set({ deleted_at: p.now, title: lit('') })
    .where('id', '=', p.id),
)

/**
 * Deletes the content of a session: messages, requests, invitations, the ids that other user interfaces gave it, and its events up to
 * number `last`. The inbox events of its actions stay, for readers who are behind; a redaction of an action blanks them.
 */
export function* deleteSession({ id, last, now }: { id: string; last: number; now: number }): Tx<void> {
  yield* deleteMessages.run({ session_id: id })
  yield* deleteRequests.run({ session_id: id })
  yield* deleteParticipants.run({ session_id: id })
  yield* deleteThreads.run({ session_id: id })
  yield* deleteEvents.run({ session_id: id, last })
  for (let after = -1, isMore = true; isMore; ) {
    const rows: EventRow[] = yield* inboxRows.all({ session_id: id, after, last })
    for (const row of rows) yield* updateEvents.run({ id: row.id, events: shortText(forInboxOnly(eventsJson(row)), row) })
    after = rows.at(-1)?.last_seq ?? last
    isMore = rows.length === INBOX_PAGE
  }
  yield* markDeleted.run({ id, now })
}

/** Each event keeps its place in the row, because its place in the log is counted from the end of the row. */
function forInboxOnly(text: string): string {
  const events: [number, string, unknown][] = JSON.parse(text)
  return JSON.stringify(events.map(([seq, type, data]) => [seq, type, INBOX_TYPES.has(type) ? data : {}]))
}
