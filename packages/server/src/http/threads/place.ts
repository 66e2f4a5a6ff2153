import { CountersignError } from '@countersign/core'
import { type MessageRow, messages, type SessionRow, sessions, type Tx } from '../../store/index.ts'
import type { TurnPlace } from './turn.ts'

/** How far back the beginning of what was said meanwhile is looked for. */
const MOST_MESSAGES = 200

/** The place of the last message of a person. Undefined without one, or where its events were archived. */
export function* lastPlace(session: SessionRow): Tx<TurnPlace | undefined> {
  const last = yield* messages.lastByPerson.first({ session_id: session.id })
  return last && (yield* placeOfMessage(session, last))
}

/** @throws CountersignError `bad_request` where nothing was said, or its events were archived. */
export function* requireLastPlace(session: SessionRow): Tx<TurnPlace> {
  const last = yield* lastPlace(session)
  if (!last) throw new CountersignError('bad_request', 'nothing was said in this thread: send a message')
  return last
}

/** Undefined where the events of the message were archived. */
export function* placeOfMessage(session: SessionRow, message: MessageRow): Tx<TurnPlace | undefined> {
  return message.seq <= session.archived_seq ? undefined : yield* placeOf(session, message.id, message.run_id ?? undefined)
}

/** @throws CountersignError `gone` for a message whose events were archived. */
export function* placeOf(session: SessionRow, messageId: string, runId: string | undefined): Tx<TurnPlace> {
  const message = yield* messages.findMessage.first({ session_id: session.id, id: messageId })
  if (!message || message.seq <= session.archived_seq)
    throw new CountersignError('gone', `the events of session ${session.id} were archived`)
  return { messageId, seq: message.seq, createdAtMs: message.created_at, ...(yield* runOf(message, runId)) }
}

/** Returns the run that answers a message: its own, or the current one when the message was a command word. */
export function* runOf(message: MessageRow, own = message.run_id ?? undefined): Tx<Pick<TurnPlace, 'runId' | 'isPast'>> {
  if (own !== undefined || message.queued) return { runId: own, isPast: false }
  const newest = yield* sessions.newestRun.first({ session_id: message.session_id })
  // A word can come later, about an action that went back for approval. In the same millisecond either may be first; then the run tells its end.
  const isPast = newest !== undefined && newest.state !== 'open' && newest.updated_at <= message.created_at
  return { runId: newest?.id, isPast }
}

/**
 * The same turn, from when its message came. A message that waited moves behind what was said meanwhile, and a page that was open shows that
 * in the answer to it.
 */
export function* fromArrival(session: SessionRow, place: TurnPlace): Tx<TurnPlace> {
  const before = yield* messages.listMessages.all({ session_id: session.id, before: place.seq, limit: MOST_MESSAGES })
  const first = before.findLast(({ seq, created_at }) => created_at > place.createdAtMs && seq > session.archived_seq)
  return first ? { ...place, seq: first.seq } : place
}
