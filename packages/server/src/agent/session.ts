import { assert } from '@countersign/core'
import { type Caller, requireVisible, type SessionWriter } from '../gate/index.ts'
import { newId, type SessionRow, sessions, type Tx } from '../store/index.ts'

/** The session, for someone who may see it. @throws CountersignError `not_found`. */
export function* findVisibleSession(sessionId: string, caller: Caller): Tx<SessionRow> {
  const row = yield* sessions.findSession.first({ id: sessionId })
  requireVisible(caller.principal, row?.owner_id, `session ${sessionId}`)
  assert(row, 'a visible session exists')
  return row
}

/** Says something to the people in the session; the model does not see it. */
export function* addNote(writer: SessionWriter, content: string, now: number): Tx<void> {
  yield* writer.message({ id: newId('msg', now), role: 'system', kind: 'note', content, inHistory: false })
}
