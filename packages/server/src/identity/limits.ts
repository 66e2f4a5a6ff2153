import { CountersignError } from '@countersign/core'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../clock.ts'
import type { RateLimits } from '../config/index.ts'

/** A token bucket for each name: `burst` at once, then `perSecond`. */
export interface Buckets {
  /** Takes one token. @returns 0, or in how many seconds there is one again. */
  take(name: string): number
  /** How many names are remembered. */
  readonly size: number
}

/** The bucket of a name that this many others came after is forgotten, and is full when the name comes back. */
const MAX_BUCKETS = 20_000

/**
 * Token buckets over the server's own clock, in the memory of one process: they stop a loop or somebody who guesses keys, and are not a
 * quota. `@fastify/rate-limit` counts in fixed windows of the machine's clock, which lets twice the limit through at the edge of two
 * windows and cannot be tested with a clock that a test moves.
 * @param perSecond 0 means no limit.
 */
export function createBuckets({ perSecond, burst, clock }: { perSecond: number; burst: number; clock: Pick<Clock, 'nowMs'> }): Buckets {
  const buckets = new LRUCache<string, { left: number; at: number }>({ max: MAX_BUCKETS })
  const leftAt = ({ left, at }: { left: number; at: number }, now: number): number =>
    Math.min(burst, left + (Math.max(now - at, 0) / 1_000) * perSecond)

  return {
    take(name) {
      if (perSecond === 0) return 0
      const now = clock.nowMs()
      const left = leftAt(buckets.get(name) ?? { left: burst, at: now }, now)
      buckets.set(name, { left: left < 1 ? left : left - 1, at: now })
      return left < 1 ? Math.ceil((1 - left) / perSecond) : 0
    },
    get size() {
      return buckets.size
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
