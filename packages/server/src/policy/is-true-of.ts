import { type Condition, readCondition } from './condition.ts'
import { Facts, type PolicyCall } from './facts.ts'
import { Meter } from './meter.ts'

/** Parsed conditions, by their text; the least recently used one is dropped first. */
const MAX_READ = 1_000
const known = new Map<string, Condition | undefined>()

/**
 * Returns true when a condition is true of a call; false also for a condition that cannot be parsed or fails.
 * @example
 * isTrueOf('args.amount < 50', { tool, arguments: { amount: 20 }, agent: 'desk', session: null, requester, nowMs: Date.now() }) // true
 */
export function isTrueOf(text: string, call: PolicyCall): boolean {
  const condition = known.has(text) ? known.get(text) : read(text)
  known.delete(text)
  known.set(text, condition)
  const [oldest] = known.keys()
  if (known.size > MAX_READ && oldest !== undefined) known.delete(oldest)
  return condition?.(new Facts(call), new Meter()) === true
}

function read(text: string): Condition | undefined {
  const found = readCondition(text)
  return 'condition' in found ? found.condition : undefined
}
