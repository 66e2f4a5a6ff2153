import { CountersignError, type Grant, type GrantBody, type Principal } from '@countersign/core'
import { recordAudit } from '../../audit/index.ts'
import { actions, changeRights, type GrantRow, grants, type Tx } from '../../store/index.ts'
import { type Caller, requireScope, requireStanding, requireUnarchived } from '../caller.ts'
import { openSession } from '../context.ts'
import { changedSinceShown, names } from '../decide/decide.ts'
import type { GateDeps } from '../gate.ts'
import { viewAction } from '../read/view.ts'
import { findVisibleAction } from '../read/visible.ts'
import { transactOnce } from '../transact-once.ts'
import { makeGrant, viewGrant } from './grants.ts'

/**
 * Makes a grant from an action that its maker may decide about alone. It is for the tool, the arguments and the credential of the revision
 * that is named, so that nobody allows what they have not seen.
 * @throws CountersignError `not_found`, `forbidden`, `illegal_transition`, `bad_request`; `revision_mismatch` when the action is another one.
 */
export async function createGrant({ store, clock, tools }: GateDeps, body: GrantBody, caller: Caller): Promise<Grant> {
  const { actionId, revision, digest, ...terms } = body
  return transactOnce({ store, clock }, caller, function* ({ outbox, nowMs }) {
    const visible = yield* findVisibleAction(caller.principal, actionId, nowMs)
    const context = yield* openSession({ outbox, nowMs, caller }, visible)
    // Read again: somebody who held the session before may have redacted it, whose arguments a grant must not keep.
    const row = (yield* actions.findAction.first({ id: actionId })) ?? visible
    requireUnarchived(row)
    if (!names({ revision, digest }, row)) throw changedSinceShown(yield* viewAction(row, { nowMs }))
    const grant = yield* makeGrant({ tools }, context, row, terms)
    if (context.session) yield* context.session.save()
    return yield* viewGrant(grant, nowMs)
  })
}

const READERS = ['admin', 'approver', 'viewer']

/** True for a principal that sees the grants of others. An agent or a service never does. */
export const seesEveryGrant = ({ kind, roles }: Principal): boolean => kind === 'person' && roles.some((role) => READERS.includes(role))

/** Returns the grant if the principal made it or sees every grant. @throws CountersignError `not_found`. */
export function* findVisibleGrant(grantId: string, { principal }: Caller): Tx<GrantRow> {
  const row = yield* grants.findGrant.first({ id: grantId })
  if (!row || !(seesEveryGrant(principal) || row.made_by === principal.id))
    throw new CountersignError('not_found', `there is no grant ${grantId}`)
  return row
}

/** Its maker, approvers and admins end a grant, with a key that decides; an admin also with one that manages. @throws CountersignError `forbidden` */
function requireMayEnd({ made_by }: GrantRow, principal: Principal): void {
  const isAdmin = principal.roles.includes('admin')
  if (made_by !== principal.id && !isAdmin && !principal.roles.includes('approver')) {
    throw new CountersignError('forbidden', `${principal.name} may look, not act: the role approver or admin is needed`)
  }
  requireScope(principal, isAdmin ? ['decide', 'manage'] : ['decide'], 'end a grant')
}

/**
 * Ends a grant: later calls need approval, and so do actions that it approved and that have not started. Ending it again changes nothing.
 * @throws CountersignError `not_found`; `forbidden` for a person who neither made it nor can approve.
 */
export async function revokeGrant(deps: GateDeps, grantId: string, caller: Caller): Promise<Grant> {
  return transactOnce(deps, caller, function* ({ outbox, nowMs }) {
    const { principal } = caller
    yield* changeRights()
    yield* requireStanding(caller, nowMs)
    const found = yield* findVisibleGrant(grantId, caller)
    requireMayEnd(found, principal)
    const data = { grant: grantId, tool: found.tool }
    yield* recordAudit(outbox, { kind: 'grant_revoked', actor: principal.id, data }, nowMs)
    yield* grants.revokeGrant.change({ id: grantId, revoked_by: principal.id, now: nowMs })
    return yield* viewGrant(yield* findVisibleGrant(grantId, caller), nowMs)
  })
}
