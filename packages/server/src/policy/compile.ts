import { createHash } from 'node:crypto'
import {
  assert,
  type CheckCondition,
  canonicalJson,
  evaluatePolicy,
  explainPolicy,
  type PolicyDocument,
  type PolicyResult,
  type PolicySubject,
  type RuleOpinion,
} from '@countersign/core'
import { type Condition, readCondition } from './condition.ts'
import { Facts, type PolicyCall } from './facts.ts'
import { Meter } from './meter.ts'

/** A version of the policy, ready to be asked. */
export interface CompiledPolicy {
  readonly version: number
  readonly document: PolicyDocument
  /** SHA-256 (hex) over the document's canonical JSON. */
  readonly digest: string
  /** What it says about a call. Never throws for what the call holds: a condition that fails makes nothing weaker. */
  evaluate(call: PolicyCall): PolicyResult
  /** What each of its rules makes of a call. */
  explain(call: PolicyCall): RuleOpinion[]
}

export const digestPolicy = (document: PolicyDocument): string => createHash('sha256').update(canonicalJson(document)).digest('hex')

/** Compiles a document whose conditions were checked before: {@link findPolicyProblems}. */
export function compilePolicy(document: PolicyDocument, version: number): CompiledPolicy {
  const conditions = document.rules.map(({ name, match }): Condition | undefined => {
    if (match.when === undefined) return undefined
    const read = readCondition(match.when)
    // What was written by a version that knew more than this one: it asks, or refuses, and says so.
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
    evaluate: (call) => withCaution(call.tool, evaluatePolicy(document, version, subjectOf(call), checkFor(call))),
    explain: (call) => explainPolicy(document, subjectOf(call), checkFor(call)),
  }
}

/** The rule that an action names which was asked about for its tool's sake. */
const CAUTION = 'changed tool'

/** What policy allows of a tool that is not the one people know is asked nevertheless. */
const withCaution = ({ caution }: PolicyCall['tool'], said: PolicyResult): PolicyResult => {
  if (caution === undefined || said.verdict === 'deny') return said
  return { ...said, verdict: 'ask', reason: caution, ...(said.verdict === 'allow' && { rule: CAUTION }) }
}

const subjectOf = ({ tool: { name, group, effect }, agent }: PolicyCall): PolicySubject => ({ tool: name, group, effect, agent })
