import type { Tx } from '../store/index.ts'
import type { CompiledPolicy } from './compile.ts'

/** The policy as the gate asks for it. */
export interface Policies {
  /** The version that was in force when this process last looked. What it says stands only once a transaction has seen it in force. */
  readonly current: CompiledPolicy
  /** The version in force as the transaction sees it. */
  inForce(): Tx<CompiledPolicy>
}

/** One policy that nobody changes. */
export const fixedPolicies = (policy: CompiledPolicy): Policies => ({
  current: policy,
  // biome-ignore lint/correctness/useYield: nothing to ask the database
  *inForce() {
    return policy
  },
})
