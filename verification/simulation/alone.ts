import type { House, HouseParts } from './house.ts'
import { type SimulatedProcess, startProcess } from './process.ts'
import { BROKEN_DISK } from './shared-store.ts'

/** One process on an embedded database. It is killed at any event, or right after a commit; its disk may refuse; and it is started again. */
export function startAlone({
  timeline,
  random,
  database,
  weather,
  counts,
  slots,
  isCalm,
  surround,
  committed,
  restore,
}: HouseParts): House {
  const [slot] = slots
  let process: SimulatedProcess | undefined
  let starts = 0
  let hasDied = false

  function start(): void {
    if (!slot) throw new Error('there is no slot')
    const name = `p${++starts}`
    timeline.say(`${name} starts`)
    const { policy, executions, commitMs } = weather
    const failed = (dying: SimulatedProcess, error: unknown) => kill(dying, `cannot start: ${error}`)
    const { openGuard } = restore ?? {}
    process = startProcess({ name, slot, policy, executions, timeline, random, database, commitMs, surround, commit, openGuard, failed })
  }

  function kill(dying: SimulatedProcess, how: string): void {
    dying.state = 'dead'
    timeline.say(`${dying.name} ${how}`)
    for (const callback of dying.onEnd) callback()
    timeline.after(5 + random.next() * 300, '', start)
  }

  function commit(by: SimulatedProcess, run: () => void): void {
    if (!isCalm() && random.chance(weather.commitFails)) {
      counts.hit('commit: refused')
      timeline.say(`${by.name} cannot commit`)
      database.failCommits(BROKEN_DISK)
      run()
      database.failCommits(null)
      return
    }
    const dies = !isCalm() && random.chance(weather.crashAfterCommit)
    // Dead already: nothing that follows from the commit gets out.
    if (dies) by.state = 'dead'
    timeline.say(`${by.name} commits`)
    run()
    committed(by)
    if (!dies) return
    counts.hit('crash: after a commit')
    kill(by, 'is killed right after the commit')
  }

  /** Stops it as an operator does, and starts the next one when it is gone. */
  function restart(): void {
    const leaving = process
    if (isCalm() || !leaving?.engine || leaving.state !== 'running') return
    counts.hit('stopped in an orderly way')
    timeline.say(`${leaving.name} is told to stop`)
    const { engine } = leaving
    leaving.engine = undefined
    engine.close().then(() => {
      if (leaving.state !== 'dead') kill(leaving, 'has stopped')
    })
  }

  return {
    begin() {
      start()
      for (let i = 0; i < weather.restarts; i++) timeline.after(random.next() * weather.calmAtMs, '', restart)
    },
    pick: () => process,
    killAll() {
      if (process && process.state !== 'dead') kill(process, 'is killed')
    },
    interfere(owner) {
      if (isCalm() || !random.chance(weather.crash) || owner !== process) return false
      counts.hit('crash')
      kill(process, 'is killed')
      return true
    },
    reached(point) {
      if (isCalm() || hasDied || point !== weather.diesAt || process?.state !== 'running' || process !== timeline.acting) return
      hasDied = true
      counts.hit(`killed: ${point}`)
      kill(process, `is killed at ${point}`)
    },
    calm() {},
    isWhole: () => process?.engine !== undefined,
    // A process that starts on an embedded database owns it.
    isAlive: () => false,
  }
}
