import { type Action, type ActionErrorView, CountersignError, type WithdrawBody } from '@countersign/core'
import { type ActionRow, actions, stored, type Tx } from '../../store/index.ts'
import { type Caller, isAdmin, isAdminInScope, requireScope, requireUnarchived, requireWriter } from '../caller.ts'
import { type CallerContext, openSession } from '../context.ts'
import type { GateDeps } from '../gate.ts'
import { viewAction } from '../read/view.ts'
import { findVisibleAction } from '../read/visible.ts'
import { transactOnce } from '../transact-once.ts'
import { transitionById } from '../transition.ts'
import { expireWaiting } from './expire.ts'
import { askingPersons } from './requesters.ts'
import { stopAfterExpiry } from './stop-run.ts'

/**
 * Cancels an action that has not started, because its proposer withdraws it. What policy or a grant allowed and no client has claimed, the person
 * whose agent asked for it and admins may withdraw too. Repeating this changes nothing and returns the action as it is.
 * @throws CountersignError `not_found`; `forbidden` for everybody else; `illegal_transition` with the current action once it has started,
 * was decided against or has expired.
 */
export async function withdraw(deps: GateDeps, actionId: string, body: WithdrawBody, caller: Caller): Promise<Action> {
  const action = await transactOnce(deps, caller, (context) => takeBack(deps, context, actionId, body.reason?.trim() || undefined))
  // The refusal comes after the commit, so that the expiry is stored.
  if (action.state === 'expired') throw tooLate(action)
  return action
}

function* takeBack(deps: GateDeps, context: CallerContext, actionId: string, reason: string | undefined): Tx<Action> {
  const { caller, nowMs } = context
  const found = yield* findForWithdrawal(actionId, caller, nowMs)
  if (isWithdrawn(found)) return yield* viewAction(found, { nowMs })
  const opened = yield* openSession({ ...context, nowMs: Math.max(nowMs, found.updated_at) }, found)
  // Read again: a claim that found the policy to be another one has people asked, and what people are asked about is its proposer's alone.
  const row = yield* findForWithdrawal(actionId, caller, nowMs)
  const { session } = opened
  const error: ActionErrorView = { kind: 'withdrawn', message: sentenceOf(caller, reason), retryable: false }
  const cause = { kind: 'withdrawn', by: caller, data: { reason: reason ?? null } } as const
  const withdrawn = yield* transitionById(opened, actionId, 'cancel', { error, cause, changed: { error }, reason: error.message })
  // Read after the update: the update waits for another transaction, a read does not.
  const expired = withdrawn ? undefined : yield* expireWaiting(opened, actionId)
  if (expired) yield* stopAfterExpiry(deps, opened, expired)
  if (session && (withdrawn || expired)) yield* session.finish()
  const current = withdrawn ?? expired ?? (yield* actions.findAction.first({ id: actionId })) ?? row
  const action = yield* viewAction(current, { nowMs })
  if (withdrawn || expired || isWithdrawn(current)) return action
  throw tooLate(action)
}

/** The action, for its proposer, or somebody else who may withdraw it. @throws CountersignError `not_found`, `forbidden`, `gone`. */
function* findForWithdrawal(actionId: string, { principal }: Caller, nowMs: number): Tx<ActionRow> {
  const row = yield* findVisibleAction(principal, actionId, nowMs)
  const isTheirs = row.requested_by === principal.id
  // With an embed token, nobody ends what it did not ask for.
  const isOpenToOthers = !isTheirs && waitsUnasked(row) && principal.kind === 'person' && principal.host === undefined
  const isAdmins = isOpenToOthers && isAdminInScope(principal)
  if (!isTheirs && !isAdmins && !(isOpenToOthers && (yield* askingPersons(row)).has(principal.id))) {
    // An admin whom only their key keeps from it.
    if (isOpenToOthers && isAdmin(principal)) requireScope(principal, ['manage'], `withdraw ${actionId}`)
    const who = waitsUnasked(row) ? 'only its proposer, the person whose agent asked for it and admins may' : 'only whoever proposed it may'
    throw new CountersignError('forbidden', `${principal.name} may not withdraw ${actionId}: ${who}`)
  }
  if (!isAdmins) requireWriter(principal)
  requireUnarchived(row)
  return row
}

/**
 * True for what policy or a grant allowed to a client, which may be gone for good: there is no approval to take back. Not for what waits for
 * people, who decline it.
 */
const waitsUnasked = (row: ActionRow): boolean => row.executor === 'client' && !stored.wasAsked(row) && row.state !== 'proposed'

const isWithdrawn = (row: ActionRow): boolean => row.state === 'cancelled' && stored.errorOf(row)?.kind === 'withdrawn'

const sentenceOf = ({ principal: { kind, name } }: Caller, reason: string | undefined): string =>
  `Withdrawn by ${kind === 'person' ? '' : `the ${kind} `}${name}${reason === undefined ? '' : `: ${reason}`}`

function tooLate(action: Action): CountersignError {
  const { id, state } = action
  const why = state === 'executing' ? 'has started' : `is ${state}`
  return new CountersignError('illegal_transition', `action ${id} ${why}; only what has not started can be withdrawn`, { action })
}
