import type { Action, JsonObject, PolicyResult, Tool, ToolView } from '@countersign/core'
import { type AskedCall, agentOf, type Policies } from '../policy/index.ts'
import { type ActionRow, policyVersions, type SessionRow, sessions, stored, type Tx } from '../store/index.ts'
import { requestersOf } from './decide/requesters.ts'
import { isoTime } from './read/view.ts'

/** True when what was said is what the version in force says. To be asked in the transaction that acts on it. */
export function* isInForce(policies: Policies, ...said: readonly PolicyResult[]): Tx<boolean> {
  const { version } = yield* policies.inForce()
  return said.every((one) => one.version === version)
}

/**
 * The part of a decision that an action's row keeps: the rule that decided, its timers, and the reasons for a decline that the rule or the
 * tool offers. Requirements and risk have columns of their own.
 */
export function policyText({ requires: _requires, risk: _risk, ...kept }: PolicyResult, tool: Pick<Tool, 'declineReasons'>): string {
  const declineReasons = kept.declineReasons ?? tool.declineReasons
  const text = { ...kept, ...(kept.verdict === 'ask' && declineReasons && { declineReasons }) }
  return JSON.stringify(text, (_, member) => (typeof member === 'string' ? ofJsonb(member) : member))
}

/**
 * Indexes read risk and policy of an action as `jsonb`, which Postgres refuses with a NUL in a text or half of a surrogate pair: such an action
 * could never settle. Their words may repeat what an agent or a person wrote.
 */
const ofJsonb = (text: string): string => text.toWellFormed().replaceAll('\0', '\u{fffd}')

/** The requirements, and the people who are added when nobody has decided for a while. */
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
export function riskOf(
  tool: Pick<Tool, 'effect' | 'risk' | 'assess'>,
  policy: Pick<PolicyResult, 'risk' | 'rule'>,
  args: JsonObject,
): Action['risk'] {
  const { reasons, ...rest } = knownRisk(tool, policy, args)
  return { ...rest, reasons: reasons.map(ofJsonb) }
}

function knownRisk(
  tool: Pick<Tool, 'effect' | 'risk' | 'assess'>,
  { risk, rule }: Pick<PolicyResult, 'risk' | 'rule'>,
  args: JsonObject,
): Action['risk'] {
  const { effect, risk: own } = tool
  const { level, reasons, setBy } = RISK[effect]
  if (risk === undefined && tool.assess) return { ...tool.assess(args), setBy: 'tool' }
  if (risk === undefined && own) return { level: own.level, reasons: [own.reason, ...reasons], setBy: own.isGuess ? 'unverified' : 'tool' }
  if (risk === undefined) return { level, reasons: [...reasons], setBy }
  return { level: risk, reasons: [`the rule "${rule}" says ${risk}`, ...reasons], setBy: 'policy' }
}

/** The risk of a tool's calls before any rule, for a list of tools. */
export function usualRisk({ effect, risk, assess }: Pick<Tool, 'effect' | 'risk' | 'assess'>): ToolView['risk'] {
  const { level, reasons } = RISK[effect]
  if (assess && !risk) return { level, reason: 'it depends on the arguments of the call', isGuess: true }
  return risk ?? { level, reason: reasons.join(', '), isGuess: true }
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

type StoredCall = Pick<ActionRow, 'arguments' | 'agent' | 'agent_verified' | 'session_id' | 'requested_by' | 'requesters' | 'edited_by'>

/** An action that was stored before as a call, with those who asked for it and its session as they are now. */
export function* callOf(row: StoredCall, tool: Tool, nowMs: number): Tx<AskedCall> {
  const requesters = yield* requestersOf(row)
  return callBy(row, { tool, requesters, session: yield* sessionOf(row), nowMs })
}

/** The same for who has read them. */
export const callBy = (row: StoredCall, now: Pick<AskedCall, 'tool' | 'requesters' | 'session' | 'nowMs'>): AskedCall => ({
  ...now,
  arguments: stored.sharedArgumentsOf(row),
  ...agentOf(row),
})

/** The session of an action; null for one without. @param opened Where it was read already. */
export function* sessionOf({ session_id: id }: Pick<ActionRow, 'session_id'>, opened?: SessionRow): Tx<SessionRow | null> {
  if (id === null) return null
  return opened ?? (yield* sessions.findSession.first({ id })) ?? null
}
