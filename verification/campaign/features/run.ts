import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CampaignDatabase, openPostgresWorld, openSqliteWorld } from '../../crash/database.ts'
import { seededRandom } from '../../simulation/random.ts'
import { startPostgres } from '../../testing/postgres.ts'
import { KINDS, type Kind, PHASES, type Phase } from './kinds.ts'
import { openLostCommits } from './lost-commits.ts'
import type { Cut } from './reached.ts'
import { type Fault, playRound } from './round.ts'
import { startTargets } from './targets-process.ts'
import { openWorld } from './world.ts'

/** A fault to make: a server dies, or stands still, while a call of this kind is in this phase. */
export interface Pair {
  kind: Kind
  phase: Phase
  fault: Fault
}

const pairsBy = (fault: Fault): Pair[] => KINDS.flatMap((kind) => PHASES.map((phase) => ({ kind, phase, fault })))

/** A process alone on its database has nobody who takes over from it while it stands still. */
export const PAIRS: Record<CampaignDatabase['kind'], readonly Pair[]> = {
  sqlite: pairsBy('kill'),
  postgres: [...pairsBy('kill'), ...pairsBy('pause')],
}

export interface FeatureOptions {
  database: CampaignDatabase['kind']
  seed: number
  /** How often each pair has to be met by a kill; one by a pause once, which takes a quarter of a minute. */
  least: number
  /** Epoch milliseconds after which no round begins; default: none. */
  endsAt?: number
  /** Default: each kind in each phase, by each fault. */
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
  /** How often one stood still meanwhile, until others had taken over. */
  paused: Record<Phase, number>
  /** How the calls ended. */
  endings: Record<string, number>
}

export interface FeatureReport {
  database: CampaignDatabase['kind']
  seed: number
  minutes: number
  kinds: Record<string, KindFigures>
  recoveryMs: { median: number; max: number }
  /** Answers to COMMITs that never arrived; on Postgres only. */
  lostCommits: number
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
  const { database, seed, least, endsAt = Number.POSITIVE_INFINITY, pairs = PAIRS[options.database], hasLate, say } = options
  await using cluster = database === 'postgres' ? await startPostgres() : undefined
  const since = Date.now()
  const figures = new Map(KINDS.map((kind) => [kind, emptyFigures()]))
  const misses = new Map<string, number>()
  const violations: string[] = []
  const took: number[] = []
  let lost = 0
  const leastOf = ({ fault }: Pair) => (fault === 'pause' ? 1 : least)

  /** The pairs that have to be met again and are not given up, least often met first. */
  function open(): Pair[] {
    const missesOf = (pair: Pair) => misses.get(nameOf(pair)) ?? 0
    const due = (pair: Pair) => timesOf(figures, pair) + missesOf(pair) / 2
    return pairs.filter((pair) => timesOf(figures, pair) < leastOf(pair) && missesOf(pair) < GIVE_UP).sort((a, b) => due(a) - due(b))
  }

  async function playWorld(number: number): Promise<void> {
    const worldSeed = seed * 1_000 + number
    const random = seededRandom(worldSeed)
    const folder = mkdtempSync(join(tmpdir(), 'countersign-features-'))
    await using stack = new AsyncDisposableStack()
    stack.defer(() => rmSync(folder, { recursive: true, force: true }))
    const lostCommits = cluster && openLostCommits(seededRandom(worldSeed))
    const base = stack.use(cluster ? await openPostgresWorld(cluster, lostCommits?.open) : openSqliteWorld(folder))
    const targets = stack.use(await startTargets(folder))
    const world = stack.use(await openWorld({ folder, database: base, targets, lostCommits, random }))
    for (let round = 1; round <= ROUNDS_PER_WORLD && Date.now() < endsAt; round++) {
      const [pair] = open()
      if (!pair) break
      const { kind, phase, fault } = pair
      const isBeside = (other: Pair) => other.phase === phase && other.fault === fault && other.kind !== kind
      const alsoWanted = open().flatMap((other) => (isBeside(other) ? [other.kind] : []))
      const { kills, paused, cuts, tookMs, problems } = await playRound(world, { ...pair, alsoWanted, random, hasLate })
      const own = figures.get(kind) ?? emptyFigures()
      own.rounds++
      own.kills += kills.length
      own.violations += problems.length
      took.push(tookMs)
      // A server that dies while people decide cuts no attempt, so the checkpoint is the evidence.
      const isDecided = phase === 'deciding' && [...kills, paused ?? 'anywhere'].some((point) => point !== 'anywhere')
      // What is held at the target acts while its sender stands still, so the attempt that was taken over does not tell the phase.
      const isCut = (cut: Cut) => cut.kind === kind && (cut.phase === phase || paused !== undefined)
      const isMet = isDecided || cuts.some(isCut)
      if (fault === 'pause') own.paused[phase] += isMet ? 1 : 0
      else {
        if (isDecided) own.reached.deciding++
        for (const cut of cuts) {
          const its = figures.get(cut.kind)
          if (its && cut.phase) its.reached[cut.phase]++
        }
      }
      misses.set(nameOf(pair), isMet ? 0 : (misses.get(nameOf(pair)) ?? 0) + 1)
      const happened =
        paused !== undefined ? `stood still at ${paused}` : kills.length > 0 ? `killed at ${kills.join(', ')}` : 'nobody died'
      const where = `world ${worldSeed}, round ${round}, ${kind} ${phase}, ${happened}`
      for (const problem of problems) {
        violations.push(`${where}: ${problem}`.slice(0, 1_500))
        say(`VIOLATION ${where}: ${problem}`)
      }
      say(`${where}; cut ${cuts.map((cut) => `${cut.kind} ${cut.phase}`).join(', ') || 'nothing'}; settled after ${tookMs} ms`)
      // A violation stays: later rounds would report it again.
      if (problems.length > 0) break
    }
    lost += lostCommits?.count ?? 0
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
    lostCommits: lost,
    recoveryMs: { median: took[Math.floor(took.length / 2)] ?? 0, max: took.at(-1) ?? 0 },
    violations,
    missing: [
      ...pairs.flatMap((pair) => {
        const times = timesOf(figures, pair)
        const what = pair.fault === 'pause' ? 'stood still' : 'died'
        const sentence = `a server ${what} ${times} times while ${pair.kind} was in the phase "${pair.phase}", ${leastOf(pair)} are needed`
        return times < leastOf(pair) ? [sentence] : []
      }),
      ...(cluster && lost === 0 ? ['no answer to a COMMIT was lost'] : []),
    ],
  }
}

const timesOf = (figures: ReadonlyMap<Kind, KindFigures>, { kind, phase, fault }: Pair): number =>
  figures.get(kind)?.[fault === 'pause' ? 'paused' : 'reached'][phase] ?? 0

const nameOf = ({ kind, phase, fault }: Pair): string => `${fault} ${kind} ${phase}`

const noPhase = (): Record<Phase, number> => ({ deciding: 0, 'before send': 0, sent: 0, 'after effect': 0, 'before settle': 0 })

const emptyFigures = (): KindFigures => ({
  ...{ rounds: 0, kills: 0, violations: 0, endings: {} },
  reached: noPhase(),
  paused: noPhase(),
})
