import { type PolicyResult, type Principal, type RiskLevel, strictestResult, type Tool } from '@countersign/core'
import type { CompiledPolicy } from './compile.ts'
import type { PolicyCall } from './facts.ts'
import { isTrueOf } from './is-true-of.ts'

/** Who asked for a call. What policy allows because of who somebody is, it does not allow any more once they are disabled. */
export interface Requester extends Principal {
  readonly isDisabled?: boolean
}

/** A call with everybody whose words led to it. */
export interface AskedCall extends Omit<PolicyCall, 'requester'> {
  tool: PolicyCall['tool'] & Pick<Tool, 'risk'>
  /** One at least; the order makes no difference. */
  requesters: readonly Requester[]
  /** The agent's name, where it is proven: by the server, which runs it, or by the key of the caller. */
  agent: string | undefined
  /** What the caller says that it is called, where nothing proves it. */
  claimedAgent: string | undefined
}

/** What is known of a tool's risk where no rule names one. */
const ownRiskOf = ({ effect, risk }: Pick<Tool, 'effect' | 'risk'>): RiskLevel => risk?.level ?? (effect === 'read' ? 'low' : 'medium')

/**
 * What a policy says of a call: the strictest of what it says for each of those who asked, and where the agent's name is not proven, for a
 * call under that name and for one under none. So neither another author nor a name that somebody gives themselves makes it looser.
 */
export function evaluateForAll(policy: Pick<CompiledPolicy, 'evaluate'>, call: AskedCall): PolicyResult {
  const results = callsOf(call).map((one) => policy.evaluate(one))
  return strictestResult(results, ownRiskOf(call.tool))
}

/** True when a condition is true of a call whoever of those who asked is taken for its requester. */
export const isTrueForAll = (condition: string, call: AskedCall): boolean => callsOf(call).every((one) => isTrueOf(condition, one))

function callsOf({ requesters, agent, claimedAgent, ...call }: AskedCall): PolicyCall[] {
  if (requesters.length === 0) throw new Error('somebody asked for the call')
  const names = claimedAgent === undefined ? [agent] : [undefined, claimedAgent]
  return requesters.flatMap(facesOf).flatMap((requester) => names.map((name) => ({ ...call, requester, agent: name })))
}

/** As whom a requester is judged: somebody who is disabled as themselves, for what is refused them, and as nobody, for what is allowed. */
function facesOf({ isDisabled, ...requester }: Requester): Principal[] {
  return isDisabled ? [requester, { id: '', kind: requester.kind, name: '', roles: [] }] : [requester]
}
