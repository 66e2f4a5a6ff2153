import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '../simulation/random.ts'
import { startPostgres } from '../testing/postgres.ts'
import { CHECKPOINTS, type Checkpoint, type Phase } from './checkpoints.ts'
import { type CampaignDatabase, type Detour, openPostgresWorld, openSqliteWorld } from './database.ts'
import { warmUp } from './fleet.ts'
import { startLedger } from './ledger-process.ts'
import { endWorld, playRound } from './round.ts'
import { openSchedule } from './schedule.ts'
import { openTally, type TallyReport } from './tally.ts'
import { openWorld } from './world.ts'

export interface KillOptions {
  database: CampaignDatabase['kind']
  seed: number
  /** How many servers to kill at least. */
  kills: number
  /** Epoch milliseconds after which no round begins; default: none. */
  endsAt?: number
  /** Worlds that are played at the same time. */
  workers: number
  /** The points to kill at; default all that a server on this database reaches, and some kills anywhere. */
  points?: readonly Checkpoint[]
  /** The detour between servers and Postgres; default none. */
  detour?: Detour
  say(line: string): void
}

export interface KillReport extends TallyReport {
  database: CampaignDatabase['kind']
  seed: number
  minutes: number
}

/** Rounds that one world lives through: long enough that what was left waiting has seen many deaths, short enough to be read. */
const ROUNDS_PER_WORLD = 15

/** Plays worlds until enough servers were killed. */
export async function runKills({
  database,
  seed,
  kills,
  endsAt = Number.POSITIVE_INFINITY,
  workers,
  points = pointsOf(database),
  detour,
  say,
}: KillOptions): Promise<KillReport> {
  await using cluster = database === 'postgres' ? await startPostgres() : undefined
  const since = Date.now()
  const tally = openTally()
  const onFirstStart = points.filter(({ phase }) => phase === 'first')
  const schedule = openSchedule(
    points.filter(({ phase }) => phase !== 'first'),
    seededRandom(seed),
  )
  const isOver = () => (tally.kills >= kills && !schedule.isWaiting) || Date.now() > endsAt
  let worlds = 0

  function complain(sentence: string): void {
    tally.addViolation(sentence)
    say(`VIOLATION ${sentence}`)
  }

  async function playWorld(number: number): Promise<void> {
    const worldSeed = seed * 1_000 + number
    const random = seededRandom(worldSeed)
    const folder = mkdtempSync(join(tmpdir(), 'countersign-kill-'))
    await using stack = new AsyncDisposableStack()
    stack.defer(() => rmSync(folder, { recursive: true, force: true }))
    const base = stack.use(cluster ? await openPostgresWorld(cluster, detour) : openSqliteWorld(folder))
    const ledger = stack.use(await startLedger(folder))
    const first = onFirstStart[number % onFirstStart.length]
    const crash = first && { point: first.name, nth: 1 + random.int(2) }
    const world = stack.use(await openWorld({ folder, database: base, ledger, random, crash }))
    tally.addDeaths(world.servers.takeKills(), first?.name)
    for (let round = 1; round <= ROUNDS_PER_WORLD && !isOver(); round++) {
      const point = schedule.next()
      const { kills: deaths, tookMs, problems } = await playRound(world, point, random)
      tally.addDeaths(deaths, point?.name)
      schedule.note(deaths, point)
      tally.addRecovery(tookMs)
      const where = `world ${worldSeed}, round ${round}, ${deaths.length > 0 ? `killed at ${deaths.join(', ')}` : `missed ${point?.name}`}`
      for (const problem of problems) complain(`${where}: ${problem}`)
      say(`${tally.kills} kills; ${where}; settled after ${tookMs} ms`)
      // A violation stays: later rounds would report it again.
      if (problems.length > 0) break
    }
    tally.addOutcomes(await world.outcomes())
    for (const problem of await endWorld(world)) complain(`world ${worldSeed}, at its end: ${problem}`)
  }

  await warmUp()
  const worker = async () => {
    while (!isOver()) await playWorld(++worlds)
  }
  // A worker that breaks must not take the database away from the others.
  const ends = await Promise.allSettled(Array.from({ length: workers }, worker))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return { database, seed, minutes: Math.round((Date.now() - since) / 6_000) / 10, ...tally.report() }
}

const LEFT_BE: ReadonlySet<Phase> = new Set(['fault', 'archive', 'feature', 'own'])

/** Returns the points that a server on this database reaches. */
export const pointsOf = (database: CampaignDatabase['kind']): Checkpoint[] =>
  CHECKPOINTS.filter(({ only, phase }) => (only ?? database) === database && !LEFT_BE.has(phase))
