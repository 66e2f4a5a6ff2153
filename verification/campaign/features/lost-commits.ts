import type { Detour } from '../../crash/database.ts'
import type { Random } from '../../simulation/random.ts'
import { COMMIT, openFaultProxy, throughProxy } from '../../testing/fault-proxy.ts'

/** How many of the answers to a COMMIT never arrive, while some are lost. */
const LOST = 0.1

/** A line between servers and their database on which the answers to commits get lost. */
export interface LostCommits {
  /** The way through it. */
  readonly open: Detour
  /** How many answers were lost so far. */
  readonly count: number
  setLosing(isLosing: boolean): void
}

/** Breaks the connection before some of the answers to a COMMIT: the transaction counts, and its sender does not know. */
export function openLostCommits(random: Random): LostCommits {
  let isLosing = false
  let count = 0
  return {
    async open(databaseUrl) {
      const { hostname: host, port } = new URL(databaseUrl)
      const proxy = await openFaultProxy({ host, port: Number(port) })
      proxy.onAnswer = (bytes) => {
        if (!isLosing || !bytes.includes(COMMIT) || !random.chance(LOST)) return 'pass'
        count++
        return 'cut-before'
      }
      return { url: throughProxy(databaseUrl, proxy), [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose]() }
    },
    get count() {
      return count
    },
    setLosing(next) {
      isLosing = next
    },
  }
}
