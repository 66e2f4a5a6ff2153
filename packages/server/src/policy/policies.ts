import { PolicyDocument, type PolicyResult } from '@countersign/core'
import { policyVersions, type Store, type Tx } from '../store/index.ts'
import { type CompiledPolicy, compilePolicy } from './compile.ts'
import { type AskedCall, evaluateForAll } from './for-all.ts'

/** What both versions say about a call. */
export interface PolicyOpinion {
  said: PolicyResult
  /** What the version that is tried says, where it says something else. */
  shadow?: PolicyResult
}

/** The policy as the gate asks for it. */
export interface Policies {
  /** The version that was in force when this process last looked. What it says stands only once a transaction has seen it in force. */
  readonly current: CompiledPolicy
  /** The version that is tried beside it, if one is. */
  readonly shadow: CompiledPolicy | undefined
  /** The version in force as the transaction sees it. */
  inForce(): Tx<CompiledPolicy>
}

type VersionInUse = Pick<CompiledPolicy, 'version' | 'digest'>

const isSame = (one: VersionInUse | undefined, number: number, digest: string): one is VersionInUse =>
  one?.version === number && one.digest === digest

/**
 * Opens the policy of a database that has one: see `seedPolicy`. Each process keeps the compiled version and asks, in every transaction that
 * acts on it, whether it is still the one in force: one row by an index, no notice that could be late.
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
    // By digest too: a version that this process saw in a transaction that was undone may have left its number to another.
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

/** One policy that nobody changes. */
export const fixedPolicies = (policy: CompiledPolicy): Policies => ({
  current: policy,
  shadow: undefined,
  // biome-ignore lint/correctness/useYield: nothing to ask the database
  *inForce() {
    return policy
  },
})

/** Asks the version in force and the one that is tried. */
export function askPolicies({ current, shadow }: Policies, call: AskedCall): PolicyOpinion {
  const said = evaluateForAll(current, call)
  const other = shadow && evaluateForAll(shadow, call)
  return other && isOther(said, other) ? { said, shadow: other } : { said }
}

/** Reasons, names and numbers of rules are no difference to anybody who waits. */
const outcomeOf = ({ rule: _rule, reason: _reason, version: _version, ...outcome }: PolicyResult): string => JSON.stringify(outcome)

const isOther = (one: PolicyResult, other: PolicyResult): boolean => outcomeOf(one) !== outcomeOf(other)
