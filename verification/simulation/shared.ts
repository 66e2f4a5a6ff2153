import { sql } from 'kysely'
import { type Dialect, SQLITE } from '../../packages/server/src/store/dialect.ts'
import type { House, HouseParts } from './house.ts'
import { SimulatedPostgres } from './postgres.ts'
import type { SimulatedProcess } from './process.ts'
import { startSharedProcess } from './shared-process.ts'
import type { CommitFate } from './shared-store.ts'

/** The tables are SQLite's, the time is the database's. */
const DIALECT: Dialect = { ...SQLITE, nowMs: () => sql`world_now()` }
/** How wrong the clocks of machines are. */
const MAX_SKEW_MS = 600_000

/**
 * Several processes on one database. Each may be killed, stand still, lose its connections, or be stopped in an orderly way, while the
 * others go on and take over.
 */
export function startShared({ timeline, random, database, weather, counts, slots, isCalm, surround, committed }: HouseParts): House {
  const postgres = new SimulatedPostgres({ timeline, random, database })
  const machines: (SimulatedProcess | undefined)[] = Array.from({ length: weather.processes })
  const skews = machines.map(() => (random.chance(0.5) ? Math.floor((random.next() - 0.5) * 2 * MAX_SKEW_MS) : 0))
  let starts = 0
  let hasDied = false
  let lastPlace = 0

  function start(at: number): void {
    const slot = slots[at]
    if (!slot) throw new Error(`there is no slot ${at}`)
    const name = `p${++starts}`
    timeline.say(`${name} starts on machine ${at + 1}`)
    machines[at] = startSharedProcess({
      name,
      slot,
      policy: weather.policy,
      executions: weather.executions,
      timeline,
      random,
      database,
      postgres,
      dialect: DIALECT,
      skewMs: skews[at] ?? 0,
      surround,
      takePlaces: (count) => (lastPlace += count),
      fateOf: () => drawFate(machines[at]),
      isFetchLost,
      onFetchStalled: () => counts.hit('fetch: stalled'),
      committed: afterCommit,
      failed: (process, error) => kill(process, `cannot start: ${error}`),
    })
  }

  function kill(process: SimulatedProcess, how: string): void {
    process.state = 'dead'
    timeline.say(`${process.name} ${how}`)
    for (const callback of process.onEnd) callback()
    // The operating system hangs up at once; a machine that is gone is missed later.
    const hangUpMs = random.chance(0.9) ? random.next() : random.next() * 1_500
    for (const connection of postgres.connectionsOf(process)) timeline.after(hangUpMs, '', () => connection.break())
    const at = machines.indexOf(process)
    timeline.after(20 + random.next() * (random.chance(0.7) ? 500 : 4_000), '', () => {
      if (machines[at] === process) start(at)
    })
  }

  function drawFate(process: SimulatedProcess | undefined): CommitFate {
    // Who comes to a halt in the middle of a transaction has lost it, unless its last words were sent.
    const isHalted = process?.state === 'paused' && random.chance(0.7)
    if (isCalm() || !(isHalted || random.chance(weather.commitFails))) return 'well'
    const fate = isHalted ? 'lost' : random.weigh<CommitFate>(weather.commitFates)
    counts.hit(`commit: ${fate}`)
    return fate
  }

  function isFetchLost(): boolean {
    if (isCalm() || !random.chance(weather.fetchLost)) return false
    counts.hit('fetch: answer lost')
    return true
  }

  function afterCommit(process: SimulatedProcess): void {
    committed(process)
    if (isCalm() || !random.chance(weather.crashAfterCommit)) return
    counts.hit('crash: after a commit')
    kill(process, 'is killed right after the commit')
  }

  const running = () => machines.filter((process) => process?.state === 'running' && process.engine !== undefined)

  /** Lets something happen at a random time before the calm, to a process that runs then. */
  function plan(times: number, happen: (process: SimulatedProcess) => void): void {
    for (let i = 0; i < times; i++) {
      timeline.after(random.next() * weather.calmAtMs, '', () => {
        const able = running()
        const process = able.length > 0 && !isCalm() ? random.pick(able) : undefined
        if (process) happen(process)
      })
    }
  }

  function pause(process: SimulatedProcess): void {
    // Now and then so long that the others believe it frozen, and end its sign of life.
    standStill(process, random.chance(0.15) ? 11_000 + random.next() * 4_000 : random.next() * 3_000, 0.5)
  }

  function standStill(process: SimulatedProcess, forMs: number, cutOff: number): void {
    counts.hit('stood still')
    timeline.say(`${process.name} stands still`)
    process.state = 'paused'
    // Its connections may not survive that: a proxy, a laptop's lid.
    if (random.chance(cutOff)) for (const connection of postgres.connectionsOf(process)) connection.break()
    timeline.after(forMs, `${process.name} goes on`, () => {
      if (process.state === 'paused') timeline.resume(process)
    })
  }

  function cut(process: SimulatedProcess): void {
    counts.hit('connections cut')
    timeline.say(`${process.name} loses its connections`)
    postgres.unreachable.add(process)
    for (const connection of postgres.connectionsOf(process)) connection.break()
    timeline.after(random.next() * 2_500, '', () => postgres.unreachable.delete(process))
  }

  function stop(process: SimulatedProcess): void {
    counts.hit('stopped in an orderly way')
    timeline.say(`${process.name} is told to stop`)
    const { engine } = process
    process.engine = undefined
    engine?.close().then(() => {
      if (process.state !== 'dead') kill(process, 'has stopped')
    })
  }

  return {
    begin() {
      for (const at of machines.keys()) timeline.after(random.next() * 50, '', () => start(at))
      plan(weather.pauses, pause)
      plan(weather.cuts, cut)
      plan(weather.restarts, stop)
    },
    killAll() {
      for (const process of machines) if (process && process.state !== 'dead') kill(process, 'is killed')
    },
    pick() {
      const able = running()
      return able.length > 0 ? random.pick(able) : undefined
    },
    interfere(owner) {
      const process = machines.find((one) => one === owner)
      // Not all at the same moment: that is the world of one process.
      if (isCalm() || !process || !random.chance(weather.crash / 2)) return false
      counts.hit('crash')
      kill(process, 'is killed')
      return true
    },
    reached(point) {
      const process = running().find((one) => one === timeline.acting)
      if (process && point === weather.diesAt && !hasDied && !isCalm()) {
        hasDied = true
        counts.hit(`killed: ${point}`)
        kill(process, `is killed at ${point}`)
        return
      }
      if (!process || point !== weather.haltsAt || isCalm() || !random.chance(0.4)) return
      counts.hit(`halted: ${point}`)
      // Long enough, as a rule, for others to take over.
      standStill(process, 500 + random.next() * 4_000, 0.8)
    },
    calm() {
      postgres.unreachable.clear()
    },
    isWhole: () => running().length === machines.length,
    isAlive: (runner) => postgres.isHeldByItself(runner),
  }
}
