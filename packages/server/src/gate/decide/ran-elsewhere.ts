import { type Action, type ActionErrorView, CountersignError, type JsonValue, whyExpired } from '@countersign/core'
import { type ActionRow, actions, stored, type Tx } from '../../store/index.ts'
import { type Caller, requireUnarchived, requireWriter } from '../caller.ts'
import { openSession } from '../context.ts'
import { emitUpdate } from '../events.ts'
import type { GateDeps } from '../gate.ts'
import { viewAction } from '../read/view.ts'
import { findVisibleAction } from '../read/visible.ts'

/** The report of a program about a call that it ran although nobody had allowed it here. */
export interface RanElsewhere {
  /** The name of the program for people. */
  ranBy: string
  /** Its report of what came of it. */
  report: JsonValue
}

/**
 * Records that a program carried out an action that had been refused, had expired or was taken back. The action keeps its state; its error
 * and its outcome say what the program says. Repeating this changes nothing.
 * @throws CountersignError `not_found`; `forbidden` for everybody but its proposer; `illegal_transition` in every other state.
 */
export async function noteRanElsewhere(deps: GateDeps, actionId: string, said: RanElsewhere, caller: Caller): Promise<Action> {
  const nowMs = deps.clock.nowMs()
  return deps.store.transact(function* (outbox): Tx<Action> {
    const visible = yield* findVisibleAction(caller.principal, actionId, nowMs)
    if (visible.requested_by !== caller.principal.id) {
      throw new CountersignError('forbidden', `only the proposer of ${actionId} may say that it ran`)
    }
    requireWriter(caller.principal)
    requireUnarchived(visible)
    const opened = yield* openSession({ outbox, caller, nowMs: Math.max(nowMs, visible.updated_at) }, visible)
    // Read again: somebody who held the session before may have changed it.
    const row = (yield* actions.findAction.first({ id: actionId })) ?? visible
    requireUnarchived(row)
    if (isNoted(row)) return yield* viewAction(row, { nowMs })
    const here = whatBecameOf(row)
    const error: ActionErrorView = { kind: 'ran_elsewhere', message: `${here}. ${said.ranBy} says that it ran this`, retryable: false }
    const patch = { error: JSON.stringify(error), updated_at: Math.max(opened.nowMs, row.updated_at) }
    const noted = here && (yield* actions.noteRanElsewhere(row, patch, {}))
    if (!noted)
      throw new CountersignError('illegal_transition', `action ${actionId} is ${row.state}`, { action: yield* viewAction(row, { nowMs }) })
    yield* emitUpdate(opened, noted, { error }, { kind: 'ran_elsewhere', by: caller, data: { ...said } })
    if (opened.session) yield* opened.session.save()
    return yield* viewAction(noted, { nowMs })
  })
}

/** Returns how the action had ended here; undefined where it may have run by an approval. */
function whatBecameOf(row: ActionRow): string | undefined {
  if (row.state === 'declined') return 'This was declined'
  if (row.state === 'expired') return whyExpired(row.decided_at !== null)
  return row.state === 'cancelled' ? (stored.errorOf(row)?.message ?? 'This was cancelled') : undefined
}

const isNoted = (row: ActionRow): boolean => stored.errorOf(row)?.kind === 'ran_elsewhere'
