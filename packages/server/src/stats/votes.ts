import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Stats } from '@countersign/core'
import { principals, type Store, stats } from '../store/index.ts'
import { durationsByName, readLengths } from './durations.ts'

const MAX_VOTES = 1_000_000
const MAX_PEOPLE = 100
const MAX_REASONS = 50

export interface VoteTotals {
  byPerson: Stats['decisions']['byPerson']
  declineReasons: Stats['declineReasons']
}

interface Period {
  from: string
  before: string
  tool?: string | undefined
  agent?: string | undefined
}

/** Counts the votes on actions with ids from `from` up to before `before`, the newest first, a page at a time. */
export async function totalVotes(store: Store, { from, before, tool, agent }: Period): Promise<VoteTotals> {
  const waits = durationsByName()
  const verdicts = new Map<string, { approve: number; decline: number }>()
  const reasons = new Map<string | null, number>()
  let end = before
  for (let total = 0; total < MAX_VOTES; ) {
    await nextTurn()
    const groups = await store.read(() => stats.groupVotes.all({ from, before: end }))
    if (groups.length === 0) break
    for (const group of groups) {
      const { principal_id: id, verdict } = group
      const count = Number(group.count)
      total += count
      if (group.first_id < end) end = group.first_id
      if ((tool !== undefined && group.tool !== tool) || (agent !== undefined && group.agent !== agent)) continue
      const known = verdicts.get(id) ?? { approve: 0, decline: 0 }
      known[verdict] += count
      verdicts.set(id, known)
      for (const ms of readLengths(group.waits)) waits.of(id).add(ms)
      const reason = group.reason?.trim() || null
      if (verdict === 'decline') reasons.set(reason, (reasons.get(reason) ?? 0) + count)
    }
  }
  const people = waits.list(MAX_PEOPLE)
  const names = await store.read(function* () {
    const found = new Map<string, string>()
    for (const [id] of people) found.set(id, (yield* principals.findPrincipal.first({ id }))?.name ?? id)
    return found
  })
  return {
    byPerson: people.map(([id, summary]) => {
      const { approve = 0, decline = 0 } = verdicts.get(id) ?? {}
      return { id, name: names.get(id) ?? id, approved: approve, declined: decline, ...summary }
    }),
    declineReasons: [...reasons]
      .map(([reason, count]) => ({ reason, count }))
      .sort((a, b) => b.count - a.count)
      .slice(0, MAX_REASONS),
  }
}
