import type { NewEvent } from '@countersign/core'
import { events, type Outbox, type Tx } from '../store/index.ts'

const INBOX = new Set<NewEvent['type']>(['action_proposed', 'action_update'])

/** Stores one event and puts it into the outbox. */
export function* storeEvent(
  outbox: Outbox,
  event: NewEvent,
  place: { sessionId: string; seq: number } | null,
  subjectId: string | null,
  nowMs: number,
): Tx<void> {
  const row = {
    session_id: place?.sessionId ?? null,
    seq: place?.seq ?? null,
    type: event.type,
    subject_id: subjectId,
    data: JSON.stringify(event.data),
    created_at: nowMs,
  }
  let id: number | null = null
  if (INBOX.has(event.type)) id = (yield* events.insertInboxEvent.first(row))?.id ?? null
  else yield* events.insertEvent.run(row)
  outbox.events.push({ id, sessionId: row.session_id, seq: row.seq, event })
}
