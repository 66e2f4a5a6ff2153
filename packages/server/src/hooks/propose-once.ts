import type { Caller } from '../gate/index.ts'
import type { HttpDeps } from '../http/app.ts'
import { findCall, type GateCall, onceKeyOf, requireProposal } from './find-call.ts'
import type { Holders } from './holders.ts'

interface Deps extends Pick<HttpDeps, 'store' | 'gate'> {
  holders: Holders
}

export interface ProposedCall {
  id: string
  /**
   * True when an attempt that runs by the time of the answer may be this call: an earlier hook of the same call has it. A call without an id
   * may be only what ran already when its hook came: what begins while it waits was claimed by another call, perhaps at another process.
   */
  mayRun: boolean
}

/**
 * Returns the action of this call: the one that an earlier hook made for it, one that is parked, or a new one.
 * @throws CountersignError for a call that has none and cannot be proposed.
 */
export async function proposeOnce(deps: Deps, call: GateCall, caller: Omit<Caller, 'once'>): Promise<ProposedCall> {
  const { principal } = caller
  const found = await findCall(deps.store, call, principal.id, deps.holders.isHeld)
  const hasId = call.callId !== undefined
  if (found) return { id: found.row.id, mayRun: hasId ? !found.isParked : found.row.state === 'executing' }
  const proposal = requireProposal(call)
  const { run, callId: toolCallId, reason } = call
  const { tool, args } = proposal
  const once = onceKeyOf(call, proposal, principal.id)
  const { id } = await deps.gate.propose(
    { tool: tool.name, arguments: args, context: { run, ...(reason !== undefined && { reason }) }, toolCallId },
    { ...caller, once },
  )
  return { id, mayRun: hasId }
}
