import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { seededRandom } from '../../simulation/random.ts'
import { spawnServer } from '../../testing/child-server.ts'
import { startTarget } from '../../testing/target.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import { ageRows } from './age.ts'
import { openSoakDatabase } from './database.ts'
import type { ProcessReport } from './report-memory.ts'
import { soakSetup } from './setup.ts'
import { type Cause, createWorkload } from './workload.ts'

const REPORTER = fileURLToPath(new URL('./report-memory.ts', import.meta.url))
const SAMPLE_EVERY_MS = 10_000
/** Rows of the workload look older than all limits this long after they were written: it is done with them by then. */
const AGE_AFTER_MS = 2 * 60_000
const AGE_EVERY_MS = 60_000

/** Things that clients do, and how often of a hundred. */
const WEIGHTS: Record<Cause, number> = {
  chat: 14,
  proposal: 20,
  decline: 8,
  expiry: 6,
  reader: 8,
  signIn: 12,
  gateway: 8,
  client: 8,
  key: 6,
  lists: 5,
  request: 5,
}

/** Measurements of a server at one moment. */
export interface Sample extends ProcessReport {
  /** Since the first. */
  atMs: number
  /** Open file descriptors. */
  handles: number
  walBytes: number | undefined
  databaseBytes: number
  rows: Record<string, number>
}

export interface SoakReport {
  database: 'sqlite' | 'postgres'
  samples: Sample[]
  /** How often each thing was done. */
  deeds: Partial<Record<Cause, number>>
  /** The workload's failures, in sentences. */
  failures: string[]
  /** The server's use of one core. */
  cpuSeconds: number
}

export interface SoakOptions {
  database: 'sqlite' | 'postgres'
  seed: number
  durationMs: number
  /** Things that clients begin in a second. */
  perSecond: number
  sampleEveryMs?: number
  say(sample: Sample, deeds: number): void
}

/** Puts one server process under a mixed load at a steady rate and looks at it from outside. */
export async function runSoak({
  database: kind,
  seed,
  durationMs,
  perSecond,
  sampleEveryMs = SAMPLE_EVERY_MS,
  say,
}: SoakOptions): Promise<SoakReport> {
  await using stack = new AsyncDisposableStack()
  const random = seededRandom(seed)
  const folder = stack.use(temporaryFolder())
  const dataDir = join(folder.path, 'data')
  const database = stack.use(await openSoakDatabase(kind, dataDir))
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 7 } })))
  const configFile = join(folder.path, 'countersign.json')
  writeFileSync(configFile, JSON.stringify(soakSetup(target)))
  const {
    child,
    url: address,
    ended,
  } = spawnServer({
    configFile,
    dataDir,
    environment: database.environment,
    nodeArgs: ['--expose-gc', '--import', REPORTER],
  })
  stack.defer(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const url = await address
  const workload = createWorkload({ url, random })
  const report: SoakReport = { database: kind, samples: [], deeds: {}, failures: [], cpuSeconds: 0 }
  const inFlight = new Set<Promise<void>>()
  const startedAt = Date.now()
  let count = 0

  function begin(deed: Cause): void {
    count++
    report.deeds[deed] = (report.deeds[deed] ?? 0) + 1
    const work = workload[deed]()
      .catch((error: unknown) => void report.failures.push(`${deed}: ${error instanceof Error ? error.message : error}`))
      .finally(() => inFlight.delete(work))
    inFlight.add(work)
  }

  async function sample(): Promise<void> {
    // Between two things that clients do: what they hold open is not what stays.
    await Promise.all(inFlight)
    const answer = once(child, 'message')
    child.send('report')
    const [own] = (await answer) as [ProcessReport]
    const taken: Sample = {
      ...own,
      atMs: Date.now() - startedAt,
      handles: readdirSync(`/proc/${child.pid}/fd`).length,
      walBytes: database.walBytes(),
      databaseBytes: await database.databaseBytes(),
      rows: await database.countRows(),
    }
    report.samples.push(taken)
    say(taken, count)
  }

  // Each thing once, however short the soak is and however slow the machine.
  const first = Object.keys(WEIGHTS) as Cause[]
  let sampleAt = 0
  let ageAt = AGE_EVERY_MS
  while (first.length > 0 || Date.now() - startedAt < durationMs) {
    begin(first.shift() ?? random.weigh(WEIGHTS))
    // Irregular, as clients are; on average as often as asked.
    await delay((random.next() * 2_000) / perSecond)
    const atMs = Date.now() - startedAt
    if (atMs >= ageAt) {
      ageAt += AGE_EVERY_MS
      await ageRows(database, AGE_AFTER_MS)
    }
    if (atMs < sampleAt) continue
    sampleAt += sampleEveryMs
    await sample()
  }
  await sample()
  report.cpuSeconds = cpuSecondsOf(child.pid ?? 0)
  child.kill('SIGTERM')
  await ended
  if (child.exitCode !== 0) report.failures.push(`the server ended with ${child.exitCode ?? child.signalCode}`)
  return report
}

/** User and system time of a process; the kernel counts in hundredths of a second. */
function cpuSecondsOf(pid: number): number {
  // The name of the program, in brackets, may hold spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
