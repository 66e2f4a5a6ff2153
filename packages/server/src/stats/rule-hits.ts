import { setImmediate as nextTurn } from 'node:timers/promises'
import { actions, type Store, stats } from '../store/index.ts'

const MAX_ACTIONS = 1_000_000

/** How many calls each rule decided since a time, and when it last did. */
export interface RuleHits {
  byRule: ReadonlyMap<string, { count: number; lastAt: number }>
  /** False when there were more than a million: then the newest million is counted. */
  isComplete: boolean
}

/** Counts the calls that each rule decided since `sinceMs`, a page at a time. The rule of a call that no rule matched is `default`. */
export async function countRuleHits(store: Store, sinceMs: number, nowMs: number): Promise<RuleHits> {
  const byRule = new Map<string, { count: number; lastAt: number }>()
  const from = actions.lowestIdAt(sinceMs)
  let before = actions.lowestIdAt(nowMs + 1)
  let read: number
  let all = 0
  do {
    await nextTurn()
    const groups = await store.read(() => stats.groupRules.all({ from, before }))
    read = 0
    for (const { rule, count, first_id, last_at } of groups) {
      const name: string = JSON.parse(rule)
      const known = byRule.get(name)
      byRule.set(name, { count: (known?.count ?? 0) + Number(count), lastAt: Math.max(known?.lastAt ?? 0, Number(last_at)) })
      read += Number(count)
      if (first_id < before) before = first_id
    }
    all += read
  } while (read === stats.ACTIONS_PER_PAGE && all < MAX_ACTIONS)
  return { byRule, isComplete: read < stats.ACTIONS_PER_PAGE }
}
