import { assert, CountersignError, type Session } from '@countersign/core'
import {
  type Caller,
  type CallerContext,
  requireStanding,
  requireVisibleSession,
  type SessionWriter,
  viewSession,
  writeSession,
} from '../gate/index.ts'
import { currentSession, newId, type Outbox, type SessionRow, sessions, type Tx } from '../store/index.ts'

/** The session, for someone who may see it. @throws CountersignError `not_found`. */
export function* findVisibleSession(sessionId: string, caller: Caller): Tx<SessionRow> {
  return yield* requireVisibleSession(caller.principal, yield* currentSession(sessionId), `session ${sessionId}`)
}

/**
 * Opens a session for somebody who may see it.
 * @param soon Queries that follow: their answers come with the session.
 * @throws CountersignError `not_found`.
 */
export function* writeVisibleSession(
  { outbox, caller, now }: { outbox: Outbox; caller: Caller; now: number },
  id: string,
  soon: readonly Tx<unknown>[],
): Tx<SessionWriter> {
  const queries = caller.standingIn ? [...soon, caller.standingIn(now)] : soon
  const writer = yield* writeSession(outbox, id, now, {
    soon: queries,
    require: (session) => requireVisibleSession(caller.principal, session, `session ${id}`),
  })
  yield* requireStanding(caller, now)
  return writer
}

/**
 * Opens a session for somebody who was found to see it.
 * @throws CountersignError `not_found` for one that was deleted meanwhile, by a transaction that this one waited for; see also
 * `requireStanding`.
 */
export function* writeOpenSession({ outbox, caller, nowMs: now }: CallerContext, { id }: SessionRow): Tx<SessionWriter> {
  const soon = caller.standingIn ? [caller.standingIn(now)] : []
  const writer = yield* writeSession(outbox, id, now, { soon })
  yield* requireStanding(caller, now)
  if (writer.row.deleted_at === null) return writer
  throw new CountersignError('not_found', `there is no session ${id}`)
}

/** Says something to the people in the session; the model does not see it. @param runId The run whose end it explains. */
export function* addNote(writer: SessionWriter, content: string, now: number, runId: string | null = null): Tx<void> {
  yield* writer.message({ id: newId('msg', now), run_id: runId, role: 'system', kind: 'note', content, inHistory: false })
}

/** Returns a session as it is stored now, for an answer in the same transaction. */
export function* sessionNow(id: string, nowMs: number): Tx<Session> {
  const row = yield* sessions.findSession.first({ id })
  assert(row, 'the session is still there')
  return yield* viewSession(row, nowMs)
}
