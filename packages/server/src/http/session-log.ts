import { type Action, assert, eventTypes, type NewEvent, type Principal } from '@countersign/core'
import type { Clock } from '../clock.ts'
import type { EventHub, EventListener } from '../dispatch/index.ts'
import { readerOf, viewActions, viewMessageWithActions, viewSession } from '../gate/index.ts'
import { actions, events, mapInTurn, messages, type SessionRow, type StoredEvent, sessions, type Tx, visibility } from '../store/index.ts'
import { type FollowedLog, type LogPage, pageOf } from './follow.ts'
import type { LogReader } from './log-reader.ts'

const frames = new WeakMap<StoredEvent, Buffer>()
/** The id of no principal: a reader with this id sees a session only because of the roles. */
const NOBODY = ''
/** A snapshot carries the newest messages; the list of messages has older ones. */
const SNAPSHOT_MESSAGES = 200

export interface SessionLogOptions {
  store: LogReader
  hub: EventHub
  clock: Pick<Clock, 'nowMs'>
  sessionId: string
  /** The principal whose rights apply. */
  principal: Principal
}

/** An action that requires further people gives them access to its session; the end of an invitation takes it away. */
const MAY_CHANGE_READERS = eventTypes({
  session_status: false,
  participants: true,
  message: false,
  session_renamed: false,
  session_deleted: false,
  delta: false,
  reasoning_delta: false,
  tool_call_start: false,
  action_proposed: true,
  action_update: true,
  approval_overdue: false,
  tool_call_result: false,
  done: false,
  error: false,
})

/**
 * Returns the log of one session; places are the numbers of its events. Its readers share the pages, and with them the encoded events: a
 * conversation is visible as a whole or not at all. Whether a reader may have a page is checked after the page was read, so rights that
 * have ended since do not count.
 */
export const sessionLog = (options: SessionLogOptions): FollowedLog => new SessionLog(options)

/** A class, because a closure for each function would cost each open stream more memory than its state. */
class SessionLog implements FollowedLog {
  readonly frames = frames
  readonly #store: LogReader
  readonly #hub: EventHub
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #sessionId: string
  readonly #reader: visibility.Reader | undefined
  /** True while the roles alone may show the session to this reader. The answer is the same for everybody with these roles. */
  #mayBeByRole: boolean

  constructor({ store, hub, clock, sessionId, principal }: SessionLogOptions) {
    this.#store = store
    this.#hub = hub
    this.#clock = clock
    this.#sessionId = sessionId
    this.#reader = readerOf(principal)
    this.#mayBeByRole = this.#reader !== undefined && this.#reader.roles.length > 0
  }

  subscribe(listener: EventListener): Promise<() => void> {
    return this.#hub.onSession(this.#sessionId, listener)
  }

  async read(after: number, limit: number, isFirst: boolean): Promise<LogPage> {
    const sessionId = this.#sessionId
    const page = await this.#store.read(
      () => readFor({ sessionId, after, limit, isFirst, nowMs: this.#clock.nowMs() }),
      `session ${sessionId} ${after} ${limit} ${isFirst}`,
    )
    const reader = this.#reader
    if (!reader) return page
    if (this.#mayBeByRole && !(await this.#refusalOf({ id: NOBODY, personId: null, roles: reader.roles }))) return page
    this.#mayBeByRole = false
    return (await this.#refusalOf(reader)) ?? page
  }

  #refusalOf(who: visibility.Reader): Promise<LogPage | undefined> {
    const sessionId = this.#sessionId
    return this.#store.read(() => findRefusal(who, sessionId), `access to ${sessionId} of ${who.id} ${JSON.stringify(who.roles)}`)
  }

  placeOf({ seq }: StoredEvent): number | null {
    return seq
  }

  isHandedOver({ type }: NewEvent): boolean {
    return this.#reader === undefined || !MAY_CHANGE_READERS.has(type)
  }

  isVisible(): boolean {
    return true
  }
}

interface Place {
  sessionId: string
  after: number
  limit: number
  isFirst: boolean
  nowMs: number
}

/** Returns true for the final event of a session. */
export const endsSession = ({ type }: NewEvent): boolean => type === 'session_deleted'

function* readFor(place: Place): Tx<LogPage> {
  const session = yield* sessions.findSession.first({ id: place.sessionId })
  assert(session, 'a session that is followed is there')
  return session.deleted_at === null ? yield* readPage(session, place) : yield* readEnd(session)
}

/** Returns what a reader gets instead of a page: nothing more, or the end of a deleted session. Undefined for a reader who sees the session. */
function* findRefusal(reader: visibility.Reader, sessionId: string): Tx<LogPage | undefined> {
  const session = yield* sessions.findSession.first({ id: sessionId })
  assert(session, 'a session that is followed is there')
  // Checked before access: deletion removes invitations, and invited readers should learn of the end like all others.
  if (session.deleted_at !== null) return yield* readEnd(session)
  return (yield* visibility.seesSessionOf(reader, sessionId)) ? undefined : { isOver: true }
}

/** Returns what is left of a deleted session's log for its followers: its last event. */
function* readEnd({ id, last_seq }: SessionRow): Tx<LogPage> {
  const rows = yield* events.sessionRowsAfter.all({ session_id: id, after: last_seq - 1, limit: 1 })
  const end = rows.flatMap(events.readEvents).filter(({ event }) => endsSession(event))
  return end.length === 0 ? { isOver: true } : { events: end, isLast: true, bytesPerRow: 1 }
}

function* readPage(session: SessionRow, { sessionId, after, limit, isFirst, nowMs }: Place): Tx<LogPage> {
  // Checked for every page: the log may be archived during the read.
  if (after < session.archived_seq) return yield* takeSnapshot(session, 'what comes after this id was archived', nowMs)
  if (isFirst && after > session.last_seq) return yield* takeSnapshot(session, 'the log does not hold this id', nowMs)
  const rows = yield* events.sessionRowsAfter.all({ session_id: sessionId, after, limit })
  return pageOf(rows, limit)
}

function* takeSnapshot(row: SessionRow, reason: string, nowMs: number): Tx<LogPage> {
  const newest = yield* messages.listMessages.all({ session_id: row.id, before: Number.MAX_SAFE_INTEGER, limit: SNAPSHOT_MESSAGES })
  const views = yield* mapInTurn(newest.reverse(), (message) => viewMessageWithActions(message, nowMs))
  const found: Action[] = yield* viewActions(yield* actions.listActions({ session: row.id, limit: SNAPSHOT_MESSAGES }), nowMs)
  const session = yield* viewSession(row, nowMs)
  return { reset: { reason, session, messages: views, actions: found.reverse() }, place: row.last_seq }
}
