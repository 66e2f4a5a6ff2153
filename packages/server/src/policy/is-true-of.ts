import { LRUCache } from 'lru-cache'
import { type Condition, readCondition } from './condition.ts'
import { Facts, type PolicyCall } from './facts.ts'
import { Meter } from './meter.ts'

/** Parsed conditions, by their text; undefined for one that cannot be parsed. */
const known = new LRUCache<string, { condition: Condition | undefined }>({ max: 1_000 })

/**
 * Returns true when a condition is true of a call; false also for a condition that cannot be parsed or fails.
 * @example
 * isTrueOf('args.amount < 50', { tool, arguments: { amount: 20 }, agent: 'desk', session: null, requester, nowMs: Date.now() }) // true
 */
export function isTrueOf(text: string, call: PolicyCall): boolean {
  const found = known.get(text) ?? { condition: read(text) }
  known.set(text, found)
  return found.condition?.(new Facts(call), new Meter()) === true
}

function read(text: string): Condition | undefined {
  const found = readCondition(text)
  return 'condition' in found ? found.condition : undefined
}
