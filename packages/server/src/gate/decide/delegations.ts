import { CountersignError, type Delegation, type DelegationBody, durationMs, type Principal } from '@countersign/core'
import { recordAudit } from '../../audit/index.ts'
import {
  changeRights,
  type DelegationRow,
  delegations,
  lockKey,
  newId,
  type PrincipalRow,
  principals,
  type Tx,
  tellAccess,
} from '../../store/index.ts'
import { type Caller, isAdmin, requireAdmin, requireAllRoles, requireOwnSignIn, requireScope, requireStanding } from '../caller.ts'
import type { GateDeps } from '../gate.ts'
import { isoTime, viewPrincipal } from '../read/view.ts'
import { transactOnce } from '../transact-once.ts'

/** @throws CountersignError `forbidden` for who has no vote to give to others: an agent, or a key that may not decide. */
function requirePerson(principal: Principal): void {
  const { kind, name } = principal
  if (kind !== 'person') throw new CountersignError('forbidden', `only persons decide, so ${name} has nothing to delegate`)
  requireScope(principal, ['decide'], 'delegate anything')
  requireOwnSignIn(principal, 'delegate anything')
}

/**
 * Lets one person vote in the place of another for a time.
 * @throws CountersignError `forbidden` for an agent, for a key that leaves out a role of its person, and for who names somebody else's place and is no admin; `not_found` for an unknown
 * person; `bad_request` for oneself, and when {@link delegations.MOST_FROM_ONE} from the one to the other are in force.
 */
export async function createDelegation(deps: GateDeps, body: DelegationBody, caller: Caller): Promise<Delegation> {
  const { principal } = caller
  requirePerson(principal)
  const from = body.from ?? principal.id
  if (from !== principal.id) requireAdmin(principal, 'delegates in the name of somebody else')
  if (from !== principal.id && body.to === principal.id) {
    throw new CountersignError(
      'forbidden',
      'nobody takes the vote of somebody else for themselves: name another person, or let them delegate it',
    )
  }
  if (from === body.to) throw new CountersignError('bad_request', 'to: a delegation is from one person to another')
  return transactOnce(deps, caller, function* ({ outbox, nowMs }) {
    // One after the other, so that their number stays below the limit.
    yield* lockKey(`delegation ${from} ${body.to}`)
    yield* requireStanding(caller, nowMs)
    if (from === principal.id) yield* requireAllRoles(principal, 'delegate anything')
    yield* requireFew(yield* requireKnownPerson(from), yield* requireKnownPerson(body.to), nowMs)
    const row: DelegationRow = {
      id: newId('del', nowMs),
      from_id: from,
      to_id: body.to,
      reason: body.reason || null,
      made_by: principal.id,
      expires_at: nowMs + (durationMs(body.expiresIn) ?? 0),
      revoked_at: null,
      revoked_by: null,
      created_at: nowMs,
    }
    const data = { delegation: row.id, from, to: body.to, expiresAt: isoTime(row.expires_at), reason: row.reason }
    yield* recordAudit(outbox, { kind: 'delegated', actor: principal.id, data }, nowMs)
    yield* delegations.insertDelegation.run({ ...row })
    tellAccess(outbox, row.to_id)
    return yield* viewDelegation(row, nowMs)
  })
}

/** More would change nothing, and each delegation is read whenever it is looked up who votes in whose place. */
function* requireFew(from: PrincipalRow, to: PrincipalRow, nowMs: number): Tx<void> {
  const most = delegations.MOST_FROM_ONE
  const found = yield* delegations.countFromOne.first({ from_id: from.id, to_id: to.id, now: nowMs })
  if (Number(found?.count ?? 0) < most) return
  throw new CountersignError('bad_request', `${most} delegations from ${from.name} to ${to.name} are in force: end one of them first`)
}

function* requireKnownPerson(id: string): Tx<PrincipalRow> {
  const found = yield* principals.findPrincipal.first({ id })
  if (found?.kind !== 'person') throw new CountersignError('not_found', `there is no person ${id}`)
  if (found.host_id !== null)
    throw new CountersignError('forbidden', `${found.name} is known from embed tokens only, and votes for nobody else`)
  if (found.disabled_at !== null)
    throw new CountersignError('forbidden', `${found.name} is disabled: nobody votes in their place, and they vote for nobody`)
  return found
}

/**
 * Returns whose delegations a principal may list; undefined for everybody's.
 * @throws CountersignError `forbidden` for a principal that is not a person.
 */
export function delegationsSeenBy({ principal }: Caller): string | undefined {
  requirePerson(principal)
  return isAdmin(principal) ? undefined : principal.id
}

/** @throws CountersignError `forbidden` for everybody except who gave it and admins, and for an admin's key that does not manage. */
function requireMayEnd({ from_id }: DelegationRow, principal: Principal): void {
  if (from_id === principal.id) return
  if (!isAdmin(principal)) throw new CountersignError('forbidden', 'only who gave it, or an admin, ends a delegation')
  requireScope(principal, ['manage'], 'end a delegation of somebody else')
}

/**
 * Ends a delegation; votes given under it do not count any more where others are waited for. Harmless when it had ended.
 * @throws CountersignError `not_found`; `forbidden` for whom it was given to, and for an admin's key that does not manage.
 */
export async function endDelegation(deps: GateDeps, id: string, caller: Caller): Promise<Delegation> {
  const { principal } = caller
  requirePerson(principal)
  return transactOnce(deps, caller, function* ({ outbox, nowMs }) {
    yield* changeRights()
    yield* requireStanding(caller, nowMs)
    const found = yield* delegations.findDelegation.first({ id })
    const concerns = found && (isAdmin(principal) || [found.from_id, found.to_id].includes(principal.id))
    if (!found || !concerns) throw new CountersignError('not_found', `there is no delegation ${id}`)
    requireMayEnd(found, principal)
    const data = { delegation: id, from: found.from_id, to: found.to_id }
    yield* recordAudit(outbox, { kind: 'delegation_ended', actor: principal.id, data }, nowMs)
    yield* delegations.revokeDelegation.change({ id, revoked_by: principal.id, now: nowMs })
    tellAccess(outbox, found.to_id)
    return yield* viewDelegation((yield* delegations.findDelegation.first({ id })) ?? found, nowMs)
  })
}

export function* viewDelegation(row: DelegationRow, nowMs: number): Tx<Delegation> {
  return {
    id: row.id,
    from: yield* viewPrincipal(row.from_id),
    to: yield* viewPrincipal(row.to_id),
    reason: row.reason,
    madeBy: yield* viewPrincipal(row.made_by),
    state: row.revoked_at !== null ? 'revoked' : row.expires_at <= nowMs ? 'over' : 'standing',
    expiresAt: isoTime(row.expires_at),
    revokedAt: row.revoked_at === null ? null : isoTime(row.revoked_at),
    revokedBy: row.revoked_by === null ? null : yield* viewPrincipal(row.revoked_by),
    createdAt: isoTime(row.created_at),
  }
}
