import { canonicalJson, type PolicyDocument } from '@countersign/core'
import { recordAudit, SYSTEM } from '../audit/index.ts'
import { changeRights, lock, type Outbox, policyVersions, type Store, type Tx } from '../store/index.ts'
import { type CompiledPolicy, digestPolicy } from './compile.ts'
import { diffPolicies } from './diff.ts'
import { findPolicyProblems, type PolicyWorld } from './problems.ts'
import { tellProblems } from './read-document.ts'

/**
 * Stores the configuration's policy in the database: the first start makes it version 1, and a later start creates a new version whenever
 * the file has changed. Versions that people saved meanwhile stay in force as long as the file does not change.
 */
export async function seedPolicy(store: Store, document: PolicyDocument, nowMs: number): Promise<void> {
  const digest = digestPolicy(document)
  const last = await store.read(() => policyVersions.newestOfFile.first({}))
  if (last?.digest === digest) return
  await store.transact(function* (outbox) {
    // Once this version is recorded, no process acts under the one before.
    yield* changeRights()
    yield* lock(SYSTEM)
    // Read again after taking the lock: another process may start with the same file.
    if ((yield* policyVersions.newestOfFile.first({}))?.digest === digest) return
    yield* insertVersion(
      outbox,
      { document, written: undefined, source: 'file', author: null, reason: 'The policy of the configuration changed', use: 'force' },
      nowMs,
    )
  })
}

export interface NewVersion {
  document: PolicyDocument
  written: string | undefined
  source: 'file' | 'api'
  /** Id of the person. */
  author: string | null
  reason: string
  use: 'force' | 'shadow'
}

/** Stores a version, puts it to use, and records that. The caller holds the lock of the scope `system`. Returns its number. */
export function* insertVersion(outbox: Outbox, { document, written, source, author, reason, use }: NewVersion, nowMs: number): Tx<number> {
  const before = yield* policyVersions.newestVersion.first({})
  const number = (before?.number ?? 0) + 1
  const inUse = yield* policyVersions.inUse.all({})
  const force = inUse.find(({ in_use }) => in_use === 'force')
  const replaced = force && (yield* policyVersions.findVersion.first({ number: force.number }))
  const digest = digestPolicy(document)
  const changes = replaced ? diffPolicies(JSON.parse(replaced.document), document) : []
  const data = {
    version: number,
    use,
    source,
    reason,
    digest,
    ...(force && { replaces: force.number }),
    changes: changes.map(({ text }) => text),
  }
  yield* recordAudit(outbox, { kind: 'policy_saved', actor: author ?? SYSTEM, data }, nowMs)
  yield* policyVersions.endUse.run({ in_use: use })
  // A promoted version is no longer on trial.
  if (use === 'force' && inUse.some((one) => one.in_use === 'shadow' && one.digest === digest)) {
    yield* policyVersions.endUse.run({ in_use: 'shadow' })
  }
  const text = canonicalJson(document)
  const row = {
    ...{ number, document: text, written: written ?? null, digest, source, author, reason },
    ...{ in_use: use, replaces: force?.number ?? null, created_at: nowMs },
  }
  yield* policyVersions.insertVersion.run(row)
  return number
}

/**
 * Refuses to start when the policy in force names tools or agents that no longer exist: a rule without its tool protects nothing. A registered
 * tool that was removed, or whose owner is disabled, may come back: a rule about it stays.
 * @throws Error with a line for each problem.
 */
export function requireUsable({ version, document }: CompiledPolicy, world: PolicyWorld): void {
  const problems = findPolicyProblems(document, world)
  if (problems.length === 0) return
  throw new Error(
    `version ${version} of the policy, which is in force, does not fit this configuration:\n${tellProblems(problems)}\n` +
      'Bring back what it names, or change the policy of the configuration: what changed there comes into force',
  )
}
