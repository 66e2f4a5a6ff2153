import { type Action, assert, CountersignError } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, findAnswer, idempotently } from '../../store/index.ts'
import type { Caller } from '../caller.ts'
import { openSession } from '../context.ts'
import { findForDecision } from '../decide/decide.ts'
import type { GateDeps } from '../gate.ts'
import { viewAction } from '../read/view.ts'
import { transactOnce } from '../transact-once.ts'
import { noteLook, settleFound } from './check-again.ts'
import { foundOf } from './checks.ts'
import { isKeyKnown } from './known-key.ts'
import { askOnce, readFinding } from './reconcile.ts'
import { orAdopt } from './recover.ts'
import { runAttempt } from './run-attempt.ts'
import { beginAttempt } from './start-attempt.ts'
import { mayResend, verifyBinding } from './verify-binding.ts'

/**
 * Lets the tool find out about an unknown outcome, because a person said so: sends the attempt again where the target honours its key
 * and can be trusted to know it still, else asks the tool. Asking is a read: the outcome stays unknown until there is an answer that settles
 * it. An answer that does not is noted in `checks`.
 * @returns The action: executing, settled, or of unknown outcome still.
 * @throws CountersignError `not_found`, `forbidden`; `illegal_transition` when the outcome is not unknown, or the tool cannot find out.
 */
export async function verify(deps: GateDeps, actionId: string, caller: Caller): Promise<Action> {
  const { once } = caller
  checkpoint('verify.before_read')
  const seen = await deps.store.read(function* () {
    const answer = once && (yield* findAnswer<Action>(once))
    if (answer) return { answer }
    const nowMs = deps.clock.nowMs()
    const row = yield* findForDecision(actionId, caller, nowMs)
    const action = yield* viewAction(row, { nowMs })
    const refuse = (why: string) => new CountersignError('illegal_transition', why, { action })
    if (row.state !== 'outcome_unknown') throw refuse(`action ${actionId} is ${row.state}; only an unknown outcome can be looked into`)
    const bound = verifyBinding(deps, row)
    if ('fault' in bound) throw refuse(`${actionId} cannot be looked into here: ${bound.fault.message}; say yourself what came of it`)
    const { tool } = bound
    const isKeyed = row.executor === 'server' && mayResend(tool)
    const isKnown = isKeyed && (yield* isKeyKnown(row, nowMs))
    if (isKeyed && !isKnown && !tool.verify)
      throw refuse(`${actionId} is not sent again: its service may have forgotten the idempotency key; say yourself what came of it`)
    return { row, tool, refuse, isSentAgain: isKnown }
  })
  if (seen.answer) return seen.answer
  const { row, tool, refuse, isSentAgain } = seen
  if (isSentAgain) return resend(deps, row, caller)
  if (!tool.verify) throw refuse(`${tool.name} cannot tell what came of ${actionId}; say yourself what came of it`)

  const beganAt = deps.clock.nowMs()
  const { found } = await askOnce(deps, tool, row)
  const settled = readFinding(deps, tool, row, found)
  checkpoint('verify.before_store')
  const action = await transactOnce(deps, caller, function* (context) {
    if (settled) yield* settleFound(context, row, settled)
    else yield* noteLook(context, row, { at: beganAt, found: foundOf(found) })
    return yield* viewNow(actionId, context.nowMs)
  })
  checkpoint('verify.after_store')
  return action
}

async function resend(deps: GateDeps, unknown: ActionRow, caller: Caller): Promise<Action> {
  await deps.life.whenAlive()
  const nowMs = deps.clock.nowMs()
  let toCarryOut: ActionRow | undefined
  checkpoint('resend.before_store')
  const stored = deps.store.transact((outbox) => {
    toCarryOut = undefined
    return idempotently(caller.once, nowMs, function* () {
      const context = yield* openSession({ outbox, nowMs, caller }, unknown)
      const { idempotency_key: key, target_version: version } = unknown
      const attempt = { key, runner: deps.processId, dueAtMs: null, version, cause: { kind: 'resent', by: caller } } as const
      toCarryOut = yield* beginAttempt(context, { ...unknown, state: 'outcome_unknown' }, attempt)
      return yield* viewNow(unknown.id, nowMs)
    })
  })
  const action = await orAdopt(deps, unknown.id, stored)
  checkpoint('resend.after_store')
  if (toCarryOut) deps.background(runAttempt(deps, toCarryOut))
  return action
}

function* viewNow(actionId: string, nowMs: number) {
  const row = yield* actions.findAction.first({ id: actionId })
  assert(row, 'an action that was read is there')
  return yield* viewAction(row, { nowMs })
}
