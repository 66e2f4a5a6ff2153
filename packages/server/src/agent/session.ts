import { type Caller, requireVisibleSession, type SessionWriter } from '../gate/index.ts'
import { newId, type SessionRow, sessions, type Tx } from '../store/index.ts'

/** The session, for someone who may see it. @throws CountersignError `not_found`. */
export function* findVisibleSession(sessionId: string, caller: Caller): Tx<SessionRow> {
  return yield* requireVisibleSession(caller.principal, yield* sessions.findSession.first({ id: sessionId }), `session ${sessionId}`)
}

/** Says something to the people in the session; the model does not see it. @param runId The run whose end it explains. */
export function* addNote(writer: SessionWriter, content: string, now: number, runId: string | null = null): Tx<void> {
  yield* writer.message({ id: newId('msg', now), run_id: runId, role: 'system', kind: 'note', content, inHistory: false })
}
