import { createHash } from 'node:crypto'
import {
  assert,
  type CheckCondition,
  canonicalJson,
  evaluatePolicy,
  expiryOf,
  explainPolicy,
  type PolicyDocument,
  type PolicyResult,
  type PolicySubject,
  type RuleOpinion,
} from '@countersign/core'
import { type Condition, readCondition } from './condition.ts'
import { Facts, type PolicyCall } from './facts.ts'
import { Meter } from './meter.ts'

/** A version of the policy, ready for evaluation. */
export interface CompiledPolicy {
  readonly version: number
  readonly document: PolicyDocument
  /** SHA-256 (hex) over the document's canonical JSON. */
  readonly digest: string
  /** Returns its verdict on a call. Never throws for any content of the call: a condition that fails makes no rule weaker. */
  evaluate(call: PolicyCall): PolicyResult
  /** Returns how each of its rules evaluates for a call. */
  explain(call: PolicyCall): RuleOpinion[]
}

export const digestPolicy = (document: PolicyDocument): string => createHash('sha256').update(canonicalJson(document)).digest('hex')

/** Compiles a document whose conditions were checked before: {@link findPolicyProblems}. */
export function compilePolicy(document: PolicyDocument, version: number): CompiledPolicy {
  const conditions = document.rules.map(({ name, match }): Condition | undefined => {
    if (match.when === undefined) return undefined
    const read = readCondition(match.when)
    // A condition written by a newer version may be unreadable here: then the rule asks, or denies, and gives that reason.
    return 'condition' in read ? read.condition : () => ({ failed: `the condition of "${name}" cannot be read here: ${read.problem}` })
  })
  const checkFor = (call: PolicyCall): CheckCondition => {
    const facts = new Facts(call)
    const meter = new Meter()
    return (_rule, index) => {
      const condition = conditions[index]
      assert(condition, 'only a rule with a condition is asked for it')
      return condition(facts, meter)
    }
  }
  return {
    version,
    document,
    digest: digestPolicy(document),
    evaluate: (call) => withCaution(document, call.tool, evaluatePolicy(document, version, subjectOf(call), checkFor(call))),
    explain: (call) => explainPolicy(document, subjectOf(call), checkFor(call)),
  }
}

/** The rule name of an action that needs approval because its tool has changed. */
const CAUTION = 'changed tool'

/** Requires approval for an allowed call when its tool differs from the one that people reviewed. */
const withCaution = ({ expires, extend }: PolicyDocument, { caution }: PolicyCall['tool'], said: PolicyResult): PolicyResult => {
  if (caution === undefined || said.verdict === 'deny') return said
  // A rule that allows has no time for people: that of the document counts.
  const asked = said.verdict === 'allow' && { rule: CAUTION, ...expiryOf(expires, extend) }
  return { ...said, verdict: 'ask', reason: caution, ...asked }
}

const subjectOf = ({ tool: { name, group, effect, registered, risk }, agent }: PolicyCall): PolicySubject => ({
  ...{ tool: name, group, effect, agent },
  isRegistered: registered !== undefined,
  ...(risk && { risk: risk.level }),
})
