import { type Action, assert, type Effect, type PolicyResult, type Tool } from '@countersign/core'
import type { Policies, PolicyCall } from '../policy/index.ts'
import { type ActionRow, policyVersions, principals, sessions, type Tx } from '../store/index.ts'
import type { GateParts } from './gate.ts'
import { isoTime } from './view.ts'

/** True when what was said is what the version in force says. To be asked in the transaction that acts on it. */
export function* isInForce(policies: Policies, ...said: readonly PolicyResult[]): Tx<boolean> {
  const { version } = yield* policies.inForce()
  return said.every((one) => one.version === version)
}

/** What an action's row keeps of it: which rule decided, and what time does meanwhile. Requirements and risk have columns of their own. */
export function policyText({ requires: _requires, risk: _risk, ...kept }: PolicyResult): string {
  return JSON.stringify(kept)
}

/** What it takes, and who is asked as well when nobody has decided for a while. */
export function requirementsText({ requires, escalateTo }: PolicyResult, escalateAt: number | null): string {
  const isAskedLater = escalateTo !== undefined && escalateAt !== null
  return JSON.stringify({ ...requires, ...(isAskedLater && { escalation: { at: isoTime(escalateAt), roles: escalateTo, isDone: false } }) })
}

/** Unknown is medium, never low; only a read is low. */
const RISK = {
  read: { level: 'low', reasons: ['reads only'], setBy: 'tool' },
  write: { level: 'medium', reasons: ['changes data'], setBy: 'unverified' },
} as const

/** The risk that people are shown: the rule's where it names one, higher or lower than what is known of the tool. */
export function riskOf(effect: Effect, { risk, rule }: Pick<PolicyResult, 'risk' | 'rule'>): Action['risk'] {
  const { level, reasons, setBy } = RISK[effect]
  if (risk === undefined) return { level, reasons: [...reasons], setBy }
  return { level: risk, reasons: [`the rule "${rule}" says ${risk}`, ...reasons], setBy: 'policy' }
}

/** Keeps what the version that is tried would have said about an action. */
export const noteDifference = (actionId: string, policy: PolicyResult, shadow: PolicyResult): Tx<void> =>
  policyVersions.insertDifference.run({
    shadow: shadow.version,
    action_id: actionId,
    in_force: policy.version,
    was: policy.verdict,
    would_be: shadow.verdict,
    said: JSON.stringify(shadow),
  })

/** What the version in force now says about a call. In the transaction that starts it. */
export function* evaluateAgain({ policies }: Pick<GateParts, 'policies'>, call: PolicyCall): Tx<PolicyResult> {
  return (yield* policies.inForce()).evaluate(call)
}

/** An action that was stored before as a call, with its requester and session as they are now. */
export function* callOf(
  row: Pick<ActionRow, 'arguments' | 'agent' | 'session_id' | 'requested_by'>,
  tool: Tool,
  nowMs: number,
): Tx<PolicyCall> {
  const requester = yield* principals.findPrincipal.first({ id: row.requested_by })
  assert(requester, 'who asked for an action is in the table that it refers to')
  const session = row.session_id === null ? undefined : yield* sessions.findSession.first({ id: row.session_id })
  return {
    tool,
    arguments: JSON.parse(row.arguments),
    agent: row.agent ?? undefined,
    session: session ?? null,
    requester: principals.readPrincipal(requester),
    nowMs,
  }
}
