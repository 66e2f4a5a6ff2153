import * as record from '../packages/server/src/audit/record.ts'
import * as stillDecided from '../packages/server/src/gate/decide/approval-validity.ts'
import * as looking from '../packages/server/src/gate/execute/revalidate.ts'
import * as policy from '../packages/server/src/gate/policy.ts'
import * as digest from '../packages/server/src/gate/propose/digest.ts'
import * as said from '../packages/server/src/gate/propose/prior-verdicts.ts'
import * as policies from '../packages/server/src/policy/policies.ts'

/**
 * The parts that the current cycle omits. The server knows nothing of it: `cost-hooks.ts` has these functions called in
 * place of its own, in the process of this benchmark only.
 */
export const without = { audit: false, policy: false, digest: false }

export type Part = keyof typeof without

// Audit: no row of the record, so nothing to seal either.

export function* append(...given: Parameters<typeof record.append>): ReturnType<typeof record.append> {
  return without.audit ? given[1] : yield* record.append(...given)
}

export function* appendToScope(...given: Parameters<typeof record.appendToScope>): ReturnType<typeof record.appendToScope> {
  if (!without.audit) yield* record.appendToScope(...given)
}

// Policy: neither asked when a call is proposed nor again when it starts, nor what people said of such a call before.

let first: policies.PolicyOpinion | undefined

/** Without policy: what was said about the first call, and all calls are alike. */
export function askPolicies(...given: Parameters<typeof policies.askPolicies>): policies.PolicyOpinion {
  first ??= policies.askPolicies(...given)
  return without.policy ? first : policies.askPolicies(...given)
}

export function* isInForce(...given: Parameters<typeof policy.isInForce>): ReturnType<typeof policy.isInForce> {
  return without.policy || (yield* policy.isInForce(...given))
}

export function* priorVerdicts(...given: Parameters<typeof said.priorVerdicts>): ReturnType<typeof said.priorVerdicts> {
  return without.policy ? { declined: false, granted: false } : yield* said.priorVerdicts(...given)
}

export function* approvalInvalidReason(
  ...given: Parameters<typeof stillDecided.approvalInvalidReason>
): ReturnType<typeof stillDecided.approvalInvalidReason> {
  return without.policy ? undefined : yield* stillDecided.approvalInvalidReason(...given)
}

// Digest: neither computed when a call is proposed nor again before it is sent, nor is the target read again in between.

const NO_DIGEST = `sha256:${'0'.repeat(64)}`

export function digestOf(...given: Parameters<typeof digest.digestOf>): string {
  return without.digest ? NO_DIGEST : digest.digestOf(...given)
}

export function preconditionOf(...given: Parameters<typeof digest.preconditionOf>): string {
  return without.digest ? NO_DIGEST : digest.preconditionOf(...given)
}

export async function revalidate(...given: Parameters<typeof looking.revalidate>): ReturnType<typeof looking.revalidate> {
  return without.digest ? { to: 'start', version: null } : looking.revalidate(...given)
}
