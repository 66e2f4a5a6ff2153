import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ActionState, Stats } from '@countersign/core'
import { type Store, stats } from '../store/index.ts'

const MAX_ACTIONS = 1_000_000
const MAX_TOOLS = 100

export interface ActionTotals {
  actions: Stats['actions']
  byBucket: Map<number, { actions: number; asked: number }>
}

/** Counts the actions with ids from `from` up to before `before`, the newest first, a page at a time. */
export async function totalActions(
  store: Store,
  { from, before, bucketMs }: { from: string; before: string; bucketMs: number },
): Promise<ActionTotals> {
  const byState: Partial<Record<ActionState, number>> = {}
  const byVerdict = { allow: 0, ask: 0, deny: 0 }
  const byTool = new Map<string, Stats['actions']['byTool'][number]>()
  const byBucket = new Map<number, { actions: number; asked: number }>()
  let total = 0
  let end = before
  let read: number
  do {
    await nextTurn()
    const groups = await store.read(() => stats.groupActions.all({ from, before: end, bucket_ms: bucketMs }))
    read = 0
    for (const group of groups) {
      const count = Number(group.count)
      const state = group.state as ActionState
      const asked = group.verdict === 'ask' ? count : 0
      const tool = byTool.get(group.tool) ?? { tool: group.tool, total: 0, asked: 0, declined: 0, failed: 0 }
      const bucket = byBucket.get(Number(group.bucket)) ?? { actions: 0, asked: 0 }
      byTool.set(group.tool, tool)
      byBucket.set(Number(group.bucket), bucket)
      byState[state] = (byState[state] ?? 0) + count
      byVerdict[group.verdict as keyof typeof byVerdict] += count
      tool.total += count
      tool.asked += asked
      if (state === 'declined') tool.declined += count
      if (state === 'failed') tool.failed += count
      bucket.actions += count
      bucket.asked += asked
      read += count
      if (group.first_id < end) end = group.first_id
    }
    total += read
  } while (read === stats.ACTIONS_PER_PAGE && total < MAX_ACTIONS)
  const mostUsed = [...byTool.values()].sort((a, b) => b.total - a.total || (a.tool < b.tool ? -1 : 1)).slice(0, MAX_TOOLS)
  return { actions: { total, byState, byVerdict, byTool: mostUsed, isComplete: read < stats.ACTIONS_PER_PAGE }, byBucket }
}
