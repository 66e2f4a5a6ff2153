import { PolicyDocument, type PolicyResult } from '@countersign/core'
import { policyVersions, type Store, type Tx } from '../store/index.ts'
import { type CompiledPolicy, compilePolicy } from './compile.ts'
import { type AskedCall, evaluateForAll } from './for-all.ts'

/** The results of both versions for a call. */
export interface PolicyOpinion {
  said: PolicyResult
  /** The result of the version on trial, where it differs. */
  shadow?: PolicyResult
}

/** The policy as the gate uses it. */
export interface Policies {
  /** The version in force at the last check of this process. Its result counts only once a transaction has confirmed the version. */
  readonly current: CompiledPolicy
  /** The version on trial, if there is one. */
  readonly shadow: CompiledPolicy | undefined
  /** Returns the version in force as the transaction sees it. */
  inForce(): Tx<CompiledPolicy>
}

type VersionInUse = Pick<CompiledPolicy, 'version' | 'digest'>

const isSame = (one: VersionInUse | undefined, number: number, digest: string): one is VersionInUse =>
  one?.version === number && one.digest === digest

/**
 * Opens the policy of a database that has one: see `seedPolicy`. Each process caches the compiled version and checks, in every transaction
 * that acts on it, whether it is still in force: one row by an index, and no notification that could be late.
 */
export async function openPolicies(store: Store): Promise<Policies> {
  let current: CompiledPolicy | undefined
  let shadow: CompiledPolicy | undefined

  function* load(number: number): Tx<CompiledPolicy> {
    const row = yield* policyVersions.findVersion.first({ number })
    if (!row) throw new Error(`version ${number} of the policy is in use and not in the database`)
    return compilePolicy(PolicyDocument.parse(JSON.parse(row.document)), number)
  }

  function* inForce(): Tx<CompiledPolicy> {
    const rows = yield* policyVersions.inUse.all({})
    const force = rows.find(({ in_use }) => in_use === 'force')
    if (!force) throw new Error('no version of the policy is in force')
    // Compared by digest too: a version that this process saw in a transaction that was rolled back may have left its number to another.
    if (!isSame(current, force.number, force.digest)) current = yield* load(force.number)
    const tried = rows.find(({ in_use }) => in_use === 'shadow')
    if (!tried) shadow = undefined
    else if (!isSame(shadow, tried.number, tried.digest)) shadow = yield* load(tried.number)
    return current
  }

  const opened = await store.read(inForce)
  return {
    get current() {
      return current ?? opened
    },
    get shadow() {
      return shadow
    },
    inForce,
  }
}

/** Returns a policy that never changes. */
export const fixedPolicies = (policy: CompiledPolicy): Policies => ({
  current: policy,
  shadow: undefined,
  // biome-ignore lint/correctness/useYield: nothing to ask the database
  *inForce() {
    return policy
  },
})

/** Evaluates the version in force and the one on trial. */
export function askPolicies({ current, shadow }: Policies, call: AskedCall): PolicyOpinion {
  const said = evaluateForAll(current, call)
  const other = shadow && evaluateForAll(shadow, call)
  return other && isOther(said, other) ? { said, shadow: other } : { said }
}

/** Leaves out reasons, names and positions of rules: they make no difference for a waiting action. */
const outcomeOf = ({ rule: _rule, reason: _reason, version: _version, ...outcome }: PolicyResult): string => JSON.stringify(outcome)

const isOther = (one: PolicyResult, other: PolicyResult): boolean => outcomeOf(one) !== outcomeOf(other)
