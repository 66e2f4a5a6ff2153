import type { Caller } from '../gate/index.ts'
import type { HttpDeps } from '../http/app.ts'
import { findCall, type GateCall, onceKeyOf, requireProposal } from './find-call.ts'
import type { Holders } from './holders.ts'

interface Deps extends Pick<HttpDeps, 'store' | 'gate'> {
  holders: Holders
}

/**
 * Returns the action of this call: the one that an earlier hook made for it, one that is parked, or a new one.
 * @throws CountersignError for a call that has none and cannot be proposed.
 */
export async function proposeOnce(deps: Deps, call: GateCall, caller: Omit<Caller, 'once'>): Promise<{ id: string; isParked: boolean }> {
  const { principal } = caller
  const found = await findCall(deps.store, call, principal.id, deps.holders.isHeld)
  if (found) return { id: found.row.id, isParked: found.isParked }
  const proposal = requireProposal(call)
  const { run, callId: toolCallId, reason } = call
  const { tool, args } = proposal
  const once = onceKeyOf(call, proposal, principal.id)
  const { id } = await deps.gate.propose(
    { tool: tool.name, arguments: args, context: { run, ...(reason !== undefined && { reason }) }, toolCallId },
    { ...caller, once },
  )
  return { id, isParked: false }
}
