import { CountersignError, type PolicyDocument, type Principal } from '@countersign/core'
import { recordAudit, SYSTEM } from '../audit/index.ts'
import { changeRights, lock, type Outbox, policyVersions, type Tx } from '../store/index.ts'
import type { Policies } from './policies.ts'
import { insertVersion } from './seed.ts'

export interface Save {
  document: PolicyDocument
  /** The same as its author wrote it; undefined where it came as data. */
  written: string | undefined
  reason: string
  use: 'force' | 'shadow'
  author: Principal
  /** The version that the author's change is based on; undefined when they send no document. */
  basedOn: number | undefined
  /** The version on trial that is put in force. */
  tried?: number
}

/**
 * Saves a version of the policy and puts it in force, or on trial. Returns its number.
 * @throws CountersignError `revision_mismatch` when the version in force is not the one that the change is based on.
 */
export function* savePolicy(policies: Policies, outbox: Outbox, save: Save, nowMs: number): Tx<number> {
  yield* changeRights()
  yield* lock(SYSTEM)
  const { version } = yield* policies.inForce()
  if (save.basedOn !== undefined && save.basedOn !== version) {
    const why =
      save.tried === undefined
        ? `came into force meanwhile, not ${save.basedOn}: read it, and save again on top of it`
        : `came into force since version ${save.tried} was put on trial beside version ${save.basedOn}: save what was tried on top of it`
    throw new CountersignError('revision_mismatch', `version ${version} of the policy ${why}`, { version })
  }
  const { document, written, reason, use, author } = save
  return yield* insertVersion(outbox, { document, written, source: 'api', author: author.id, reason, use }, nowMs)
}

/** Ends the trial of the version on trial. @throws CountersignError `not_found` when none is. */
export function* endShadow(outbox: Outbox, author: Principal, nowMs: number): Tx<void> {
  yield* lock(SYSTEM)
  const tried = (yield* policyVersions.inUse.all({})).find(({ in_use }) => in_use === 'shadow')
  if (!tried) throw new CountersignError('not_found', 'no version of the policy is being tried')
  yield* recordAudit(outbox, { kind: 'policy_saved', actor: author.id, data: { version: tried.number, use: 'ended' } }, nowMs)
  yield* policyVersions.endUse.run({ in_use: 'shadow' })
}
