import { type Action, type AssignBody, type AssignTo, CountersignError, type Principal } from '@countersign/core'
import { type ActionRow, actions, principals, snoozes, type stored, type Tx } from '../../store/index.ts'
import { type Caller, isAdmin, mayDecide, requireOwnSignIn, requirePerson, requireScope, requireUnarchived } from '../caller.ts'
import { type CallerContext, openSession, type SessionContext } from '../context.ts'
import { emitUpdate } from '../events.ts'
import type { GateDeps } from '../gate.ts'
import { assigneeOf, viewAction, viewAssignment } from '../read/view.ts'
import { findVisibleAction } from '../read/visible.ts'
import { transactOnce } from '../transact-once.ts'
import { askingPersons } from './requesters.ts'
import { excludedBy, findRight, requirementsOf } from './rights.ts'

/**
 * Says who should decide about an action, or takes that back. It gives and takes no right. Repeating it changes nothing.
 * @throws CountersignError `not_found`; `forbidden` for who neither may decide, nor asked for it, nor is an admin; `bad_request` for somebody
 * who may not decide; `illegal_transition` with the action when it needs nobody any more, or was assigned meanwhile.
 */
export async function assign(deps: GateDeps, actionId: string, body: AssignBody, caller: Caller): Promise<Action> {
  return transactOnce(deps, caller, (context) => storeAssignment(context, actionId, body))
}

function* storeAssignment(context: CallerContext, actionId: string, { to, was }: AssignBody): Tx<Action> {
  const { caller, nowMs } = context
  const found = yield* findForAssigner(actionId, caller.principal, nowMs)
  const opened: SessionContext = yield* openSession({ ...context, nowMs: Math.max(nowMs, found.updated_at) }, found)
  // Read again: whoever held the session or the action before may have changed it, or ended the delegation.
  const row = yield* findForAssigner(actionId, caller.principal, nowMs)
  if (isSame(row, to)) return yield* viewAction(row, { nowMs })
  const why = whyNot(row, was)
  if (why !== undefined) throw yield* refused(row, why, nowMs)
  if (to !== null) yield* requireAssignee(row, to, nowMs)
  const changed = yield* write({ ...opened, caller }, row, to)
  if (!changed) throw yield* refused(row, 'changed just now; try again', nowMs)
  if (opened.session) yield* opened.session.save()
  return yield* viewAction(changed, { nowMs })
}

function* write(context: CallerContext<SessionContext>, row: ActionRow, to: AssignTo | null): Tx<ActionRow | undefined> {
  const { caller } = context
  const now = Math.max(context.nowMs, row.updated_at)
  const by = caller.principal.id
  const said: stored.StoredAssignment | null = to && { ...to, by, at: now }
  const assigned = said && JSON.stringify(said)
  const changed = yield* actions.assignAction(row, { assigned, updated_at: now }, { was: row.assigned ?? '' })
  if (!changed) return undefined
  context.session?.noteAction(changed)
  // It returns to the inbox of the person who is to decide now.
  if (to !== null && 'person' in to) yield* snoozes.endSnooze.run({ principal_id: to.person, action_id: row.id })
  else if (to !== null) yield* snoozes.wakeOthers.run({ action_id: row.id, but: by })
  const assignment = said && (yield* viewAssignment(said))
  const data = { to: null, role: null, ...(to !== null && ('person' in to ? { to: to.person } : to)) }
  yield* emitUpdate(context, changed, { assignment }, { kind: 'assigned', by: caller, data })
  return changed
}

/** The action, for someone who may assign it. @throws CountersignError `not_found`, `forbidden`, `gone`. */
function* findForAssigner(actionId: string, principal: Principal, nowMs: number): Tx<ActionRow> {
  const row = yield* findVisibleAction(principal, actionId, nowMs)
  requirePerson(principal, 'assign actions')
  requireScope(principal, ['decide'], 'assign actions')
  requireOwnSignIn(principal, 'assign actions')
  const isTheirs = (yield* askingPersons(row)).has(principal.id) || (yield* findRight(row, principal, nowMs)).refusal === undefined
  if (!isTheirs && isAdmin(principal))
    requireScope(principal, ['manage'], `assign action ${row.id}, on which ${principal.name} has no vote`)
  else if (!isTheirs)
    throw new CountersignError('forbidden', `only who may decide about action ${row.id} or asked for it, and admins, assign it`)
  requireUnarchived(row)
  return row
}

/** @throws CountersignError `bad_request`, with the same words for a person who does not exist and one who may not decide. */
function* requireAssignee(row: ActionRow, to: AssignTo, nowMs: number): Tx<void> {
  if ('role' in to) {
    const { roles, alsoRoles = [] } = requirementsOf(row)
    const known = [...new Set([...roles, ...alsoRoles.flat()])]
    if (known.includes(to.role)) return
    throw new CountersignError('bad_request', `to.role: ${JSON.stringify(to.role)} is not one of ${known.join(', ')}`)
  }
  const person = yield* principals.findPrincipal.first({ id: to.person })
  const isThere = person?.kind === 'person' && person.disabled_at === null
  if (isThere && (yield* mayTakeOver(row, principals.readPrincipal(person), nowMs))) return
  throw new CountersignError('bad_request', `to.person: ${JSON.stringify(to.person)} is nobody who may decide about action ${row.id}`)
}

/** True for who may decide; where the outcome is unknown, for who may say in their own right what came of it. */
function* mayTakeOver(row: ActionRow, person: Principal, nowMs: number): Tx<boolean> {
  if (row.state !== 'outcome_unknown') return (yield* findRight(row, person, nowMs)).refusal === undefined
  const requires = requirementsOf(row)
  return mayDecide(person, requires) && !(yield* excludedBy(requires, row)).has(person.id)
}

function isSame(row: ActionRow, other: AssignTo | null): boolean {
  const [mine, theirs] = [assigneeOf(row), other].map((to) => to && ('person' in to ? `person ${to.person}` : `role ${to.role}`))
  return mine === theirs
}

function whyNot(row: ActionRow, was: AssignTo | null | undefined): string | undefined {
  if (row.state !== 'proposed' && row.state !== 'outcome_unknown') return `is ${row.state}: only one that needs a person can be assigned`
  if (was !== undefined && !isSame(row, was)) return 'was assigned to somebody else just now'
  return undefined
}

function* refused(row: ActionRow, why: string, nowMs: number): Tx<CountersignError> {
  return new CountersignError('illegal_transition', `action ${row.id} ${why}`, { action: yield* viewAction(row, { nowMs }) })
}
