import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CampaignDatabase, openPostgresWorld, openSqliteWorld } from '../../crash/database.ts'
import { seededRandom } from '../../simulation/random.ts'
import { startPostgres } from '../../testing/postgres.ts'
import { KINDS, type Kind, PHASES, type Phase } from './kinds.ts'
import { playRound } from './round.ts'
import { startTargets } from './targets-process.ts'
import { openWorld } from './world.ts'

/** A kill to make: a server dies while a call of this kind is in this phase. */
export interface Pair {
  kind: Kind
  phase: Phase
}

const EVERY_PAIR: readonly Pair[] = KINDS.flatMap((kind) => PHASES.map((phase) => ({ kind, phase })))

export interface FeatureOptions {
  database: CampaignDatabase['kind']
  seed: number
  /** How often each pair has to be met. */
  least: number
  /** Epoch milliseconds after which no round begins; default: none. */
  endsAt?: number
  /** Default: each kind in each phase. */
  pairs?: readonly Pair[]
  /** Requests may arrive later than any look after them. */
  hasLate: boolean
  say(line: string): void
}

/** The counts for one kind of call. */
export interface KindFigures {
  rounds: number
  kills: number
  violations: number
  /** How often a server died while a call of this kind was in the phase. */
  reached: Record<Phase, number>
  /** How the calls ended. */
  endings: Record<string, number>
}

export interface FeatureReport {
  database: CampaignDatabase['kind']
  seed: number
  minutes: number
  kinds: Record<string, KindFigures>
  recoveryMs: { median: number; max: number }
  violations: string[]
  /** A sentence for each pair that was not met often enough. */
  missing: string[]
}

/** Rounds that one world lives through. */
const ROUNDS_PER_WORLD = 20
/** A phase that was missed so often in a row is given up. */
const GIVE_UP = 12

/** Plays rounds until each kind was met in each phase often enough. */
export async function runFeatures(options: FeatureOptions): Promise<FeatureReport> {
  const { database, seed, least, endsAt = Number.POSITIVE_INFINITY, pairs = EVERY_PAIR, hasLate, say } = options
  await using cluster = database === 'postgres' ? await startPostgres() : undefined
  const since = Date.now()
  const figures = new Map(KINDS.map((kind) => [kind, emptyFigures()]))
  const misses = new Map<string, number>()
  const violations: string[] = []
  const took: number[] = []

  /** The pairs that have to be met again and are not given up, least often met first. */
  function open(): Pair[] {
    const missesOf = ({ kind, phase }: Pair) => misses.get(`${kind} ${phase}`) ?? 0
    const due = (pair: Pair) => timesOf(figures, pair) + missesOf(pair) / 2
    return pairs.filter((pair) => timesOf(figures, pair) < least && missesOf(pair) < GIVE_UP).sort((a, b) => due(a) - due(b))
  }

  async function playWorld(number: number): Promise<void> {
    const worldSeed = seed * 1_000 + number
    const random = seededRandom(worldSeed)
    const folder = mkdtempSync(join(tmpdir(), 'countersign-features-'))
    await using stack = new AsyncDisposableStack()
    stack.defer(() => rmSync(folder, { recursive: true, force: true }))
    const base = stack.use(cluster ? await openPostgresWorld(cluster) : openSqliteWorld(folder))
    const targets = stack.use(await startTargets(folder))
    const world = stack.use(await openWorld({ folder, database: base, targets, random }))
    for (let round = 1; round <= ROUNDS_PER_WORLD && Date.now() < endsAt; round++) {
      const [pair] = open()
      if (!pair) break
      const { kind, phase } = pair
      const alsoWanted = open().flatMap((other) => (other.phase === phase && other.kind !== kind ? [other.kind] : []))
      const { kills, cuts, tookMs, problems } = await playRound(world, { kind, phase, alsoWanted, random, hasLate })
      const own = figures.get(kind) ?? emptyFigures()
      own.rounds++
      own.kills += kills.length
      own.violations += problems.length
      took.push(tookMs)
      // A server that dies while people decide cuts no attempt, so the checkpoint is the evidence.
      const isDecided = phase === 'deciding' && kills.some((point) => point !== 'anywhere')
      if (isDecided) own.reached.deciding++
      for (const cut of cuts) {
        const its = figures.get(cut.kind)
        if (its && cut.phase) its.reached[cut.phase]++
      }
      const isMet = isDecided || cuts.some((cut) => cut.kind === kind && cut.phase === phase)
      misses.set(`${kind} ${phase}`, isMet ? 0 : (misses.get(`${kind} ${phase}`) ?? 0) + 1)
      const where = `world ${worldSeed}, round ${round}, ${kind} ${phase}, ${kills.length > 0 ? `killed at ${kills.join(', ')}` : 'nobody died'}`
      for (const problem of problems) {
        violations.push(`${where}: ${problem}`.slice(0, 1_500))
        say(`VIOLATION ${where}: ${problem}`)
      }
      say(`${where}; cut ${cuts.map((cut) => `${cut.kind} ${cut.phase}`).join(', ') || 'nothing'}; settled after ${tookMs} ms`)
      // A violation stays: later rounds would report it again.
      if (problems.length > 0) break
    }
    for (const ending of await world.endings()) {
      const [kind = '', state = ''] = ending.split(': ')
      const its = figures.get(kind as Kind)
      if (its) its.endings[state] = (its.endings[state] ?? 0) + 1
    }
    await world.stop()
    for (const error of world.servers.takeErrors()) violations.push(`world ${worldSeed}, at its end: ${error}`)
  }

  for (let number = 1; Date.now() < endsAt && open().length > 0; number++) await playWorld(number)
  took.sort((a, b) => a - b)
  return {
    ...{ database, seed, minutes: Math.round((Date.now() - since) / 6_000) / 10, kinds: Object.fromEntries(figures) },
    recoveryMs: { median: took[Math.floor(took.length / 2)] ?? 0, max: took.at(-1) ?? 0 },
    violations,
    missing: pairs.flatMap((pair) => {
      const times = timesOf(figures, pair)
      const sentence = `a server died ${times} times while ${pair.kind} was in the phase "${pair.phase}", ${least} are needed`
      return times < least ? [sentence] : []
    }),
  }
}

const timesOf = (figures: ReadonlyMap<Kind, KindFigures>, { kind, phase }: Pair): number => figures.get(kind)?.reached[phase] ?? 0

const emptyFigures = (): KindFigures => ({
  ...{ rounds: 0, kills: 0, violations: 0, endings: {} },
  reached: { deciding: 0, 'before send': 0, sent: 0, 'after effect': 0, 'before settle': 0 },
})
