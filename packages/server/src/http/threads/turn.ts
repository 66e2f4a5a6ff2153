import type { Action, EventDataOf, NewEvent } from '@countersign/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Caller, viewActions } from '../../gate/index.ts'
import { actions, type SessionRow, sessions, type Tx } from '../../store/index.ts'
import type { HttpDeps } from '../app.ts'
import { followLog } from '../follow.ts'
import { noteEvent, type SentEvent } from '../note-answers.ts'
import { endsSession, sessionLog } from '../session-log.ts'
import type { EventStream } from '../sse.ts'
import { streamWhileStanding } from '../stream-while-standing.ts'

/** For so long a parked turn waits for calls that nobody has to approve, so that their results are in it. */
const REST_MS = 2_000

/** Where a turn begins: a message of a person, and the run that answers it, once it is known. */
export interface TurnPlace {
  messageId: string
  seq: number
  /** When the message came, epoch ms. */
  createdAtMs: number
  runId: string | undefined
  /** True when that run had ended before the message, a command word: the run that follows answers it. */
  isPast: boolean
}

/** The error of a stream whose message was removed from the queue. */
export const NOT_ACTED_ON = 'This message is not acted on: its author or the owner of the session may not write in it any more.'

/** The run that ends a turn, as the messages of the session's log tell it. */
export interface TurnRun {
  readonly id: string | undefined
  /** Takes the next message of the log. Returns false when it says that nobody acts on the message of the turn. */
  take(message: EventDataOf<'message'>['message']): boolean
}

/** Follows which run ends a turn, from its message on. */
export function trackTurnRun(place: Pick<TurnPlace, 'messageId' | 'runId' | 'isPast'>): TurnRun {
  let { runId } = place
  let wasQueued = false
  return {
    get id() {
      return runId
    },
    take(message) {
      const isOwn = message.id === place.messageId
      // A queued message gets its run when the run before it has ended. One that leaves the queue without a run gets none.
      if (isOwn && wasQueued && !message.queued && message.runId === null) return false
      if (isOwn) wasQueued = message.queued === true
      if (isOwn || (place.isPast && runId === place.runId)) runId = message.runId ?? runId
      return true
    },
  }
}

/** Writes a turn in the format of a user interface. */
export interface TurnWriter {
  /** Takes the next event of the session, since the message of the turn. */
  take(event: SentEvent): void
  /** True while a call that nobody has to approve is being carried out. */
  readonly isBusy: boolean
  /** The turn is over, or people are waited for: `parked`. Nothing is taken after it. */
  end(how: { is: 'done' } | { is: 'parked' } | { is: 'failed'; error: string }): void
}

export interface FollowTurn {
  session: SessionRow
  place: TurnPlace
  caller: Caller
  /** Makes the writer on the opened stream. */
  open(stream: EventStream): TurnWriter
  /** True to stay open while people are waited for. Default: the stream ends then, because clients send no decision while it is open. */
  staysOpen?: boolean
}

/**
 * Streams one turn of a session: from the message that began it until its run has ended, or until people are waited for. A client that hangs
 * up stops nothing.
 */
export async function followTurn(
  { store, hub, clock, streams, logs, announcements }: Pick<HttpDeps, 'store' | 'hub' | 'clock' | 'streams' | 'logs' | 'announcements'>,
  request: FastifyRequest,
  reply: FastifyReply,
  { session, place, caller, open, staysOpen = false }: FollowTurn,
): Promise<void> {
  // Events until here are history: a wait among them may have ended. Read before the stream is open: no error is answered after that.
  const lastKnown = (await store.read(() => sessions.findSession.first({ id: session.id })))?.last_seq ?? 0
  const stream = await streamWhileStanding({ hub, clock, streams }, request, reply)
  const writer = open(stream)
  const run = trackTurnRun(place)
  let isParked = false
  let isOver = false
  let stopWaiting: (() => void) | undefined

  const end = (how: Parameters<TurnWriter['end']>[0]) => {
    if (isOver) return
    isOver = true
    stopWaiting?.()
    writer.end(how)
    stream.end()
  }
  const parkIfSo = () => {
    if (!isParked || staysOpen) return
    if (!writer.isBusy) return end({ is: 'parked' })
    stopWaiting ??= clock.after(REST_MS, () => end({ is: 'parked' }))
  }
  /** Looks like the stream that the log is followed into, and gives its events to the writer. */
  const translated: EventStream = {
    send({ type, id, data }) {
      if (isOver) return
      const event = { type, data } as SentEvent
      if (event.type === 'reset') return end({ is: 'failed', error: 'The beginning of this turn was archived.' })
      writer.take(event)
      if (event.type === 'message' && !run.take(event.data.message)) return end({ is: 'failed', error: NOT_ACTED_ON })
      if (event.type === 'session_status') isParked = event.data.status === 'waiting_approval'
      if (event.type === 'done' && event.data.runId === run.id) return end({ is: 'done' })
      if (event.type === 'error' && event.data.runId === run.id) return end({ is: 'failed', error: event.data.error })
      if (endsSession(event as NewEvent)) return end({ is: 'done' })
      if (id !== undefined && id >= lastKnown) parkIfSo()
    },
    get isFull() {
      return stream.isFull
    },
    room: () => stream.room(),
    get isClosed() {
      return stream.isClosed
    },
    onClose: (callback) => stream.onClose(callback),
    end: () => stream.end(),
  }
  stream.onClose(() => stopWaiting?.())
  followLog({
    log: sessionLog({ store: logs, hub, clock, sessionId: session.id, principal: caller.principal }),
    stream: translated,
    logger: request.log,
    after: place.seq - 1,
    onSent: (event) => noteEvent(announcements, caller.principal, event),
  })
}

/** The most actions of a session that a turn looks back at. */
const MOST_EARLIER = 200

/** The actions of a session from before a turn, which wait or which the client has: the oldest first. */
export function* earlierActions(
  session: SessionRow,
  { createdAtMs, nowMs }: TurnPlace & { nowMs: number },
  hasCall: (toolCallId: string) => boolean,
): Tx<Action[]> {
  const rows = yield* actions.listActions({ session: session.id, limit: MOST_EARLIER })
  const wanted = rows.filter((row) => row.created_at < createdAtMs && (row.state === 'proposed' || hasCall(row.tool_call_id ?? '')))
  return (yield* viewActions(wanted, nowMs)).reverse()
}
