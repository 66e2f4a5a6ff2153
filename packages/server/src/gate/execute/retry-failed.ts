import { type Action, CountersignError } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, findAnswer, idempotently, type Tx } from '../../store/index.ts'
import type { Caller } from '../caller.ts'
import { openSession } from '../context.ts'
import { findForDecision } from '../decide/decide.ts'
import type { GateDeps } from '../gate.ts'
import { viewAction } from '../read/view.ts'
import { nextKey } from './attempt-key.ts'
import { type Begun, beginDecided, ConflictError, type Decided, findOpen, lookBefore, notAsDecided } from './begin-attempt.ts'
import { orAdopt } from './recover.ts'
import type { Revalidation } from './revalidate.ts'
import { runAttempt } from './run-attempt.ts'

/**
 * Starts a failed action again on a person's request, if it is still as it was decided; otherwise it goes back to people as it is now. It
 * gets a new idempotency key unless its outcome was ever unknown: see `nextKey`.
 * @throws CountersignError `not_found`, `forbidden`, `illegal_transition`; `stale_preview` with the new revision.
 */
export async function retry(deps: GateDeps, actionId: string, caller: Caller): Promise<Action> {
  const { once } = caller
  checkpoint('retry.before_look')
  const seen = await deps.store.read(function* () {
    const answer = once && (yield* findAnswer<Action>(once))
    return answer ? { answer } : { row: yield* findForRetry(actionId, caller, deps.clock.nowMs()) }
  })
  const action = seen.answer ?? (await retryNow(deps, seen.row, await lookBefore(deps, seen.row), caller))
  if (action.state !== 'executing') throw notAsDecided(action)
  return action
}

async function retryNow(deps: GateDeps, failed: Decided, look: Revalidation, caller: Caller): Promise<Action> {
  await deps.life.whenAlive()
  const nowMs = deps.clock.nowMs()
  let begun: Extract<Begun, { begun: ActionRow }> | undefined
  checkpoint('retry.before_store')
  const stored = deps.store.transact((outbox) => {
    begun = undefined
    return idempotently(caller.once, nowMs, function* () {
      yield* findForRetry(failed.id, caller, nowMs)
      const context = yield* openSession({ outbox, nowMs, caller }, failed)
      checkpoint('retry.storing')
      const attempt = { key: nextKey(failed), runner: deps.processId, dueAtMs: null, cause: { kind: 'retried', by: caller } } as const
      const done = yield* beginDecided(deps, context, { row: failed, look, attempt })
      if (done && 'because' in done) throw new ConflictError(failed.id)
      if (done && 'asked' in done) return yield* viewAction(done.asked, { nowMs })
      if (!done) throw yield* notFailed(yield* findOpen(failed.id), nowMs)
      begun = done
      return yield* viewAction(done.begun, { nowMs })
    })
  })
  const action = await orAdopt(deps, failed.id, stored)
  checkpoint('retry.after_store')
  if (begun) deps.background(runAttempt(deps, begun.begun, begun.end))
  return action
}

/** The action, for who may decide about it, where it failed and the server carries it out. */
function* findForRetry(actionId: string, caller: Caller, nowMs: number): Tx<Decided> {
  const row = yield* findForDecision(actionId, caller, nowMs)
  if (row.executor === 'client') {
    const why = `action ${actionId} is carried out by a client: claim it again with {"retry": true}`
    throw new CountersignError('illegal_transition', why, { action: yield* viewAction(row, { nowMs }) })
  }
  const { state } = row
  if (state !== 'failed') throw yield* notFailed(row, nowMs)
  return { ...row, state }
}

function* notFailed(row: ActionRow, nowMs: number): Tx<CountersignError> {
  const why = `action ${row.id} is ${row.state}; only a failed action can be retried`
  return new CountersignError('illegal_transition', why, { action: yield* viewAction(row, { nowMs }) })
}
