import { type Action, CountersignError, type Resolution, type ResolveBody } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, type Tx } from '../../store/index.ts'
import type { Caller } from '../caller.ts'
import type { CallerContext, GateContext } from '../context.ts'
import { findForDecision } from '../decide/decide.ts'
import type { GateDeps } from '../gate.ts'
import { isoTime, viewAction } from '../read/view.ts'
import { transactOnce } from '../transact-once.ts'
import { failed, type Settled } from './attempt.ts'
import { endAttempt, heldSince } from './held.ts'
import { settleUnknown } from './settle.ts'

/**
 * Settles an unknown outcome with what a person found out. A repeat changes nothing and returns the current action.
 * @throws CountersignError `not_found`; `forbidden` for a person who may not decide about the action; `illegal_transition` with the current action
 * when its outcome is not unknown (any more), or it is another attempt's than the one they looked into.
 */
export async function resolve(deps: GateDeps, actionId: string, body: ResolveBody, caller: Caller): Promise<Action> {
  checkpoint('resolve.before_store')
  const action = await transactOnce(deps, caller, (context) => takeResolution(deps, context, actionId, body))
  checkpoint('resolve.after_store')
  return action
}

function* takeResolution(deps: GateDeps, context: CallerContext, actionId: string, body: ResolveBody): Tx<Action> {
  const { caller, nowMs } = context
  const { outcome, note, attempt } = body
  const { principal } = caller
  const row = yield* orEnded(deps, context, yield* findForDecision(actionId, caller, nowMs))
  if (attempt !== undefined && attempt !== row.attempt) {
    const why = `what was found is about attempt ${attempt} of ${actionId}, which is at attempt ${row.attempt} and ${row.state}: look again`
    throw new CountersignError('illegal_transition', why, { action: yield* viewAction(row, { nowMs }) })
  }
  if (row.state === 'outcome_unknown') {
    const resolution: Resolution = { by: principal, outcome, note, at: isoTime(nowMs) }
    checkpoint('resolve.storing')
    const resolved = yield* settleUnknown(context, row, {
      settled: settledBy(resolution),
      resolution,
      sentence: sentenceOf(resolution),
      cause: { kind: 'resolved', by: caller, data: { note } },
    })
    if (resolved) return yield* viewAction(resolved, { nowMs })
  }
  const current = yield* actions.findAction.first({ id: actionId })
  const action = yield* viewAction(current ?? row, { nowMs })
  const said = action.resolution
  if (said && said.by.id === principal.id && said.outcome === outcome && said.note === note) return action
  const why = said ? `${said.by.name} said at ${said.at} that it ${said.outcome}` : `it is ${action.state}`
  throw new CountersignError('illegal_transition', `only an unknown outcome can be settled by a person, and of ${actionId} ${why}`, {
    action,
  })
}

/** While everything is held, what was under way before is of unknown outcome: nobody here is at it. */
function* orEnded(deps: GateDeps, context: GateContext, row: ActionRow): Tx<ActionRow> {
  if (row.state !== 'executing') return row
  const heldAt = yield* heldSince()
  if (heldAt === undefined || (row.released_at ?? 0) >= heldAt) return row
  yield* endAttempt(deps, context, row)
  return (yield* actions.findAction.first({ id: row.id })) ?? row
}

/** A person's word that nothing happened is a failure that may be tried again. They may be wrong, so its key stays: see `nextKey`. */
const settledBy = ({ by, outcome, note }: Resolution): Exclude<Settled, { to: 'outcome_unknown' }> =>
  outcome === 'succeeded'
    ? { to: 'succeeded', output: null, url: undefined }
    : failed('not_done', `${by.name} found that it was not carried out: ${note}`, true)

const sentenceOf = ({ by, outcome, note }: Resolution): string =>
  `was of unknown outcome. ${by.name} found that it was ${outcome === 'succeeded' ? '' : 'not '}carried out, and says: ${note}`
