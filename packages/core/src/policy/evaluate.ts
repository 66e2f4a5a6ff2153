import type { Effect } from '../ports/tool.ts'
import type { RiskLevel } from '../wire/action.ts'
import { durationMs } from '../wire/duration.ts'
import type { PolicyDocument, PolicyRule, Verdict } from './document.ts'
import { matchesGlob } from './glob.ts'
import { strictestAsked } from './strictest.ts'

/** A call as the plain conditions of a rule see it. */
export interface PolicySubject {
  tool: string
  group: string
  effect: Effect
  agent: string | undefined
  /** True for a tool that an agent registered for itself. */
  isRegistered?: boolean
  /** The tool's own risk. Default: low for a read, medium for a write. */
  risk?: RiskLevel
}

/** A condition that gave no answer: what it met, in words. */
export interface ConditionFailure {
  failed: string
}

/** Says whether the `when` of a rule is true of the call. */
export type CheckCondition = (rule: PolicyRule, index: number) => boolean | ConditionFailure

/** The approvals that an action needs before it may run. */
export interface Requirements {
  /** Approving votes. */
  quorum: number
  /** Declining votes that end it. */
  declineQuorum: number
  /** People with one of these roles may vote. */
  roles: string[]
  /** Where several answers were joined: a voter also needs one role of each of these lists. */
  alsoRoles?: string[][]
  /** True when the person on whose behalf it was proposed has no vote. */
  notRequester: boolean
  /** An ISO 8601 duration: how long an approved action waits before it starts. */
  grace?: string
}

export const DEFAULT_REQUIREMENTS: Requirements = { quorum: 1, declineQuorum: 1, roles: ['approver'], notRequester: false }

/** The policy's decision about one call. */
export interface PolicyResult {
  verdict: Verdict
  /** The rule that decided: the first with the winning verdict, or `default`. */
  rule: string
  /** Why, in a sentence for people. */
  reason: string
  /** The version of the policy that was asked. */
  version: number
  requires: Requirements
  /** The risk that the rule sets; without it, the tool's own risk applies. */
  risk?: RiskLevel
  /** How long people may take. */
  expiresMs?: number
  /** By how much one of them may extend that, once, as an ISO 8601 duration. Without it, not at all. */
  extend?: string
  /** When they are reminded. */
  remindMs?: number
  /** When the decision becomes that of `escalateTo` as well. */
  escalateMs?: number
  escalateTo?: string[]
  /** Reasons for a decline that the rule offers. Without them, those of the tool. */
  declineReasons?: string[]
}

/** A rule of the policy that speaks about the call, and how strongly. */
interface Match {
  rule: PolicyRule
  strength: number
  failed?: string
}

// An allowing rule whose condition failed asks, and no more than that: where another rule asks, that one says who and how many.
const STRENGTH = { allow: 0, doubt: 1, ask: 2, deny: 3 } as const

/**
 * Evaluates every rule: deny beats ask beats allow, and the first rule of the winning verdict names the requirements; no rule at all: the
 * default. A condition that fails makes nothing weaker: its rule counts as matching, an allowing one as asking. After an asking rule whose
 * condition failed, the next that asks counts as well: see {@link strictestAsked}.
 * @param check Answers the conditions; one that throws is a broken promise, not a failing condition.
 *
 * @example
 * evaluatePolicy(DEFAULT_POLICY, 1, { tool: 'getOrders', group: 'shop', effect: 'read', agent: 'desk' }, () => false).verdict // 'allow'
 */
export function evaluatePolicy(policy: PolicyDocument, version: number, subject: PolicySubject, check: CheckCondition): PolicyResult {
  let best: Match | undefined
  // Asking rules whose conditions failed: any of them, or the next asking rule, may be the first that matches.
  const unsure: Match[] = []
  for (const [index, rule] of policy.rules.entries()) {
    // A rule that cannot change the result is not evaluated.
    if (best && strongest(rule) <= best.strength) continue
    if (unsure.length > 0 && strongest(rule) < STRENGTH.ask) continue
    const found = matchOf(rule, index, subject, check)
    if (found?.failed !== undefined && rule.verdict === 'ask') unsure.push(found)
    else if (found && (!best || found.strength > best.strength)) best = found
  }
  const resultOf = (match: Match) => resultOfMatch(policy, version, match)
  if (best?.strength === STRENGTH.deny) return resultOf(best)
  if (unsure.length > 0) {
    const asking = best?.strength === STRENGTH.ask ? [...unsure, best] : unsure
    return strictestAsked(asking.map(resultOf), subject.risk ?? (subject.effect === 'read' ? 'low' : 'medium'))
  }
  return best ? resultOf(best) : byDefault(policy, version)
}

/** Stands in the reason of a verdict whose rule counted although its condition failed. */
export const NOT_EVALUATED = 'could not be evaluated'

function resultOfMatch(policy: PolicyDocument, version: number, { rule, strength, failed }: Match): PolicyResult {
  const verdict = strength === STRENGTH.doubt ? 'ask' : rule.verdict
  const said = rule.reason === undefined ? '' : `: ${rule.reason}`
  return {
    verdict,
    rule: rule.name,
    reason:
      failed === undefined
        ? `${SAYS[verdict](rule.name)}${said}`
        : `${DOUBTS[verdict](rule.name)}: its condition ${NOT_EVALUATED} (${failed})`,
    version,
    requires: { ...DEFAULT_REQUIREMENTS, ...rule.requires },
    ...(rule.risk !== undefined && { risk: rule.risk }),
    ...(verdict === 'ask' && expiryOf(rule.expires ?? policy.expires, rule.extend ?? policy.extend)),
    ...(rule.remind !== undefined && { remindMs: durationMs(rule.remind) }),
    ...(rule.escalate !== undefined && { escalateMs: durationMs(rule.escalate.after), escalateTo: rule.escalate.roles }),
    ...(verdict === 'ask' && rule.declineReasons !== undefined && { declineReasons: rule.declineReasons }),
  }
}

const SAYS = {
  allow: (rule: string) => `Allowed by the rule "${rule}"`,
  ask: (rule: string) => `The rule "${rule}" asks a person`,
  deny: (rule: string) => `Denied by the rule "${rule}"`,
}

const DOUBTS = { ...SAYS, ask: (rule: string) => `A person decides because of the rule "${rule}"` }

/** The time that people have for a decision, as a result names it. */
export const expiryOf = (expires: string | undefined, extend: string | undefined) => ({
  ...(expires !== undefined && { expiresMs: durationMs(expires) }),
  ...(extend !== undefined && { extend }),
})

const byDefault = ({ default: verdict, expires, extend }: PolicyDocument, version: number): PolicyResult => ({
  verdict,
  rule: 'default',
  reason: verdict === 'ask' ? 'No rule matches, so it needs approval' : 'No rule matches, so it is denied',
  version,
  requires: DEFAULT_REQUIREMENTS,
  ...(verdict === 'ask' && expiryOf(expires, extend)),
})

/**
 * True when `stricter` decides about every call of a tool that both rules are about, so that `rule` never does.
 * @param isEarlier It is written before.
 * @param covers Says whether every call that meets the second condition also meets the first, or fails in it. Default: nothing is known.
 */
export function overrules(
  stricter: PolicyRule,
  rule: PolicyRule,
  isEarlier: boolean,
  covers: (wide: string, narrow: string) => boolean = () => false,
): boolean {
  const { when, agent } = stricter.match
  // A glob that fits another glob as a text fits every name that the other one fits.
  if (agent !== undefined && (rule.match.agent === undefined || !matchesGlob(agent, rule.match.agent))) return false
  if (when !== undefined && (rule.match.when === undefined || !covers(when, rule.match.when))) return false
  const strength = STRENGTH[stricter.verdict]
  return isEarlier ? strength >= strongest(rule) : strength > strongest(rule)
}

/** How strongly a rule may speak about a call: one that allows under a condition asks where that fails, which is more than to allow. */
export const strongest = ({ verdict, match }: PolicyRule): number =>
  verdict === 'allow' && match.when !== undefined ? STRENGTH.doubt : STRENGTH[verdict]

function matchOf(rule: PolicyRule, index: number, subject: PolicySubject, check: CheckCondition): Match | undefined {
  if (!fits(rule, subject)) return undefined
  const answer = rule.match.when === undefined || check(rule, index)
  if (answer === false) return undefined
  if (answer === true) return { rule, strength: STRENGTH[rule.verdict] }
  return { rule, strength: rule.verdict === 'allow' ? STRENGTH.doubt : STRENGTH[rule.verdict], failed: answer.failed }
}

/** The group of all tools that agents registered: rules may name one as `registered.<name>`, also before it is registered. */
export const REGISTERED_GROUP = 'registered'

/**
 * True unless an allowing rule was written for other tools: an agent chooses the name of a tool that it registers, so a glob or a rule
 * without a tool must not allow it.
 */
const mayMeanRegistered = ({ verdict, match: { tool } }: PolicyRule): boolean =>
  verdict !== 'allow' || (tool !== undefined && (!tool.includes('*') || tool.startsWith(`${REGISTERED_GROUP}.`)))

function fits(rule: PolicyRule, subject: PolicySubject): boolean {
  const { agent } = rule.match
  if (agent !== undefined && (subject.agent === undefined || !matchesGlob(agent, subject.agent))) return false
  return meansTool(rule, subject)
}

/** True when a rule is about a tool, whatever it says of agents and arguments. */
export function meansTool(rule: PolicyRule, subject: Omit<PolicySubject, 'agent'>): boolean {
  const { match } = rule
  if (subject.isRegistered && !mayMeanRegistered(rule)) return false
  if (match.effect !== undefined && match.effect !== subject.effect) return false
  if (match.tool === undefined) return true
  return matchesGlob(match.tool, subject.tool) || matchesGlob(match.tool, `${subject.group}.${subject.tool}`)
}

/** Returns the result of one rule for a call. */
export interface RuleOpinion {
  rule: string
  verdict: Verdict
  matches: boolean
  /** Why its condition could not be evaluated; it counts as matching then. */
  failed?: string
}

/** Returns the result of each rule for a call, in their order, to explain a decision. */
export const explainPolicy = (policy: PolicyDocument, subject: PolicySubject, check: CheckCondition): RuleOpinion[] =>
  policy.rules.map((rule, index) => {
    const found = matchOf(rule, index, subject, check)
    const { name, verdict } = rule
    return { rule: name, verdict, matches: found !== undefined, ...(found?.failed !== undefined && { failed: found.failed }) }
  })
