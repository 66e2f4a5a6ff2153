import { setImmediate as nextTurn } from 'node:timers/promises'
import { CountersignError, type ShadowReport } from '@countersign/core'
import { actions, policyVersions, type Store, type Tx, type visibility } from '../store/index.ts'
import { findVersion } from './views.ts'

const MAX_SAMPLES = 50
/** Actions that are counted in one piece. Whether a reader sees them is decided for each: 8 ms on the embedded database. */
const PIECE = 2_000
/** No id is greater. */
const END = 'act_~'

/**
 * Returns how the verdicts of the version on trial would have differed so far, for the actions that the reader sees. Trials last for weeks, so
 * it counts in pieces, and other work has its turn in between.
 * @param reader Undefined for a reader who sees all actions.
 * @throws CountersignError `not_found` when none is on trial.
 */
export async function reportShadow(store: Store, reader: visibility.Reader | undefined): Promise<ShadowReport> {
  const { tried, newest } = await store.read(function* () {
    const found = (yield* policyVersions.inUse.all({})).find(({ in_use }) => in_use === 'shadow')
    if (!found) throw new CountersignError('not_found', 'no version of the policy is being tried')
    return { tried: yield* findVersion(found.number), newest: (yield* actions.idBefore.first({ before: END, count: 0 }))?.id ?? '' }
  })
  const { number: shadow, replaces, created_at } = tried
  // Neither number counts actions that are proposed while this runs.
  const end = `${newest}~`
  const evaluated = await countProposed(store, { reader, from: actions.lowestIdAt(created_at), before: end })
  return {
    version: shadow,
    basedOn: replaces,
    since: new Date(created_at).toISOString(),
    evaluated,
    ...(await countDifferences(store, { shadow, reader, before: end })),
  }
}

type Proposed = { reader: visibility.Reader | undefined; from: string; before: string }

async function countProposed(store: Store, { reader, from, before }: Proposed): Promise<number> {
  let count = 0
  for (let end: string | undefined = before; end !== undefined; ) {
    const piece = { before: end, count: PIECE }
    end = await store.read(function* (): Tx<string | undefined> {
      const oldest = (yield* actions.idBefore.first(piece))?.id
      const begin = oldest !== undefined && oldest > from ? oldest : undefined
      count += yield* policyVersions.countProposed(reader, { from: begin ?? from, before: piece.before })
      return begin
    })
    await nextTurn()
  }
  return count
}

type Differing = { shadow: number; reader: visibility.Reader | undefined; before: string }

async function countDifferences(
  store: Store,
  { shadow, reader, before }: Differing,
): Promise<Pick<ShadowReport, 'differences' | 'counts' | 'samples'>> {
  const byVerdicts = new Map<string, ShadowReport['counts'][number]>()
  const samples: ShadowReport['samples'] = []
  for (let end: string | undefined = before; end !== undefined; ) {
    const piece = { before: end, count: PIECE }
    end = await store.read(function* (): Tx<string | undefined> {
      const begin = (yield* policyVersions.differenceBefore.first({ shadow, ...piece }))?.action_id
      const within = { from: begin ?? '', before: piece.before }
      for (const { was, would_be, count } of yield* policyVersions.countDifferences(shadow, reader, within)) {
        const key = `${was} ${would_be}`
        byVerdicts.set(key, { was, wouldBe: would_be, count: (byVerdicts.get(key)?.count ?? 0) + Number(count) })
      }
      const wanted = MAX_SAMPLES - samples.length
      const rows = wanted > 0 ? yield* policyVersions.listDifferences(shadow, reader, { ...within, limit: wanted }) : []
      for (const row of rows) {
        const { rule, reason } = JSON.parse(row.said)
        samples.push({ actionId: row.action_id, tool: row.tool, was: row.was, wouldBe: row.would_be, rule, reason })
      }
      return begin
    })
    await nextTurn()
  }
  const counts = [...byVerdicts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, count]) => count)
  return { differences: counts.reduce((sum, { count }) => sum + count, 0), counts, samples }
}
