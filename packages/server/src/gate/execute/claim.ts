import {
  type Action,
  type ActionErrorView,
  assert,
  type Claim,
  CountersignError,
  type JsonObject,
  type Principal,
  type Tool,
} from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, attempts, findAnswer, registeredTools, stored, type Tx, votes } from '../../store/index.ts'
import { type Caller, mayDecide, requireUnarchived, requireWriter } from '../caller.ts'
import { type CallerContext, openSession, type SessionContext } from '../context.ts'
import { lookAgainAt } from '../deadlines.ts'
import { refuseRequester } from '../decide/decide.ts'
import { findRight, isStillLent, keyOf, requirementsOf } from '../decide/rights.ts'
import type { GateDeps } from '../gate.ts'
import { isoTime, viewAction } from '../read/view.ts'
import { findVisibleAction } from '../read/visible.ts'
import { transactOnce } from '../transact-once.ts'
import { failed, notDone } from './attempt.ts'
import { nextKey } from './attempt-key.ts'
import { type Begun, beginDecided, ConflictError, findOpen, lookBefore, notAsDecided } from './begin-attempt.ts'
import { endAtClient } from './client-result.ts'
import { isKeyKnown } from './known-key.ts'
import type { Revalidation } from './revalidate.ts'
import { settle } from './settle.ts'
import { beginAttempt, type Startable } from './start-attempt.ts'
import { mayResend, refusedNow, verifyBinding } from './verify-binding.ts'

/** The result of a claim: the client has the action, or it may no longer be executed and has failed, or it goes back to people. */
type Claimed = { claim: Claim } | { fault: string } | { asked: Action }

/**
 * Gives an approved action to the client that executes it: one client, under a new epoch, until its claim ends. The intent is stored before
 * the client gets the answer, as for an action that the server executes.
 * @param again True to execute a failed action again, or one with an unknown outcome whose target honours the idempotency key and can be
 * trusted to know it still. The caller must be allowed to decide.
 * @throws CountersignError `not_found`, `forbidden`; `illegal_transition` with the current action when it cannot be claimed;
 * `stale_preview` with the new revision when the action is no longer as it was decided.
 */
export async function claim(deps: GateDeps, actionId: string, again: boolean, caller: Caller): Promise<Claim> {
  const { once } = caller
  const seen = await deps.store.read(function* () {
    const answer = once && (yield* findAnswer<Claimed>(once))
    return answer ? { answer } : { row: yield* findForClaim(actionId, again, caller, deps.clock.nowMs()) }
  })
  const claimed = seen.answer ?? (await claimNow(deps, seen.row, again, caller))
  if ('claim' in claimed) return claimed.claim
  if ('asked' in claimed) throw notAsDecided(claimed.asked)
  const action = await deps.store.read(() => viewNow(actionId, deps.clock.nowMs()))
  throw new CountersignError('illegal_transition', `action ${actionId}: ${claimed.fault}`, { action })
}

async function claimNow(deps: GateDeps, seen: ActionRow, again: boolean, caller: Caller): Promise<Claimed> {
  await deps.refreshTool?.(seen.tool)
  const isDecided = seen.executor === 'client' && (seen.state === 'approved' || (again && seen.state === 'failed'))
  const look = isDecided ? await lookBefore(deps, seen) : undefined
  // The check may be slow code of others, so it runs outside the transaction.
  const refused = seen.executor === 'client' ? refusedAsSeen(deps, seen) : undefined
  checkpoint('claim.before_store')
  const claimed = await transactOnce(deps, caller, (context) => takeClaim(deps, context, { seen, look, refused, again }))
  checkpoint('claim.after_store')
  return claimed
}

function refusedAsSeen(deps: GateDeps, seen: ActionRow): ActionErrorView | undefined {
  const tool = deps.tools.byName(seen.tool)
  return tool && refusedNow(deps, tool, seen, stored.argumentsOf(seen))
}

interface Wanted {
  /** The action as it was read before the target was revalidated. */
  seen: ActionRow
  look: Revalidation | undefined
  /** The error when the tool's own check refuses the arguments now. */
  refused: ActionErrorView | undefined
  again: boolean
}

function* takeClaim(deps: GateDeps, context: CallerContext, { seen, look, refused, again }: Wanted): Tx<Claimed> {
  const { outbox, caller, nowMs } = context
  const actionId = seen.id
  const row = yield* findForClaim(actionId, again, caller, nowMs)
  if (row.executor !== 'client') throw yield* refusal(row, `action ${actionId} is carried out by the server`, nowMs)
  const bound = verifyBinding(deps, row)
  if (row.state === 'approved' && (row.starts_at ?? 0) > nowMs) {
    throw yield* refusal(
      row,
      `action ${actionId} starts at ${isoTime(row.starts_at ?? 0)}: until then its approval can be taken back`,
      nowMs,
    )
  }
  const mayRepeat = row.state === 'outcome_unknown' && 'tool' in bound && !refused && mayResend(bound.tool)
  const startable = startableNow(row, again, mayRepeat && (yield* isKeyKnown(row, nowMs)))
  if (!startable) throw yield* refusal(row, whyNot(row, again), nowMs)
  const opened = yield* openSession(context, row)
  const dueAtMs = nowMs + ('tool' in bound ? bound.tool.timeoutMs : 0)
  checkpoint('claim.storing')
  const begun = yield* beginFor(deps, opened, { row: startable, seen, look, dueAtMs })
  if (!begun)
    throw yield* refusal(
      yield* findOpen(actionId),
      `action ${actionId} is no longer what it was: somebody else has it, or its time is over`,
      nowMs,
    )
  if ('asked' in begun) return { asked: yield* viewAction(begun.asked, { nowMs }) }
  const started = begun.begun
  const end =
    'fault' in bound
      ? failed(bound.fault.kind, `${bound.fault.message}; it was not carried out`, false)
      : refused
        ? endAtClient(bound.tool, notDone(started, bound.tool, { to: 'failed', error: refused }))
        : begun.end
  if ('fault' in bound || (end && end.to !== 'succeeded')) {
    assert(end && end.to !== 'succeeded', 'what is not carried out has not succeeded')
    yield* settle(deps, { outbox, nowMs, caller: undefined }, started, end)
    return { fault: end.error.message }
  }
  yield* attempts.noteClaim.run({ id: actionId, epoch: started.epoch, claimed_by: caller.principal.id })
  // People approved a call of it with the change in view.
  const { registered, caution } = bound.tool
  if (registered && caution !== undefined) yield* registeredTools.acceptDefinition.run({ name: row.tool, hash: registered.hash })
  lookAgainAt(outbox, dueAtMs)
  const args: JsonObject = stored.argumentsOf(row)
  const claim: Claim = {
    action: yield* viewAction(started, { nowMs }),
    epoch: started.epoch,
    idempotencyKey: started.idempotency_key,
    request: requestOf(bound.tool, args, started),
    ...(bound.tool.verify && { canVerify: true }),
    holdEndsAt: isoTime(dueAtMs),
  }
  return { claim }
}

type Started = Exclude<Begun, { because: unknown }>

/** The action starts as it was read. One with an unknown outcome is sent again as it was sent. */
function* beginFor(
  deps: GateDeps,
  context: CallerContext<SessionContext>,
  { row, seen, look, dueAtMs }: { row: Startable; dueAtMs: number } & Pick<Wanted, 'seen' | 'look'>,
): Tx<Started | undefined> {
  const attempt = { key: nextKey(row), runner: null, dueAtMs, cause: { kind: 'claimed', by: context.caller } } as const
  const { state } = row
  // Somebody made another revision after this one was read.
  if (seen.revision !== row.revision) return undefined
  if (state === 'outcome_unknown') {
    const begun = yield* beginAttempt(context, row, { ...attempt, version: row.target_version })
    return begun && { begun }
  }
  // Somebody moved it after it was read.
  if (!look || seen.state !== state || seen.epoch !== row.epoch) return undefined
  const begun = yield* beginDecided(deps, context, { row: { ...row, state }, look, attempt })
  if (begun && 'because' in begun) throw new ConflictError(row.id)
  return begun
}

function requestOf(tool: Tool, args: JsonObject, { target_version }: ActionRow): Claim['request'] {
  const request = tool.clientRequest?.(args)
  return request ? { ...request, ...(target_version !== null && { ifMatch: target_version }) } : null
}

/**
 * The action, for who may carry it out: who may decide about it themselves, and the first time also the delegate who approved it and who
 * asked for it.
 */
function* findForClaim(actionId: string, again: boolean, { principal }: Caller, nowMs: number): Tx<ActionRow> {
  const row = yield* findVisibleAction(principal, actionId, nowMs)
  requireUnarchived(row)
  if (mayDecide(principal, requirementsOf(row))) {
    if (again) yield* refuseRequester(row, principal)
    return row
  }
  if (!again && (yield* hasApprovedForOther(row, principal, nowMs))) return row
  requireWriter(principal)
  if (again || row.requested_by !== principal.id) {
    throw new CountersignError(
      'forbidden',
      `${principal.name} may not ${again ? 'start' : 'carry out'} ${actionId}${again ? ' again' : ''}`,
    )
  }
  return row
}

/** True for a person who approved in the place of somebody, while that vote counts. */
function* hasApprovedForOther(row: ActionRow, principal: Principal, nowMs: number): Tx<boolean> {
  const { refusal: noRight } = yield* findRight(row, principal, nowMs)
  const cast = noRight === undefined ? yield* votes.votesOf.all(keyOf(row)) : []
  const own = cast.find(({ principal_id }) => principal_id === principal.id)
  return own?.verdict === 'approve' && (yield* isStillLent(own, nowMs))
}

function startableNow(row: ActionRow, again: boolean, resends: boolean): Startable | undefined {
  const { state } = row
  if (state === 'approved' || (again && (state === 'failed' || (state === 'outcome_unknown' && resends)))) return { ...row, state }
  return undefined
}

function whyNot({ id, state, due_at }: ActionRow, again: boolean): string {
  if (state === 'executing') return `a client is carrying action ${id} out until ${isoTime(due_at ?? 0)}`
  if (state === 'outcome_unknown') return `the outcome of action ${id} is unknown: say what came of it before anything is done again`
  return `action ${id} is ${state}; only an approved action can be claimed${again ? ', or a failed one again' : ''}`
}

function* refusal(row: ActionRow, why: string, nowMs: number): Tx<CountersignError> {
  return new CountersignError('illegal_transition', why, { action: yield* viewAction(row, { nowMs }) })
}

function* findNow(actionId: string): Tx<ActionRow> {
  const row = yield* actions.findAction.first({ id: actionId })
  assert(row, 'an action that was read is there')
  return row
}

function* viewNow(actionId: string, nowMs: number): Tx<Action> {
  return yield* viewAction(yield* findNow(actionId), { nowMs })
}
