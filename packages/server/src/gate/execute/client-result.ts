import {
  type Action,
  type ClientResultBody,
  CountersignError,
  canonicalJson,
  type JsonObject,
  type JsonValue,
  type Tool,
} from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, stored, type Tx } from '../../store/index.ts'
import { type Caller, requireScope, requireUnarchived } from '../caller.ts'
import type { CallerContext, GateContext } from '../context.ts'
import type { GateDeps } from '../gate.ts'
import { viewAction } from '../read/view.ts'
import { findVisibleAction } from '../read/visible.ts'
import { transactOnce } from '../transact-once.ts'
import { failed, notDone, type Settled, succeeded } from './attempt.ts'
import { settle, settleUnknown } from './settle.ts'
import { noteOfResult } from './tool-result.ts'

/** Why the outcome is unknown of what a client claimed and was not heard of again. */
const NOT_HEARD_OF = 'The client that was to carry this out did not say what came of it.'

/**
 * Takes a client's result for the action that it claimed, by compare-and-set on the epoch of the claim: a result for an earlier claim is
 * refused and writes nothing. A result after the end of the claim is accepted unless another outcome was recorded.
 * @throws CountersignError `not_found`; `forbidden` for anybody but the client that claimed it; `illegal_transition` with the current
 * action.
 */
export async function takeClientResult(deps: GateDeps, actionId: string, body: ClientResultBody, caller: Caller): Promise<Action> {
  checkpoint('result.before_store')
  const action = await transactOnce(deps, caller, (context) => takeResult(deps, context, actionId, body))
  checkpoint('result.after_store')
  return action
}

function* takeResult(deps: GateDeps, context: CallerContext, actionId: string, body: ClientResultBody): Tx<Action> {
  const { caller, nowMs } = context
  const { principal } = caller
  const row = yield* findClaimed(actionId, principal, nowMs)
  const settled = readResult(deps, row, body)
  if (body.epoch === row.epoch) {
    checkpoint('result.storing')
    if (row.state === 'executing') yield* settle(deps, context, row, settled)
    else if (row.state === 'outcome_unknown' && settled.to !== 'outcome_unknown') {
      const ended = settled.to === 'succeeded' ? `was carried out. ${noteOfResult(settled.output)}` : `failed: ${settled.error.message}`
      const sentence = `was of unknown outcome. Its client says now that it ${ended}`
      yield* settleUnknown(context, row, { settled, resolution: null, sentence, cause: { kind: settled.to, by: caller } })
    }
  }
  const current = (yield* actions.findAction.first({ id: actionId })) ?? row
  const action = yield* viewAction(current, { nowMs })
  if (body.epoch === current.epoch && isThis(current, settled)) return action
  const why = body.epoch === row.epoch ? `it is ${current.state}` : `this is the result of hold ${body.epoch}, the last one is ${row.epoch}`
  throw new CountersignError('illegal_transition', `the result of action ${actionId} is not taken: ${why}`, { action })
}

function* findClaimed(actionId: string, principal: Caller['principal'], nowMs: number): Tx<ActionRow> {
  const row = yield* findVisibleAction(principal, actionId, nowMs)
  if (row.claimed_by === null) {
    throw new CountersignError('illegal_transition', `no client has claimed action ${actionId}`, {
      action: yield* viewAction(row, { nowMs }),
    })
  }
  requireUnarchived(row)
  if (row.claimed_by !== principal.id) throw new CountersignError('forbidden', `action ${actionId} was claimed by somebody else`)
  // A key that may not execute actions cannot report a result either.
  requireScope(principal, ['propose', 'decide'], 'carry anything out')
  return row
}

/** Converts a client's result to the end of an attempt. */
function readResult(deps: GateDeps, row: ActionRow, body: ClientResultBody): Settled {
  if ('error' in body) return readClientError(deps, row, body.error)
  const tool = deps.tools.byName(row.tool)
  const args: JsonObject = stored.argumentsOf(row)
  // The tool may have been removed since the claim. The result still counts.
  return tool ? succeeded(deps, tool, args, body.output) : { to: 'succeeded', output: body.output, url: undefined }
}

type ClientError = Extract<ClientResultBody, { error: unknown }>['error']

function readClientError(deps: GateDeps, row: ActionRow, { kind, message, retryable = kind !== 'refused' }: ClientError): Settled {
  const tool = deps.tools.byName(row.tool)
  const isLost = kind === 'ambiguous' && row.effect === 'write'
  const sent = isFirstReport(row) ? { ...row, in_doubt: 0 } : row
  return endAtClient(tool, isLost ? { to: 'lost', kind, message } : notDone(sent, tool, failed(kind, message, retryable)))
}

/** The end of what a client carries out: the server sends nothing for it; a tool that can look may still be asked. */
export function endAtClient(tool: Tool | undefined, ended: ReturnType<typeof notDone>): Settled & { to: 'failed' | 'outcome_unknown' } {
  if (ended.to !== 'lost') return ended
  return { to: 'outcome_unknown', error: { kind: ended.kind, message: ended.message, retryable: tool?.verify !== undefined } }
}

/** True where only one client ever had the action, and its outcome is in doubt for no other reason than that it has not reported yet. */
function isFirstReport(row: ActionRow): boolean {
  if (row.attempt > 1) return false
  return row.state !== 'outcome_unknown' || stored.errorOf(row)?.message === NOT_HEARD_OF
}

/** Ends the hold of a client that let it run out: what came of the action is not known. False when it is not that hold any more. */
export function* endHold(deps: GateDeps, context: GateContext, due: Pick<ActionRow, 'id' | 'due_at'>): Tx<boolean> {
  const row = yield* actions.findAction.first({ id: due.id })
  if (row?.state !== 'executing' || row.executor !== 'client' || row.due_at !== due.due_at) return false
  checkpoint('hold.ending')
  return yield* settle(deps, context, row, readClientError(deps, row, { kind: 'ambiguous', message: NOT_HEARD_OF }))
}

/** True when the action ended as this result says: the same result once more. */
function isThis({ state, result, error }: ActionRow, settled: Settled): boolean {
  if (state !== settled.to) return false
  const [is, said] = settled.to === 'succeeded' ? [result, settled.output] : [error, settled.error]
  return is !== null && canonicalJson(JSON.parse(is)) === canonicalJson(said as JsonValue)
}
