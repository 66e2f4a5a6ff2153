import type { Session } from '@countersign/core'
import { type Caller, transactOnce } from '../gate/index.ts'
import type { AgentDeps } from './agent.ts'
import { requireHost } from './participants.ts'
import { findVisibleSession, sessionNow, writeOpenSession } from './session.ts'

/**
 * Gives a session another title. A condition of the policy can read it, so this is for those who say who writes in the session, and it is in
 * the record. The same title again changes nothing.
 * @throws CountersignError `not_found`; `forbidden` for who neither owns it nor is an admin.
 */
export function renameSession(deps: AgentDeps, sessionId: string, title: string, caller: Caller): Promise<Session> {
  return transactOnce(deps, caller, function* ({ outbox, nowMs: now }) {
    const session = yield* findVisibleSession(sessionId, caller)
    const { principal } = caller
    yield* requireHost(session, principal, 'rename this session')
    const writer = yield* writeOpenSession({ outbox, caller, nowMs: now }, session)
    if (writer.row.title !== title) {
      writer.row.title = title
      writer.event({ type: 'session_renamed', data: { title, by: { id: principal.id, name: principal.name } } })
      // Without the title: nobody could take it out of the record again.
      yield* writer.audit({ kind: 'session_renamed', actor: principal.id, data: { session: sessionId } })
      yield* writer.save()
    }
    return yield* sessionNow(sessionId, now)
  })
}
