import { type Action, CountersignError } from '@countersign/core'
import { reach } from '../../checkpoints.ts'
import { type ActionRow, actions, doOnce, findAnswer, type Tx } from '../../store/index.ts'
import { nextKey } from './attempt-key.ts'
import { type Begun, beginDecided, type Decided, JustChanged, lookBefore, notAsDecided } from './begin-attempt.ts'
import type { Caller } from '../caller.ts'
import { carryOut } from './run-attempt.ts'
import { findForDecision } from '../decide/decide.ts'
import { type Deed, writeSessionOf } from '../events.ts'
import type { GateParts } from '../gate.ts'
import type { Look } from './revalidate.ts'
import { orTakeUp } from './recover.ts'
import { viewAction } from '../read/view.ts'

/**
 * Starts a failed action again, because a person said so, if it is still what was decided; else people are asked about what it is now. It
 * gets a new idempotency key, unless its outcome was ever unknown: see `nextKey`.
 * @throws CountersignError `not_found`, `forbidden`, `illegal_transition`; `stale_preview` with the action as it is asked now.
 */
export async function retry(parts: GateParts, actionId: string, caller: Caller): Promise<Action> {
  const { once } = caller
  reach('retry.before_look')
  const seen = await parts.store.read(function* () {
    const answer = once && (yield* findAnswer<Action>(once))
    return answer ? { answer } : { row: yield* findForRetry(actionId, caller, parts.clock.nowMs()) }
  })
  const action = seen.answer ?? (await retryNow(parts, seen.row, await lookBefore(parts, seen.row), caller))
  if (action.state !== 'executing') throw notAsDecided(action)
  return action
}

async function retryNow(parts: GateParts, failed: Decided, look: Look, caller: Caller): Promise<Action> {
  const nowMs = parts.clock.nowMs()
  let begun: Extract<Begun, { begun: ActionRow }> | undefined
  reach('retry.before_store')
  const stored = parts.store.transact((outbox) => {
    begun = undefined
    return doOnce(caller.once, nowMs, function* () {
      yield* findForRetry(failed.id, caller, nowMs)
      const writer = yield* writeSessionOf(outbox, failed, nowMs)
      reach('retry.storing')
      const deed: Deed = { kind: 'retried', by: caller }
      const attempt = { key: nextKey(failed), runner: parts.processId, dueAtMs: null, deed }
      const done = yield* beginDecided(parts, outbox, writer, { row: failed, look, attempt }, nowMs)
      if (done && 'because' in done) throw new JustChanged(failed.id)
      if (done && 'asked' in done) return yield* viewAction(done.asked)
      if (!done) throw yield* notFailed((yield* actions.findAction.first({ id: failed.id })) ?? failed)
      begun = done
      return yield* viewAction(done.begun)
    })
  })
  const action = await orTakeUp(parts, failed.id, stored)
  reach('retry.after_store')
  if (begun) parts.background(carryOut(parts, begun.begun, begun.end))
  return action
}

/** The action, for who may decide about it, where it failed and the server carries it out. */
function* findForRetry(actionId: string, caller: Caller, nowMs: number): Tx<Decided> {
  const row = yield* findForDecision(actionId, caller, nowMs)
  if (row.executor === 'client') {
    const why = `action ${actionId} is carried out by a client: claim it again with {"retry": true}`
    throw new CountersignError('illegal_transition', why, { action: yield* viewAction(row) })
  }
  const { state } = row
  if (state !== 'failed') throw yield* notFailed(row)
  return { ...row, state }
}

function* notFailed(row: ActionRow): Tx<CountersignError> {
  const why = `action ${row.id} is ${row.state}; only a failed action can be retried`
  return new CountersignError('illegal_transition', why, { action: yield* viewAction(row) })
}
