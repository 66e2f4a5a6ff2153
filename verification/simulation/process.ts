import type { PolicyDocument } from '@countersign/core'
import type { Logger } from 'pino'
import { createSealer } from '../../packages/server/src/audit/index.ts'
import type { Clock } from '../../packages/server/src/clock.ts'
import { createDispatch, createEventHub, createReconciler, createTimers, singleProcess } from '../../packages/server/src/dispatch/index.ts'
import type { Engine, ExecutionLimits } from '../../packages/server/src/engine.ts'
import { handleCommit } from '../../packages/server/src/handle-commit.ts'
import { createLogReader, type LogReader } from '../../packages/server/src/http/log-reader.ts'
import type { Guard } from '../../packages/server/src/instance/index.ts'
import { createTally } from '../../packages/server/src/metrics/index.ts'
import { startEngine } from '../../packages/server/src/start/start-engine.ts'
import { groupCommit } from '../../packages/server/src/store/group-commit.ts'
import type { Outbox } from '../../packages/server/src/store/index.ts'
import type { WorldDatabase } from './database.ts'
import type { Random } from './random.ts'
import type { Restore } from './restore.ts'
import type { Slot, Surroundings } from './slot.ts'
import type { Owner, Timeline } from './timeline.ts'

/** A server process of a simulated world. */
export interface SimulatedProcess extends Owner {
  /** Undefined until it has started. */
  engine: Engine | undefined
  /** The source of its streams; undefined until the engine is open. */
  logs: LogReader | undefined
  readonly log: Logger
  /** Called when it is gone. */
  readonly onEnd: Set<() => void>
}

export interface ProcessDeps {
  name: string
  slot: Slot
  policy: PolicyDocument
  executions: ExecutionLimits
  timeline: Timeline
  random: Random
  database: WorldDatabase
  /** How long a commit takes at most. */
  commitMs: number
  surround(owner: Owner): Surroundings
  /** Commits for a process; may also let it die before or after, or refuse. Called once per batch. */
  commit(process: SimulatedProcess, commit: () => void): void
  /** Opens the guard against copies. Undefined where the database is never restored. */
  openGuard?: Restore['openGuard'] | undefined
  /** It could not start, and gives up. */
  failed(process: SimulatedProcess, error: unknown): void
}

export function newProcess({ name, slot, surround }: Pick<ProcessDeps, 'name' | 'slot' | 'surround'>): SimulatedProcess {
  const process: SimulatedProcess = { name, state: 'running', engine: undefined, logs: undefined, log: slot.log, onEnd: new Set() }
  slot.now = surround(process)
  return process
}

/** It listens from now on, unless it died meanwhile. */
export function openDoor(process: SimulatedProcess, engine: Engine, timeline: Timeline): void {
  if (process.state === 'dead') return
  process.engine = engine
  process.logs = createLogReader(engine.store)
  timeline.say(`${process.name} is up`)
}

/** Starts a process on the embedded database: the production engine on the world's clock, its commits events of the timeline. */
export function startProcess(deps: ProcessDeps): SimulatedProcess {
  const { slot, policy, executions, timeline, random, database, commitMs, commit, openGuard, failed } = deps
  const process = newProcess(deps)
  const clock: Clock = {
    nowMs: () => timeline.nowMs,
    // A timer is never early and often a little late.
    after: (delayMs, callback) => timeline.after(delayMs + random.next(), '', callback, process),
  }
  const hub = createEventHub({ log: slot.log })
  const dispatch = createDispatch(slot.log, clock)
  const timers = createTimers({ clock, background: dispatch.background })
  const sealer = createSealer(clock)
  const tally = createTally()
  const tell = handleCommit({ hub, dispatch, timers, sealer, tally })
  let guard: Guard | undefined
  const store = groupCommit({
    db: database.connection,
    onCommitted: (outbox: Outbox) => {
      if (process.state === 'dead') return
      guard?.note(outbox)
      tell(outbox)
    },
    schedule: (run) => timeline.after(0.1 + random.next() * commitMs, '', () => commit(process, run), process),
  })
  const { tools, agents, log } = slot
  const reconciler = createReconciler(clock, clock.after)
  const membership = singleProcess({ store, dispatch, clock })
  async function begin(): Promise<Engine> {
    guard = await openGuard?.({ store, clock, log })
    const runtime = { store, hub, dispatch, timers, sealer, reconciler, tally, membership, guard, clock }
    return startEngine({ ...runtime, agents, tools, policy, executions, log })
  }
  begin().then(
    (engine) => openDoor(process, engine, timeline),
    (error) => {
      if (process.state !== 'dead') failed(process, error)
    },
  )
  return process
}
