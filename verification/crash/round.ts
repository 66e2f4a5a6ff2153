import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../simulation/random.ts'
import type { Checkpoint } from './checkpoints.ts'
import type { Crash } from './crash-at.ts'
import type { Workload } from './workload.ts'
import type { World } from './world.ts'

/**
 * Everything that is pending has to be settled, or to wait for a person, this long after the last fault. It tells what hangs from what is
 * slow: under a load of 15 for each core, a round in which nobody died was settled after 17 s.
 */
const RECOVERY_MS = 60_000
/** How long a doomed server has to reach its checkpoint. While clients work, the round continues sooner when nothing is under way any more. */
const PATIENCE_MS = 30_000
const POLL_MS = 15

export interface RoundResult {
  /** Where servers were killed, each by the name of its point or `anywhere`. */
  kills: string[]
  /** From the last fault until nothing was under way. */
  tookMs: number
  problems: string[]
}

/** One round: clients begin, a server is killed at `point` (or anywhere), what is missing starts again, all of it is held against its promises. */
export async function playRound(world: World, point: Checkpoint | undefined, random: Random): Promise<RoundResult> {
  const { servers } = world
  const crash = point && { point: point.name, nth: chooseHit(servers.reached.get(point.name) ?? 1, random) }
  const before = servers.deaths
  if (crash && point.phase === 'work') await servers.arm(crash)
  const workload = world.begin(point?.name)
  if (point?.phase === 'work') await whileAlive(world, async () => (await world.inFlight(workload)).length > 0)
  else await delay(random.int(300))
  if (crash && point.phase === 'stop') await stopAt(world, crash, random)
  if (crash && point.phase === 'takeover') await takeOverAt(world, crash, random)
  // A server that did not reach its checkpoint stays alive and starts the next round.
  if (servers.deaths === before && point?.phase !== 'work') await killAnywhere(world, random)
  await servers.arm(null)
  if (crash && point.phase === 'start') void servers.fill(crash)
  const settled = await settle(world, workload, servers.deaths === before ? Date.now() : 0)
  await servers.arm(null)
  return {
    kills: servers.takeKills(),
    tookMs: settled.tookMs,
    problems: [...settled.problems, ...(await world.check(workload))],
  }
}

/** The end of a world: what was left waiting through all the deaths is approved and carried out, and the servers stop in peace. */
export async function endWorld(world: World): Promise<string[]> {
  const nobody: Workload = { followers: new Map(), isSaid: () => true }
  await world.approveAll()
  const { problems } = await settle(world, nobody, Date.now())
  problems.push(...(await world.check(nobody)))
  await world.servers.stop()
  return [...problems, ...world.servers.takeErrors()]
}

/**
 * Waits until nothing is under way and every server is there again.
 * @param beganMs When the clients began, where nobody died.
 */
async function settle(world: World, workload: Workload, beganMs: number): Promise<Omit<RoundResult, 'kills'>> {
  const { servers } = world
  let tookMs: number | undefined
  for (;;) {
    if (!servers.isWhole && !servers.isFilling) void servers.fill()
    const left = await world.inFlight(workload)
    const calmMs = Math.max(beganMs, servers.calmSince)
    if (left.length > 0) tookMs = undefined
    else tookMs ??= Date.now() - calmMs
    if (tookMs !== undefined && servers.isWhole) return { tookMs, problems: [] }
    // Each thing for itself: clients go on asking for more while it is looked after.
    const late = left.filter(({ sinceMs }) => Date.now() - Math.max(calmMs, sinceMs) > RECOVERY_MS)
    if (late.length > 0) {
      return { tookMs: Date.now() - calmMs, problems: late.map(({ what }) => `for ${RECOVERY_MS / 1000} s without a fault: ${what}`) }
    }
    await delay(POLL_MS)
  }
}

/** Mostly the first hit, else one that a life was seen to have. */
const chooseHit = (most: number, random: Random): number => (random.chance(0.6) ? 1 : 1 + random.int(Math.min(8, Math.ceil(most / 2))))

/** Waits for the next death, as long as there is something to wait for. */
async function whileAlive({ servers }: World, isWorth: () => Promise<boolean> | boolean): Promise<void> {
  const { deaths } = servers
  for (const since = Date.now(); servers.deaths === deaths && Date.now() - since < PATIENCE_MS; ) {
    if (!(await isWorth())) return
    await delay(POLL_MS)
  }
}

async function killAnywhere({ servers }: World, random: Random): Promise<void> {
  // Now and then all at once: then nobody is left who could take over.
  const victims = random.chance(0.15) ? servers.lives : [random.pick(servers.lives)]
  for (const victim of victims) victim.signal('SIGKILL')
  await Promise.all(victims.map(({ ended }) => ended))
}

async function stopAt(world: World, crash: Crash, random: Random): Promise<void> {
  const one = random.pick(world.servers.lives)
  await one.arm(crash)
  one.signal('SIGTERM')
  await whileAlive(world, () => true)
}

/** One dies, and another one on its way to take over what it left. */
async function takeOverAt(world: World, crash: Crash, random: Random): Promise<void> {
  const victim = random.pick(world.servers.lives)
  await Promise.all(world.servers.lives.map((life) => (life === victim ? undefined : life.arm(crash))))
  victim.signal('SIGKILL')
  await victim.ended
  await whileAlive(world, () => true)
}
