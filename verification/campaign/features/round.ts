import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../simulation/random.ts'
import { type Kind, type Phase, wayTo } from './kinds.ts'
import { openPause, type Pause } from './pause.ts'
import { callsOf, planRound, type RoundPlan } from './plan.ts'
import type { Cut } from './reached.ts'
import { findHolder } from './rows.ts'
import { howOfCall } from './targets-file.ts'
import type { World } from './world.ts'

/**
 * Everything that is pending has to be settled, or to wait for a person, this long after the last fault. It tells what hangs from what is
 * slow: on a machine without a free core, three servers that start again have needed more than 15 s; with 36 processes ready to run, these
 * rounds took six times as long as usual.
 */
const RECOVERY_MS = 240_000
/** How long a doomed server has to reach its checkpoint. The round continues sooner when no action is in progress. */
const PATIENCE_MS = 60_000
/** How long the calls of other kinds are given to be held as well. */
const OTHERS_MS = 800
const POLL_MS = 15

export type Fault = 'kill' | 'pause'

export interface RoundOptions {
  kind: Kind
  phase: Phase
  /** A process is killed, or stands still until others have taken over from it. */
  fault: Fault
  /** Other kinds to meet in the phase, if it can be. */
  alsoWanted: readonly Kind[]
  random: Random
  /** Requests may arrive later than any look after them. */
  hasLate: boolean
}

export interface RoundResult {
  /** Where servers were killed, each by the name of its point or `anywhere`. */
  kills: string[]
  /** Where one stood still in the meantime. */
  paused: string | undefined
  cuts: Cut[]
  /** From the last fault until nothing was under way. */
  tookMs: number
  problems: string[]
}

/**
 * One round: calls begin, a server is killed or stands still while one of `kind` is in `phase`, what is missing starts again, all is held
 * against its promises.
 */
export async function playRound(world: World, options: RoundOptions): Promise<RoundResult> {
  const { kind, phase, fault, alsoWanted, random, hasLate } = options
  const { servers, targets, keyResults, count, lostCommits } = world
  const before = servers.deaths
  const began = Date.now()
  const plan = planRound({ random, kind, phase, alsoWanted, count, keyResults, hasLate })
  const pause = fault === 'pause' ? openPause(world, random) : undefined
  targets.setHolding(true)
  await lieInWait(world, plan, options, pause)
  lostCommits?.setLosing(true)
  world.begin(plan)
  await (pause ? pause.untilStopped() : untilDead(world, before, began))
  // The next server sends the calls that the dead server had not sent, and these need not be held: holding them took four seconds of every
  // round.
  targets.setHolding(false)
  const paused = await pause?.over()
  // Now and then another one dies while the first is being replaced.
  if (servers.deaths > before && random.chance(0.2)) {
    await delay(random.int(300))
    for (const life of servers.lives.slice(0, 1)) life.signal('SIGKILL')
  }
  await servers.arm(null)
  lostCommits?.setLosing(false)
  const settled = await settle(world, servers.deaths === before ? Date.now() : 0)
  targets.listen(() => {})
  await servers.arm(null)
  const problems = [...settled.problems, ...(await world.check(paused !== undefined))]
  const kills = servers.takeKills()
  const cuts = await world.takeCuts(paused === undefined ? kills : [...kills, paused])
  return { kills, paused, cuts, tookMs: settled.tookMs, problems }
}

/** Prepares what becomes of a server when a call of the kind is in the phase. */
async function lieInWait(world: World, plan: RoundPlan, { kind, phase, random }: RoundOptions, pause: Pause | undefined): Promise<void> {
  const { servers } = world
  const way = wayTo(kind, phase)
  if ('points' in way) {
    const point = random.pick(way.points)
    await (pause ? pause.arm(point) : servers.arm({ point, nth: 1 + random.int(3) }))
    return
  }
  onHeld(world, plan, { kind, held: way.held, random }, async (what) => {
    if (pause) return pause.stopHolder(what)
    const holder = await findHolder(world.database, what)
    // Now and then all at once: then nobody is left who could take over.
    const isAll = world.database.processes === 1 || random.chance(0.4)
    for (const life of servers.lives) if (isAll || life.pid === holder) life.signal('SIGKILL')
  })
}

/** Calls back with the first write of `kind` that its target holds, when those of the other kinds are held too or have not come for a while. */
function onHeld(
  { targets, planOf }: World,
  plan: RoundPlan,
  { kind, held, random }: { kind: Kind; held: 'sent' | 'acted'; random: Random },
  found: (what: string) => Promise<void>,
): void {
  const told = held === 'sent' ? 'request' : 'effect'
  const missing = new Set(callsOf(plan).flatMap((call) => (howOfCall(call.what) === held ? [call.kind] : [])))
  const allHeld = Promise.withResolvers<void>()
  let victim: string | undefined
  targets.listen((entry) => {
    const planned = planOf(entry.what)
    if (entry.kind !== told || entry.how !== held || !planned) return
    missing.delete(planned.kind)
    if (missing.size === 0) allHeld.resolve()
    if (victim !== undefined || planned.kind !== kind) return
    victim = entry.what
    void Promise.race([allHeld.promise, delay(random.int(OTHERS_MS))]).then(() => found(entry.what))
  })
}

async function untilDead(world: World, before: number, began: number): Promise<void> {
  while (world.servers.deaths === before && Date.now() - began < PATIENCE_MS) {
    await delay(POLL_MS)
    if ((await world.inFlight()).length === 0) return
  }
}

/**
 * Waits until nothing is under way and every server is there again.
 * @param beganMs When the calls began, where nobody died.
 */
async function settle(world: World, beganMs: number): Promise<{ tookMs: number; problems: string[] }> {
  const { servers } = world
  for (;;) {
    if (!servers.isWhole && !servers.isFilling) void servers.fill()
    const left = await world.inFlight()
    const calmMs = Math.max(beganMs, servers.calmSince)
    const tookMs = Date.now() - calmMs
    if (left.length === 0 && servers.isWhole) return { tookMs, problems: [] }
    const late = left.filter(({ sinceMs }) => Date.now() - Math.max(calmMs, sinceMs) > RECOVERY_MS)
    if (late.length > 0) return { tookMs, problems: late.map(({ what }) => `for ${RECOVERY_MS / 1000} s without a fault: ${what}`) }
    await delay(POLL_MS)
  }
}
