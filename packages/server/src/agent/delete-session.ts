import { CountersignError } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type Caller, type SessionWriter, stopSession, transactOnce } from '../gate/index.ts'
import { archive, grants, type Outbox, seen, sessionDeletion, type Tx } from '../store/index.ts'
import type { AgentDeps } from './agent.ts'
import { requireHost } from './participants.ts'
import { findVisibleSession, writeOpenSession } from './session.ts'

/**
 * Deletes what was said in a session: messages, requests, invitations and events. Its run is stopped, and what has not started is cancelled.
 * Its actions are closed for good; they and their part of the record stay.
 * @throws CountersignError `not_found`; `forbidden` for a caller who neither owns it nor is an admin; `illegal_transition` while an action of it
 * is carried out, or has an unknown outcome.
 */
export async function deleteSession(deps: AgentDeps, sessionId: string, caller: Caller): Promise<void> {
  checkpoint('session.before_delete')
  await transactOnce(deps, caller, function* ({ outbox, nowMs: now }) {
    const session = yield* findVisibleSession(sessionId, caller)
    yield* requireHost(session, caller.principal, 'delete this session')
    const writer = yield* writeOpenSession({ outbox, caller, nowMs: now }, session)
    yield* requireSettled(sessionId)
    const last = writer.row.last_seq
    yield* endWork(outbox, writer, caller, now)
    yield* sessionDeletion.deleteSession({ id: sessionId, last, now })
    checkpoint('session.deleting')
    yield* archive.archiveActionsOf.run({ session_id: sessionId, now })
    yield* seen.forgetSeenIn.run({ session_id: sessionId })
    yield* sayDeleted(writer, caller)
  })
  checkpoint('session.after_delete')
}

/** Refuses while an action executes or has an unknown outcome: nobody could settle it in the session afterwards. */
function* requireSettled(sessionId: string): Tx<void> {
  const action = yield* sessionDeletion.unsettledAction.first({ session_id: sessionId })
  if (!action) return
  const { id, state, description } = action
  const why =
    state === 'executing'
      ? `"${description}" (${id}) is being carried out: wait until it has ended`
      : `nobody knows whether "${description}" (${id}) was carried out: resolve it`
  throw new CountersignError('illegal_transition', `${why}, then delete the session`, { actionId: id })
}

/** Cancels what has not started, ends the run in whichever process, and ends what the session was allowed. */
function* endWork(outbox: Outbox, writer: SessionWriter, caller: Caller, now: number): Tx<void> {
  const { id } = writer.row
  const { run } = writer.state
  const reason = `${caller.principal.name} deleted the session`
  yield* stopSession({ outbox, session: writer, nowMs: now, caller }, run?.id ?? '', { reason, by: caller })
  const actor = caller.principal.id
  for (const grant of yield* sessionDeletion.grantsToEnd.all({ session_id: id })) {
    yield* grants.revokeGrant.change({ id: grant.id, revoked_by: actor, now })
    yield* writer.audit({ kind: 'grant_revoked', actor, data: { grant: grant.id, tool: grant.tool } })
  }
}

/** Written last, so that it is the last event of the session. */
function* sayDeleted(writer: SessionWriter, { principal, signIn }: Caller): Tx<void> {
  const { id, name } = principal
  writer.event({ type: 'session_deleted', data: { by: { id, name } } })
  yield* writer.audit({ kind: 'session_deleted', actor: id, data: { session: writer.row.id, ...(signIn !== undefined && { signIn }) } })
  writer.row.title = ''
  writer.row.status = 'completed'
  yield* writer.save()
}
