import { type Action, assert, type Claim, CountersignError, type JsonObject } from '@countersign/core'
import { reach } from '../points.ts'
import { type ActionRow, actions, attempts, doOnce, type Outbox, type Tx } from '../store/index.ts'
import { failed } from './attempt.ts'
import { attemptKey } from './attempt-key.ts'
import { boundTool, mayResend } from './bound-tool.ts'
import { type Caller, mayDecide, requireUnarchived, requireWriter } from './caller.ts'
import { lookAgainAt } from './deadlines.ts'
import { writeSessionOf } from './events.ts'
import type { GateParts } from './gate.ts'
import { settle } from './settle.ts'
import { beginAttempt, type Startable } from './start.ts'
import { isoTime, viewAction } from './view.ts'
import { requireVisibleAction } from './visible.ts'

/** What a claim comes to: the client has the action, or the action must not be carried out any more and was settled as failed. */
type Claimed = { claim: Claim } | { fault: string }

/**
 * Gives an approved action to the client that carries it out: one client, under a new epoch, until the hold is over. The intent is stored
 * before the client hears of it, as for an action that the server carries out.
 * @param again True to take a failed action once more, or one of unknown outcome whose target honours our key: only for who may decide.
 * @throws CountersignError `not_found`, `forbidden`; `illegal_transition` with the current action when it is not to be had.
 */
export async function claim(parts: GateParts, actionId: string, again: boolean, caller: Caller): Promise<Claim> {
  const nowMs = parts.clock.nowMs()
  reach('claim.before_store')
  const claimed = await parts.store.transact((outbox) =>
    doOnce(caller.once, nowMs, () => takeClaim(parts, outbox, actionId, again, caller, nowMs)),
  )
  reach('claim.after_store')
  if ('claim' in claimed) return claimed.claim
  const action = await parts.store.read(() => viewNow(actionId))
  throw new CountersignError('illegal_transition', `action ${actionId}: ${claimed.fault}`, { action })
}

function* takeClaim(parts: GateParts, outbox: Outbox, actionId: string, again: boolean, caller: Caller, nowMs: number): Tx<Claimed> {
  const row = yield* findForClaim(actionId, again, caller)
  if (row.executor !== 'client') throw yield* refusal(row, `action ${actionId} is carried out by the server`)
  const bound = boundTool(parts, row)
  const startable = startableNow(row, again, 'tool' in bound && mayResend(bound.tool))
  if (!startable) throw yield* refusal(row, whyNot(row, again))
  const writer = yield* writeSessionOf(outbox, row, nowMs)
  const dueAtMs = nowMs + ('tool' in bound ? bound.tool.timeoutMs : 0)
  reach('claim.storing')
  const started = yield* beginAttempt(
    outbox,
    writer,
    startable,
    { key: keyOf(row), runner: null, dueAtMs, deed: { kind: 'claimed', by: caller } },
    nowMs,
  )
  if (!started) throw yield* refusal(yield* findNow(actionId), `action ${actionId} is no longer what it was: somebody else has it`)
  if ('fault' in bound) {
    const why = `${bound.fault.message}; it was not carried out`
    yield* settle(parts, outbox, started, failed(bound.fault.kind, why, false), nowMs)
    return { fault: why }
  }
  yield* attempts.noteClaim.run({ id: actionId, epoch: started.epoch, claimed_by: caller.principal.id })
  lookAgainAt(outbox, dueAtMs)
  const args: JsonObject = JSON.parse(row.arguments)
  const claim: Claim = {
    action: yield* viewAction(started),
    epoch: started.epoch,
    idempotencyKey: started.idempotency_key,
    request: bound.tool.clientRequest?.(args) ?? null,
    holdEndsAt: isoTime(dueAtMs),
  }
  return { claim }
}

/** The action, for who may carry it out: who may decide about it, and who asked for it. */
function* findForClaim(actionId: string, again: boolean, { principal }: Caller): Tx<ActionRow> {
  const found = yield* actions.findAction.first({ id: actionId })
  const row = yield* requireVisibleAction(principal, found, `action ${actionId}`)
  requireUnarchived(row)
  if (mayDecide(principal, JSON.parse(row.requires).roles)) return row
  requireWriter(principal)
  if (again || row.requested_by !== principal.id) {
    throw new CountersignError(
      'forbidden',
      `${principal.name} may not ${again ? 'start' : 'carry out'} ${actionId}${again ? ' again' : ''}`,
    )
  }
  return row
}

function startableNow(row: ActionRow, again: boolean, resends: boolean): Startable | undefined {
  const { state } = row
  if (state === 'approved' || (again && (state === 'failed' || (state === 'outcome_unknown' && resends)))) return { ...row, state }
  return undefined
}

/** As for the server: a definite failure gets a new key, what may have acted keeps its own. */
function keyOf({ id, state, error, attempt, idempotency_key }: ActionRow): string {
  const isDefinite = state === 'failed' && error !== null && JSON.parse(error).kind !== 'ambiguous'
  return isDefinite ? attemptKey(id, attempt + 1) : idempotency_key
}

function whyNot({ id, state, due_at }: ActionRow, again: boolean): string {
  if (state === 'executing') return `a client is carrying action ${id} out until ${isoTime(due_at ?? 0)}`
  if (state === 'outcome_unknown') return `the outcome of action ${id} is unknown: say what came of it before anything is done again`
  return `action ${id} is ${state}; only an approved action can be claimed${again ? ', or a failed one again' : ''}`
}

function* refusal(row: ActionRow, why: string): Tx<CountersignError> {
  return new CountersignError('illegal_transition', why, { action: yield* viewAction(row) })
}

function* findNow(actionId: string): Tx<ActionRow> {
  const row = yield* actions.findAction.first({ id: actionId })
  assert(row, 'an action that was read is there')
  return row
}

function* viewNow(actionId: string): Tx<Action> {
  return yield* viewAction(yield* findNow(actionId))
}
