import { setTimeout as delay } from 'node:timers/promises'
import { runKills } from '../../crash/kills.ts'
import { seededRandom } from '../../simulation/random.ts'
import type { Part } from '../part.ts'
import { findPgBouncer } from './pgbouncer-binary.ts'
import { type Pooler, startPooler } from './pooler.ts'

const KILLS = 100
/** How often each trouble of the pooler has to have happened, and with a limited time. */
const LEAST = 20
const LEAST_IN_A_HURRY = 3
const LEAST_CALM_MS = 1_000
const PAUSE_MS = 500

type Trouble = 'killed with -9' | 'reloaded' | 'paused'

/** The kill campaign with three servers behind PgBouncer in transaction mode, whose connections rotate every second and which is in trouble too. */
export const poolerPart: Part = async ({ seed, minutes, say }) => {
  let binary: string
  try {
    binary = findPgBouncer()
  } catch (error) {
    return { violations: [], missing: [`no pooler: ${error instanceof Error ? error.message : error}`], figures: {} }
  }
  const random = seededRandom(seed)
  const troubles: Record<Trouble, number> = { 'killed with -9': 0, reloaded: 0, paused: 0 }

  async function trouble(pooler: Pooler, stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      await delay(LEAST_CALM_MS + random.int(3_000), undefined, { signal: stopped }).catch(() => undefined)
      if (stopped.aborted) return
      const kind = random.pick(Object.keys(troubles) as Trouble[])
      troubles[kind]++
      if (kind === 'killed with -9') await pooler.killAndStart()
      else if (kind === 'reloaded') pooler.signal('SIGHUP')
      else {
        pooler.signal('SIGUSR1')
        await delay(random.int(PAUSE_MS))
        pooler.signal('SIGUSR2')
      }
    }
  }

  const { violations, ...figures } = await runKills({
    database: 'postgres',
    seed,
    kills: KILLS,
    workers: 1,
    ...(minutes !== undefined && { endsAt: Date.now() + minutes * 60_000 }),
    say: (line) => say(`pooler: ${line}`),
    async detour(databaseUrl) {
      const pooler = await startPooler({ binary, databaseUrl, mode: 'transaction', maxPreparedStatements: 200, serverLifetimeSeconds: 1 })
      const stopping = new AbortController()
      const ended = trouble(pooler, stopping.signal)
      return {
        url: pooler.url,
        directUrl: databaseUrl,
        async [Symbol.asyncDispose]() {
          stopping.abort()
          await ended
          await pooler[Symbol.asyncDispose]()
        },
      }
    },
  })
  const least = minutes === undefined ? LEAST : LEAST_IN_A_HURRY
  const rare = Object.entries(troubles).filter(([, count]) => count < least)
  return {
    violations,
    missing: rare.map(([kind, count]) => `the pooler was ${kind} ${count} times, ${least} are needed`),
    figures: { troubles, ...figures },
  }
}
