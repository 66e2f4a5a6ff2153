import { CountersignError } from '@countersign/core'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../clock.ts'
import type { RateLimits } from '../config/index.ts'

/** Holds a token bucket for each name: `burst` tokens at once, then `perSecond`. */
export interface Buckets {
  /** Takes one token. @returns 0, or in how many seconds the next one is available. */
  take(name: string): number
  /** How many names are remembered. */
  readonly size: number
}

/** The bucket of a name is forgotten after this many other names, and is full when the name returns. */
const MAX_BUCKETS = 20_000

/**
 * Creates token buckets on the server's own clock, in the memory of one process: they stop loops and guessing of keys, and are not a quota.
 * `@fastify/rate-limit` counts in fixed windows of the machine's clock, which lets twice the limit through at the edge of two windows and
 * cannot be tested with a manual clock.
 * @param perSecond 0 means no limit.
 */
export function createBuckets({ perSecond, burst, clock }: { perSecond: number; burst: number; clock: Pick<Clock, 'nowMs'> }): Buckets {
  // With `max` it takes all its memory at once: 0.4 MB and 3 to 10 ms, for a limit that few servers come near.
  const buckets = new LRUCache<string, { left: number; at: number }>({ maxSize: MAX_BUCKETS, sizeCalculation: () => 1 })
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
  /** Counts a request of a caller. @throws CountersignError `rate_limited` */
  countRequest(principalId: string): void
  /**
   * Counts a wrong key or answer, or the beginning of a sign-in. A caller with a valid key is never blocked by the mistakes of others at
   * the same address.
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

/** Returns the address that is counted. An IPv6 customer has at least a /64, so its addresses count as one. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  // The short form leaves out a row of zeros.
  const [before = '', after] = address.split('::')
  const groups = before === '' ? [] : before.split(':')
  const left = after === undefined || after === '' ? [] : after.split(':')
  while (after !== undefined && groups.length + left.length < 8) groups.push('0')
  return [...groups, ...left].slice(0, 4).join(':')
}
