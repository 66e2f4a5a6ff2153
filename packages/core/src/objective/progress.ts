import { millionths } from './decimal.ts'

/** From where to where something is measured, and where it is, as decimal texts. */
export interface Measure {
  start: string
  target: string
  current: string
}

const WHOLE = 1_000n

/**
 * How far it is, in thousandths: 0 at the start or behind it, 1,000 at the target or beyond. Cut off, never rounded up: 100 % is said of
 * what is reached. Exact; the direction is that from start to target.
 */
export function progressOf({ start, target, current }: Measure): number {
  const [from, to, at] = [millionths(start), millionths(target), millionths(current)]
  if (from === to) return at === to ? Number(WHOLE) : 0
  const way = to - from
  const gone = at - from
  // Of two negative numbers the quotient is the same; of one, it is behind the start.
  if (way > 0n ? gone <= 0n : gone >= 0n) return 0
  const share = (gone * WHOLE) / way
  return Number(share > WHOLE ? WHOLE : share)
}

/** The mean of its key results, cut off; undefined without any. */
export function meanProgress(all: readonly number[]): number | undefined {
  return all.length === 0 ? undefined : Math.floor(all.reduce((sum, one) => sum + one, 0) / all.length)
}
