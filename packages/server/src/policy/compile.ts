import { createHash } from 'node:crypto'
import { assert, canonicalJson, evaluatePolicy, type PolicyDocument, type PolicyResult } from '@countersign/core'
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
  return {
    version,
    document,
    digest: digestPolicy(document),
    evaluate(call) {
      const facts = new Facts(call)
      const meter = new Meter()
      const { name: tool, group, effect } = call.tool
      return evaluatePolicy(document, version, { tool, group, effect, agent: call.agent }, (_rule, index) => {
        const condition = conditions[index]
        assert(condition, 'only a rule with a condition is asked for it')
        return condition(facts, meter)
      })
    },
  }
}
