import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Random, seededRandom } from '../../simulation/random.ts'
import { BOOTSTRAP_KEY } from '../../testing/bootstrap-key.ts'
import { startChildServer } from '../../testing/child-server.ts'
import { openFaultProxy, throughProxy } from '../../testing/fault-proxy.ts'
import { startTarget, toolsOf } from '../../testing/target.ts'
import { temporaryFolder } from '../../testing/test-server.ts'

/** How likely it is that the answer to a fetch with jobs is cut off. */
const CUT = 0.3
/** Everything that was approved has to be settled this long after the last cut. */
const SETTLED_MS = 120_000
const POLL_MS = 50
/**
 * Approved in one go. A process with room starts an action without a fetch: each has room for one, which the target answers when the whole
 * burst is approved.
 */
const BURST = 8

export interface FetchesOptions {
  databaseUrl: string
  seed: number
  actions: number
  processes: number
  /** No action is approved after this; epoch ms. */
  endsAt: number
}

export interface FetchesReport {
  approved: number
  /** Answers to fetches that handed jobs over, and how many of them never arrived. */
  fetches: number
  cut: number
  /** Seconds from the last approval until everything was settled. */
  settledAfterSeconds: number
  violations: string[]
}

/** Approves actions on several servers while the answers to their job fetches are cut off at random; each has to run exactly once. */
export async function runFetches({ databaseUrl, seed, actions, processes, endsAt }: FetchesOptions): Promise<FetchesReport> {
  await using stack = new AsyncDisposableStack()
  const random = seededRandom(seed)
  const folder = stack.use(temporaryFolder())
  let burst = Promise.withResolvers<void>()
  const target = stack.use(
    await startTarget(async () => {
      await burst.promise
      return { status: 200, body: { id: 1 } }
    }),
  )
  const { hostname: host, port } = new URL(databaseUrl)
  const proxy = stack.use(await openFaultProxy({ host, port: Number(port) }))
  const configFile = join(folder.path, 'countersign.json')
  writeFileSync(configFile, JSON.stringify({ tools: toolsOf(target) }))
  const environment = {
    DATABASE_URL: throughProxy(databaseUrl, proxy),
    COUNTERSIGN_BOOTSTRAP_KEY: BOOTSTRAP_KEY,
    COUNTERSIGN_MAX_EXECUTIONS: '1',
  }
  const servers = await Promise.all(
    Array.from({ length: processes }, async (_, i) =>
      stack.use(await startChildServer({ configFile, dataDir: join(folder.path, `data-${i}`), environment })),
    ),
  )
  const report: FetchesReport = { approved: 0, fetches: 0, cut: 0, settledAfterSeconds: 0, violations: [] }
  proxy.onAnswer = (bytes) => judge(bytes, random, report)

  const ids: string[] = []
  const whats: string[] = []
  while (ids.length < actions && Date.now() < endsAt) {
    burst = Promise.withResolvers()
    const wanted = Array.from({ length: Math.min(BURST, actions - ids.length) }, (_, i) => `w${ids.length + i}`)
    const proposed = await Promise.all(
      wanted.map((what) => random.pick(servers).admin.post('/api/actions', { tool: 'unkeyed', arguments: { what } })),
    )
    // One after the other: each process sees that its room is taken.
    for (const { id } of proposed) await random.pick(servers).admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
    ids.push(...proposed.map(({ id }) => id))
    whats.push(...wanted)
    burst.resolve()
  }
  report.approved = ids.length
  proxy.onAnswer = () => 'pass'
  const since = Date.now()
  const left = new Set(ids)
  while (left.size > 0 && Date.now() - since < SETTLED_MS) {
    for (const id of left) {
      const { state } = await random.pick(servers).admin.get(`/api/actions/${id}`)
      if (state === 'succeeded') left.delete(id)
      else if (state !== 'approved' && state !== 'executing') {
        left.delete(id)
        report.violations.push(`${id} is ${state}`)
      }
    }
    await delay(POLL_MS)
  }
  report.settledAfterSeconds = (Date.now() - since) / 1_000
  for (const id of left) report.violations.push(`${id} was not carried out ${SETTLED_MS / 1_000} s after the last fault`)
  const sends = Map.groupBy(target.writes, ({ body }) => (body as { what: string }).what)
  for (const what of whats) {
    const times = sends.get(what)?.length ?? 0
    if (times !== 1) report.violations.push(`${what} was sent ${times} times`)
  }
  return report
}

/** Cuts some of the answers that hand jobs to a pool of workers: they name the pool, and the action. */
function judge(bytes: Buffer, random: Random, report: FetchesReport): 'pass' | 'cut-before' {
  if (!bytes.includes('pool-') || !bytes.includes('act_')) return 'pass'
  report.fetches++
  if (!random.chance(CUT)) return 'pass'
  report.cut++
  return 'cut-before'
}
