import { CountersignError } from '@countersign/core'
import type { Clock } from '../../clock.ts'
import type { RateLimits } from '../../config/index.ts'

/** A bucket per name that drips: `burst` at once, then `perSecond`. */
export interface Buckets {
  /** Takes one. @returns 0, or in how many seconds there is one again. */
  take(name: string): number
}

/** More names than this, and those with a full bucket are forgotten: they would be given a full one anyway. */
const MANY = 10_000

/**
 * Token buckets over the server's own clock. They are in memory and each process has its own: what they stop is a loop or a guesser, not
 * a quota that anybody pays for.
 * @param perSecond 0 gives without end.
 */
export function createBuckets({ perSecond, burst, clock }: { perSecond: number; burst: number; clock: Pick<Clock, 'nowMs'> }): Buckets {
  const buckets = new Map<string, { left: number; at: number }>()
  const leftAt = ({ left, at }: { left: number; at: number }, now: number): number =>
    Math.min(burst, left + (Math.max(now - at, 0) / 1_000) * perSecond)

  return {
    take(name) {
      if (perSecond === 0) return 0
      const now = clock.nowMs()
      if (buckets.size > MANY) {
        for (const [known, bucket] of buckets) if (leftAt(bucket, now) >= burst) buckets.delete(known)
      }
      const left = leftAt(buckets.get(name) ?? { left: burst, at: now }, now)
      buckets.set(name, { left: left < 1 ? left : left - 1, at: now })
      return left < 1 ? Math.ceil((1 - left) / perSecond) : 0
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
