import type { JsonValue } from '@countersign/core'

/**
 * The total cost of the patterns of one source: reading this much takes 0.2 s. 3,000 patterns that count to 1,000 cost 3,000,000 and took
 * 16 s.
 */
const MAX_COST = 100_000
/** The tables behind a `\p{L}` take as long to read as this many characters. */
const TABLES = 30
const PIECE = /\\.|\[(?:\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|./gsu

/** Words that follow the name of what has too many patterns. */
export const TOO_COSTLY = 'has patterns that count too far, or too many of them'

/** The remaining cost for the patterns of one server, document or configured group of tools. */
export interface PatternBudget {
  /**
   * True when all of these fit, which are then paid for. A pattern is paid for once. When they do not fit together, none is paid for.
   */
  take(patterns: Iterable<string>): boolean
}

export function openPatternBudget(): PatternBudget {
  const paid = new Set<string>()
  let left = MAX_COST
  return {
    take(patterns) {
      const fresh = [...new Set(patterns)].filter((pattern) => !paid.has(pattern))
      const cost = fresh.reduce((sum, pattern) => sum + patternCost(pattern), 0)
      if (cost > left) return false
      left -= cost
      for (const pattern of fresh) paid.add(pattern)
      return true
    },
  }
}

/** The different texts that stand under `pattern` in a value. Objects that are shared or hold themselves are looked into once. */
export function patternsIn(value: JsonValue | undefined): Set<string> {
  const found = new Set<string>()
  const seen = new Set<unknown>([value])
  // A set that grows while it is walked: a document may be nested deeper than calls can be.
  for (const node of seen) {
    if (node === null || typeof node !== 'object') continue
    if ('pattern' in node && typeof node.pattern === 'string') found.add(node.pattern)
    for (const child of Object.values(node)) if (child !== null && typeof child === 'object') seen.add(child)
  }
  return found
}

/** How long a pattern takes to read: its length, its tables and its size. 10 for being one. */
export const patternCost = (pattern: string): number =>
  10 + pattern.length + TABLES * (pattern.match(/\\p/gi)?.length ?? 0) + patternSize(pattern)

/** How many steps a pattern has once its counts (`{2,9}`) are written out, as the linear engine does before it matches anything. */
export function patternSize(pattern: string): number {
  const groups = [1]
  let last = 0
  const add = (size: number) => {
    last = size
    groups.push((groups.pop() ?? 0) + size)
  }
  for (const [piece, least, most] of pattern.matchAll(PIECE)) {
    if (piece === '(') groups.push(1)
    else if (piece === ')') add((groups.length > 1 ? groups.pop() : 0) ?? 0)
    else if (least === undefined) add(1)
    else {
      const whole = last * Math.max(Number(most || least), 1)
      add(whole - last)
      last = whole
    }
  }
  return groups.reduce((sum, size) => sum + size, 0)
}
