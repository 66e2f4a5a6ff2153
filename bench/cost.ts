import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createDatabase, startPostgres } from '../verification/testing/postgres.ts'
import type { CostBlock } from './cost-process.ts'
import { statsOf } from './stats.ts'

/** Cycles of each kind before anything counts: until then it is the compiler that is measured. */
const WARM_UP = 1_000

export interface CostOptions {
  inFlight: number
  /** Cycles in a block; each round has one block of each kind, in the same process. */
  cycles: number
  rounds: number
  /** Uses a policy of ten rules, eight of them with a condition, instead of the default policy. */
  underTenRules?: boolean
}

/** Measures the cost of policy, digest and record on the embedded database, in percent of a cycle without all three. */
export const benchCost = (options: CostOptions) => measure(options)

/** The same on a Postgres of its own. */
export async function benchPostgresCost(options: CostOptions) {
  await using postgres = await startPostgres()
  return await measure({ ...options, url: await createDatabase(postgres.url('postgres')) })
}

async function measure(options: CostOptions & { url?: string }) {
  const child = fork(fileURLToPath(new URL('./cost-process.ts', import.meta.url)), [JSON.stringify({ ...options, warmUp: WARM_UP })], {
    execArgv: ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning'],
  })
  const [rounds] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [CostBlock[] | number]
  if (!Array.isArray(rounds)) throw new Error('the process that measures has ended')
  child.disconnect()
  await once(child, 'exit')
  const shareOf = (kind: keyof CostBlock, measured: 'wallMs' | 'cpuMs') =>
    statsOf(rounds.map((round) => (round[kind][measured] / round.none[measured] - 1) * 100))
  const medianOf = (kind: keyof CostBlock) => statsOf(rounds.map((round) => round[kind].wallMs)).median
  const added = (kind: keyof CostBlock) => ({
    percentOfMedian: Number(((medianOf(kind) / medianOf('none') - 1) * 100).toFixed(1)),
    timePercent: shareOf(kind, 'wallMs'),
    processorPercent: shareOf(kind, 'cpuMs'),
  })
  const perSecond = (kind: keyof CostBlock) => Math.round(1000 / medianOf(kind))
  return {
    inFlight: options.inFlight,
    cyclesABlock: options.cycles,
    cyclesPerSecond: { without: perSecond('none'), with: perSecond('all') },
    policy: added('policy'),
    digest: added('digest'),
    audit: added('audit'),
    all: added('all'),
  }
}
