import { isCountersignError, type JsonObject } from '@countersign/core'
import { type Caller, viewAction } from '../../gate/index.ts'
import { actions, type SessionRow } from '../../store/index.ts'
import type { HttpDeps } from '../app.ts'
import { readApprovalId } from './approval-id.ts'

/** A decision that a client asks for. */
export interface AskedDecision {
  approvalId: string
  approved: boolean
  reason: string | undefined
  /** With an approval: these arguments in place of all. */
  arguments?: JsonObject
}

/** Refusals that say no more than that the decision came too late: the stream shows what was decided. */
const TOO_LATE: ReadonlySet<string> = new Set(['already_decided', 'illegal_transition'])

/**
 * Takes decisions of a conversation for the person who is signed in, each on its own. An approval that somebody made up, or of another
 * conversation, decides nothing.
 * @returns Why one was refused; undefined when none was.
 */
export async function decideAll(
  { store, clock, gate }: Pick<HttpDeps, 'store' | 'clock' | 'gate'>,
  session: SessionRow,
  decisions: readonly AskedDecision[],
  caller: Caller,
): Promise<string | undefined> {
  let refusal: string | undefined
  for (const { approvalId, approved, reason, arguments: args } of decisions) {
    const { actionId, revision } = readApprovalId(approvalId)
    const action = await store.read(function* () {
      const row = yield* actions.findAction.first({ id: actionId })
      return row?.session_id === session.id ? yield* viewAction(row, { nowMs: clock.nowMs() }) : undefined
    })
    if (!action) refusal ??= `there is no approval ${approvalId.slice(0, 100)} in this conversation`
    if (action?.state !== 'proposed') continue
    if (action.revision !== revision) {
      refusal ??= `action ${actionId} changed since it was shown: look at it again`
      continue
    }
    const { once: _, ...by } = caller
    const body = { verdict: approved ? 'approve' : 'decline', revision, digest: action.digest, reason } as const
    try {
      await gate.decide(actionId, { ...body, ...(approved && args && { arguments: args }) }, by)
    } catch (error) {
      if (!isCountersignError(error)) throw error
      if (!TOO_LATE.has(error.code)) refusal ??= error.message
    }
  }
  return refusal
}
