import type { Action, EventDataOf, Message, NewEvent } from '@countersign/core'
import type { EventHub } from '../dispatch/index.ts'
import { viewActions, viewMessageWithActions, viewSession } from '../gate/index.ts'
import { actions, events, messages, type Store, type StoredEvent, sessions, type Tx } from '../store/index.ts'
import type { EventStream } from './sse.ts'

const PAGE = 500
/** A snapshot carries the newest messages; older ones are a list away. */
const SNAPSHOT_MESSAGES = 200

export interface FollowOptions {
  store: Store
  hub: EventHub
  stream: EventStream
  sessionId: string
  /** Send what comes after this number. A number that the log never gave out answers `reset` first. */
  after: number
  /** Sees every event after it was sent; answers true to end the stream. */
  isLast?(event: NewEvent): boolean
}

/**
 * Sends a session's events from `after` on, then as they are committed: no gap, no repeat. Live events that arrive while the log is
 * being read wait until it was.
 */
export async function followSession({ store, hub, stream, sessionId, after, isLast }: FollowOptions): Promise<void> {
  let lastSeq = after
  let early: StoredEvent[] | undefined = []

  const sendLive = ({ seq, event }: StoredEvent) => {
    if (seq === null || seq <= lastSeq || stream.isClosed) return
    lastSeq = seq
    stream.send({ type: event.type, id: seq, data: event.data })
    if (isLast?.(event)) stream.end()
  }
  stream.onClose(hub.onSession(sessionId, (stored) => (early ? early.push(stored) : sendLive(stored))))

  const snapshot = await store.read(function* () {
    const session = yield* sessions.findSession.first({ id: sessionId })
    return session && (after > session.last_seq || after < 0) ? yield* takeSnapshot(sessionId, 'the log does not hold this id') : undefined
  })
  if (snapshot) {
    lastSeq = snapshot.session.lastSeq
    stream.send({ type: 'reset', id: lastSeq, data: snapshot })
  } else {
    await sendStored(store, sessionId, () => lastSeq, stream, sendLive)
  }
  const waited = early
  early = undefined
  for (const stored of waited) sendLive(stored)
}

async function sendStored(
  store: Store,
  sessionId: string,
  lastSeq: () => number,
  stream: EventStream,
  send: (stored: StoredEvent) => void,
): Promise<void> {
  for (;;) {
    const rows = await store.read(() => events.sessionRowsAfter.all({ session_id: sessionId, after: lastSeq(), limit: PAGE }))
    for (const stored of rows.flatMap(events.readEvents)) send(stored)
    if (rows.length < PAGE || stream.isClosed) return
  }
}

function* takeSnapshot(sessionId: string, reason: string): Tx<EventDataOf<'reset'> | undefined> {
  const row = yield* sessions.findSession.first({ id: sessionId })
  if (!row) return undefined
  const newest = yield* messages.listMessages.all({ session_id: sessionId, before: Number.MAX_SAFE_INTEGER, limit: SNAPSHOT_MESSAGES })
  const views: Message[] = []
  for (const message of newest.reverse()) views.push(yield* viewMessageWithActions(message))
  const found: Action[] = yield* viewActions(
    yield* actions.listActions({
      session: sessionId,
      limit: SNAPSHOT_MESSAGES,
    }),
  )
  return { reason, session: yield* viewSession(row), messages: views, actions: found.reverse() }
}
