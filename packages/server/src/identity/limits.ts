import { CountersignError } from '@countersign/core'
import type { Clock } from '../clock.ts'
import type { RateLimits } from '../config/index.ts'

/** A bucket per name that drips: `burst` at once, then `perSecond`. */
export interface Buckets {
  /** Takes one. @returns 0, or in how many seconds there is one again. */
  take(name: string): number
  /** How many names are remembered. */
  readonly size: number
}

/** Twice as many names are remembered at most. A name that 10,000 others came after may be forgotten, and then has a full bucket again. */
const NAMES = 10_000

/**
 * Token buckets over the server's own clock. They are in memory and each process has its own: what they stop is a loop or a guesser, not
 * a quota that anybody pays for.
 * @param perSecond 0 gives without end.
 */
export function createBuckets({ perSecond, burst, clock }: { perSecond: number; burst: number; clock: Pick<Clock, 'nowMs'> }): Buckets {
  // Two halves, so that forgetting costs nothing: to look through all names at each of them made a flood of addresses quadratic.
  let recent = new Map<string, { left: number; at: number }>()
  let earlier = recent
  const leftAt = ({ left, at }: { left: number; at: number }, now: number): number =>
    Math.min(burst, left + (Math.max(now - at, 0) / 1_000) * perSecond)

  return {
    take(name) {
      if (perSecond === 0) return 0
      const now = clock.nowMs()
      const left = leftAt(recent.get(name) ?? earlier.get(name) ?? { left: burst, at: now }, now)
      if (recent.size >= NAMES && !recent.has(name)) {
        earlier = recent
        recent = new Map()
      }
      recent.set(name, { left: left < 1 ? left : left - 1, at: now })
      return left < 1 ? Math.ceil((1 - left) / perSecond) : 0
    },
    get size() {
      return recent.size + (earlier === recent ? 0 : earlier.size)
    },
  }
}

export interface Limits {
  /** Counts a request of somebody. @throws CountersignError `rate_limited` */
  countRequest(principalId: string): void
  /**
   * Counts a key or an answer that was wrong, or the beginning of a sign-in. Who has a good key is never stopped by the mistakes of others
   * at the same address.
   * @throws CountersignError `rate_limited`
   */
  countAttempt(address: string): void
}

export function createLimits({ requestsPerSecond, failuresPerMinute }: RateLimits, clock: Pick<Clock, 'nowMs'>): Limits {
  const requests = createBuckets({ perSecond: requestsPerSecond, burst: requestsPerSecond * 4, clock })
  const attempts = createBuckets({ perSecond: failuresPerMinute / 60, burst: failuresPerMinute, clock })
  const count = (buckets: Buckets, name: string) => {
    const retryAfterSeconds = buckets.take(name)
    if (retryAfterSeconds === 0) return
    throw new CountersignError('rate_limited', `too many requests: try again in ${retryAfterSeconds} s`, { retryAfterSeconds })
  }
  return {
    countRequest: (principalId) => count(requests, principalId),
    countAttempt: (address) => count(attempts, networkOf(address)),
  }
}

/** An IPv6 customer has at least a /64: its addresses count as one. */
const networkOf = (address: string): string =>
  address.includes(':') && !address.includes('.') ? address.split(':').slice(0, 4).join(':') : address
