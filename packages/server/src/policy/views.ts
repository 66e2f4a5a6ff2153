import { CountersignError, type PolicyDocument, type PolicyVersion, type PolicyVersionView, type PolicyView } from '@countersign/core'
import { stringify } from 'yaml'
import { type PolicyVersionRow, policyVersions, principals, type Tx } from '../store/index.ts'
import { diffPolicies } from './diff.ts'
import { orderPolicy } from './order.ts'

/** Returns the wire form of a version. */
export function* viewVersion(row: PolicyVersionRow): Tx<PolicyVersion> {
  const author = row.author === null ? undefined : yield* principals.findPrincipal.first({ id: row.author })
  return {
    version: row.number,
    inUse: row.in_use,
    source: row.source,
    author: author ? principals.readPrincipal(author) : null,
    reason: row.reason,
    createdAt: new Date(row.created_at).toISOString(),
  }
}

/** Returns the policy in force. */
export function* viewPolicy(): Tx<PolicyView> {
  const rows = yield* policyVersions.inUse.all({})
  const of = (use: PolicyVersionRow['in_use']) => rows.find(({ in_use }) => in_use === use)?.number
  const force = yield* findVersion(of('force') ?? 0)
  const shadow = of('shadow')
  return {
    ...(yield* viewVersion(force)),
    document: documentOf(force),
    shadow: shadow === undefined ? null : yield* viewVersion(yield* findVersion(shadow)),
  }
}

/**
 * Returns a version with its document and its changes, compared with the version that was in force before. @throws CountersignError
 * `not_found`
 */
export function* viewVersionWhole(number: number): Tx<PolicyVersionView> {
  const row = yield* findVersion(number)
  const before =
    row.replaces === null
      ? yield* policyVersions.versionBefore.first({ number })
      : yield* policyVersions.findVersion.first({ number: row.replaces })
  const document = documentOf(row)
  return { ...(yield* viewVersion(row)), document, changes: before ? diffPolicies(documentOf(before), document) : [] }
}

/** @throws CountersignError `not_found` */
export function* findVersion(number: number): Tx<PolicyVersionRow> {
  const row = yield* policyVersions.findVersion.first({ number })
  if (!row) throw new CountersignError('not_found', `there is no version ${number} of the policy`)
  return row
}

/** Returns the document of the version in force as its author wrote it, comments included; else as YAML. */
export function* textInForce(): Tx<string> {
  const force = (yield* policyVersions.inUse.all({})).find(({ in_use }) => in_use === 'force')
  const row = yield* findVersion(force?.number ?? 0)
  return row.written ?? stringify(documentOf(row))
}

export const documentOf = ({ document }: PolicyVersionRow): PolicyDocument => orderPolicy(JSON.parse(document))
