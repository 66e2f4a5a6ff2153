import { CountersignError, type ShadowReport } from '@countersign/core'
import { policyVersions, type Tx, type visibility } from '../store/index.ts'
import { findVersion } from './views.ts'

const MAX_SAMPLES = 50

/**
 * Returns how the verdicts of the version on trial would have differed so far, for the actions that the reader sees.
 * @param reader Undefined for a reader who sees all actions.
 * @throws CountersignError `not_found` when none is on trial.
 */
export function* reportShadow(reader: visibility.Reader | undefined): Tx<ShadowReport> {
  const tried = (yield* policyVersions.inUse.all({})).find(({ in_use }) => in_use === 'shadow')
  if (!tried) throw new CountersignError('not_found', 'no version of the policy is being tried')
  const { number: shadow, replaces, created_at } = yield* findVersion(tried.number)
  const counts = (yield* policyVersions.countDifferences(shadow, reader)).map(({ was, would_be, count }) => ({
    was,
    wouldBe: would_be,
    count: Number(count),
  }))
  const samples = (yield* policyVersions.listDifferences(shadow, reader, MAX_SAMPLES)).map((row) => {
    const { rule, reason } = JSON.parse(row.said)
    return { actionId: row.action_id, tool: row.tool, was: row.was, wouldBe: row.would_be, rule, reason }
  })
  return {
    version: shadow,
    basedOn: replaces,
    since: new Date(created_at).toISOString(),
    evaluated: yield* policyVersions.countProposedSince(created_at, reader),
    differences: counts.reduce((sum, { count }) => sum + count, 0),
    counts,
    samples,
  }
}
