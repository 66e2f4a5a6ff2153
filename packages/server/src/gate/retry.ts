import { type Action, CountersignError } from '@countersign/core'
import { reach } from '../points.ts'
import { type ActionRow, actions, doOnce } from '../store/index.ts'
import { attemptKey } from './attempt-key.ts'
import type { Caller } from './caller.ts'
import { carryOut } from './carry-out.ts'
import { findForDecision } from './decide.ts'
import { type Deed, writeSessionOf } from './events.ts'
import type { GateParts } from './gate.ts'
import { orTakeUp } from './recover.ts'
import { beginAttempt } from './start.ts'
import { viewAction } from './view.ts'

/**
 * Starts a failed action again, because a person said so. A definite failure gets a new idempotency key (many services replay the
 * stored failure for the old one), an ambiguous one keeps its key.
 * @throws CountersignError `not_found`, `forbidden`, `illegal_transition`.
 */
export async function retry(parts: GateParts, actionId: string, caller: Caller): Promise<Action> {
  const nowMs = parts.clock.nowMs()
  let toCarryOut: ActionRow | undefined
  reach('retry.before_store')
  const stored = parts.store.transact((outbox) => {
    toCarryOut = undefined
    return doOnce(caller.once, nowMs, function* () {
      const before = yield* findForDecision(actionId, caller)
      if (before.executor === 'client') {
        const why = `action ${actionId} is carried out by a client: claim it again with {"retry": true}`
        throw new CountersignError('illegal_transition', why, { action: yield* viewAction(before) })
      }
      const writer = yield* writeSessionOf(outbox, before, nowMs)
      const ambiguous = before.error !== null && JSON.parse(before.error).kind === 'ambiguous'
      const key = ambiguous ? before.idempotency_key : attemptKey(actionId, before.attempt + 1)
      const { state } = before
      const deed: Deed = { kind: 'retried', by: caller }
      reach('retry.storing')
      const row =
        state === 'failed'
          ? yield* beginAttempt(outbox, writer, { ...before, state }, { key, runner: parts.processId, dueAtMs: null, deed }, nowMs)
          : undefined
      if (row) {
        toCarryOut = row
        return yield* viewAction(row)
      }
      const current = (yield* actions.findAction.first({ id: actionId })) ?? before
      throw new CountersignError('illegal_transition', `action ${actionId} is ${current.state}; only a failed action can be retried`, {
        action: yield* viewAction(current),
      })
    })
  })
  const action = await orTakeUp(parts, actionId, stored)
  reach('retry.after_store')
  if (toCarryOut) parts.background(carryOut(parts, toCarryOut))
  return action
}
