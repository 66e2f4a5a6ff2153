import { CountersignError, type Principal, type Session } from '@countersign/core'
import { type Caller, isAdmin, requireScope, type SessionWriter, transactOnce } from '../gate/index.ts'
import { participants, principals, type SessionRow, type Tx, tellAccess } from '../store/index.ts'
import type { AgentDeps } from './agent.ts'
import { requireEnabledOwner } from './disabled.ts'
import { findVisibleSession, sessionNow, writeOpenSession } from './session.ts'
import { dropOfFormerWriters, isParticipant, ownsSession } from './who-writes.ts'

/**
 * Refuses anybody who may only read a session: a message makes the agent act on behalf of the owner. An admin needs an invitation too,
 * because the record then says who let them.
 * @throws CountersignError `forbidden`
 */
export function* requireParticipant(session: SessionRow, principal: Principal): Tx<void> {
  yield* requireEnabledOwner(session)
  if (yield* isParticipant(session, principal)) return
  throw new CountersignError('forbidden', `${principal.name} may read this session, not write in it: its owner or an admin can invite them`)
}

/**
 * Its owner and admins say who else writes in a session, what it is called, and when it ends.
 * @throws CountersignError `forbidden` for everybody else, and for an admin's key that does not manage.
 */
export function* requireHost(session: SessionRow, principal: Principal, what: string): Tx<void> {
  requireScope(principal, ['propose'], what)
  if (yield* ownsSession(session, principal)) return
  if (isAdmin(principal)) return requireScope(principal, ['manage'], what)
  throw new CountersignError('forbidden', `${principal.name} may not ${what}: only its owner and admins may`)
}

/**
 * Lets a person write in a session from now on. Harmless when they were invited already.
 * @throws CountersignError `not_found`; `forbidden` for who neither owns it nor is an admin; `invalid_arguments`, with
 * the same words, when there is no such person and when they are disabled.
 */
export function inviteTo(deps: AgentDeps, sessionId: string, personId: string, caller: Caller): Promise<Session> {
  return transactOnce(deps, caller, function* ({ outbox, nowMs: now }) {
    const session = yield* findVisibleSession(sessionId, caller)
    yield* requireHost(session, caller.principal, 'invite anybody to this session')
    const person = yield* principals.findPrincipal.first({ id: personId })
    if (person?.kind !== 'person' || person.disabled_at !== null)
      throw new CountersignError('invalid_arguments', `there is no person ${personId} to invite`)
    const writer = yield* writeOpenSession({ outbox, caller, nowMs: now }, session)
    const invited = { session_id: session.id, principal_id: personId, invited_by: caller.principal.id, created_at: now }
    if (personId !== session.owner_id && (yield* participants.insertParticipant.change(invited))) {
      yield* writer.audit({ kind: 'invited', actor: caller.principal.id, data: { session: session.id, person: personId } })
      yield* sayWhoWrites(writer)
      yield* writer.save()
      tellAccess(outbox, personId)
    }
    return yield* sessionNow(session.id, now)
  })
}

/**
 * Ends an invitation. The owner, admins and the invited person may do it. The person's messages stay, and they stay a requester of the
 * actions that followed; what waits for its turn is not acted on. Ending it again changes nothing.
 * @throws CountersignError `not_found`, `forbidden`.
 */
export function uninviteFrom(deps: AgentDeps, sessionId: string, personId: string, caller: Caller): Promise<Session> {
  return transactOnce(deps, caller, function* ({ outbox, nowMs: now }) {
    const session = yield* findVisibleSession(sessionId, caller)
    if (personId !== caller.principal.id) yield* requireHost(session, caller.principal, 'end invitations to this session')
    else requireScope(caller.principal, ['propose'], 'end invitations')
    const writer = yield* writeOpenSession({ outbox, caller, nowMs: now }, session)
    if (yield* participants.deleteParticipant.change({ session_id: session.id, principal_id: personId })) {
      yield* writer.audit({ kind: 'uninvited', actor: caller.principal.id, data: { session: session.id, person: personId } })
      yield* dropOfFormerWriters(writer, now)
      yield* sayWhoWrites(writer)
      yield* writer.save()
      tellAccess(outbox, personId)
    }
    return yield* sessionNow(session.id, now)
  })
}

/** Tells everybody who has the session open who may write in it now. */
function* sayWhoWrites(writer: SessionWriter): Tx<void> {
  const people = yield* participants.participantsOf.all({ session_id: writer.row.id })
  writer.event({ type: 'participants', data: { participants: people.map(({ id, name }) => ({ id, name })) } })
}
