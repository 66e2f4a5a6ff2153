import { type PolicyResult, type Principal, type RiskLevel, strictestResult, type Tool } from '@countersign/core'
import type { CompiledPolicy } from './compile.ts'
import type { PolicyCall } from './facts.ts'
import { isTrueOf } from './is-true-of.ts'

/** A person or agent behind a call. Once they are disabled, the policy no longer allows anything because of who they are. */
export interface Requester extends Principal {
  readonly isDisabled?: boolean
}

/** A call with all authors whose messages led to it. */
export interface AskedCall extends Omit<PolicyCall, 'requester'> {
  /** At least one; the order makes no difference. */
  requesters: readonly Requester[]
  /** The agent's name where it is proven: by the server, which runs it, or by the key of the caller. */
  agent: string | undefined
  /** The name that the caller claims, where nothing proves it. */
  claimedAgent: string | undefined
}

/** Returns the known risk of a tool when no rule sets one. */
const ownRiskOf = ({ effect, risk }: Pick<Tool, 'effect' | 'risk'>): RiskLevel => risk?.level ?? (effect === 'read' ? 'low' : 'medium')

/**
 * Evaluates a policy for a call: the strictest of the results for each of its requesters, and where the agent's name is not proven, for a
 * call under that name and for one under none. So neither another author nor a claimed name makes the result more permissive.
 */
export function evaluateForAll(policy: Pick<CompiledPolicy, 'evaluate'>, call: AskedCall): PolicyResult {
  const results = callsOf(call).map((one) => policy.evaluate(one))
  return strictestResult(results, ownRiskOf(call.tool))
}

/** Returns true when a condition is true of a call for every one of its requesters. */
export const isTrueForAll = (condition: string, call: AskedCall): boolean => callsOf(call).every((one) => isTrueOf(condition, one))

function callsOf({ requesters, agent, claimedAgent, ...call }: AskedCall): PolicyCall[] {
  if (requesters.length === 0) throw new Error('a call needs at least one requester')
  const names = claimedAgent === undefined ? [agent] : [undefined, claimedAgent]
  return requesters.flatMap(facesOf).flatMap((requester) => names.map((name) => ({ ...call, requester, agent: name })))
}

/**
 * Returns the identities under which a requester is evaluated: a disabled one as themselves, for what is denied to them, and as nobody, for
 * what is allowed.
 */
function facesOf({ isDisabled, ...requester }: Requester): Principal[] {
  return isDisabled ? [requester, { id: '', kind: requester.kind, name: '', roles: [] }] : [requester]
}
