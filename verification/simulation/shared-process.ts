import { createSealer } from '../../packages/server/src/audit/index.ts'
import type { Clock } from '../../packages/server/src/clock.ts'
import { clusterMember } from '../../packages/server/src/dispatch/cluster/cluster-membership.ts'
import { createFetches } from '../../packages/server/src/dispatch/cluster/fetches.ts'
import {
  createPeers,
  createPostgresHub,
  createResync,
  EVERYTHING,
  openNotices,
  openProcesses,
} from '../../packages/server/src/dispatch/cluster/index.ts'
import { createJobDispatch } from '../../packages/server/src/dispatch/cluster/job-dispatch.ts'
import { createReconciler, createTimers } from '../../packages/server/src/dispatch/index.ts'
import type { Engine } from '../../packages/server/src/engine.ts'
import { handleCommit } from '../../packages/server/src/handle-commit.ts'
import { createTally } from '../../packages/server/src/metrics/index.ts'
import { startEngine } from '../../packages/server/src/start/start-engine.ts'
import type { Dialect } from '../../packages/server/src/store/dialect.ts'
import type { Machine, Outbox } from '../../packages/server/src/store/index.ts'
import { openSimulatedPool } from './job-pool.ts'
import type { SimulatedPostgres } from './postgres.ts'
import { newProcess, openDoor, type ProcessDeps, type SimulatedProcess } from './process.ts'
import { type CommitFate, openSharedStore } from './shared-store.ts'

export interface SharedProcessParts extends Omit<ProcessDeps, 'commit' | 'commitMs'> {
  postgres: SimulatedPostgres
  dialect: Dialect
  /** By how much this machine's own clock is wrong. */
  skewMs: number
  takePlaces(count: number): number
  fateOf(): CommitFate
  isFetchLost(): boolean
  onFetchStalled(): void
  committed(process: SimulatedProcess): void
}

/** Starts one of several processes on one database: all that production puts together for it, on simulated connections. */
export function startSharedProcess(parts: SharedProcessParts): SimulatedProcess {
  const { name, slot, policy, executions, timeline, random, database, postgres } = parts
  const process = newProcess(parts)
  const local: Clock = {
    nowMs: () => timeline.nowMs + parts.skewMs,
    after: (delayMs, callback) => timeline.after(delayMs + random.next(), '', callback, process),
  }
  const machine: Machine = {
    clock: local,
    steadyMs: () => timeline.elapsedMs,
    newClient: (config) => postgres.connect(process, String(config.application_name)).asClient(),
  }
  const { tools, agents, log } = slot

  async function start(): Promise<Engine> {
    let tell = (_outbox: Outbox) => {}
    const onCommitted = (outbox: Outbox) => tell(outbox)
    let resync = () => {}
    const onUnknown = () => resync()
    const { jobs } = postgres
    let hold = (_outbox: Outbox) => {}
    const store = openSharedStore({
      ...parts,
      process,
      clock: local,
      database,
      jobs,
      hold: (outbox) => hold(outbox),
      claimDueStep: (step) => postgres.claimDueStep(step),
      onCommitted,
      onUnknown,
    })
    const peers = createPeers(machine)
    const processes = await openProcesses({ url: 'simulated', name, version: '1', machine, log, peers })
    const notices = await openNotices('simulated', machine, peers)
    peers.onAppear(() => notices.tell(EVERYTHING))
    const hub = createPostgresHub({ store, notices, clock: local, log })
    let pools = 0
    const fetches = createFetches()
    const pool = {
      process,
      timeline,
      random,
      jobs,
      fetches,
      isAnswerLost: parts.isFetchLost,
      onStall: parts.onFetchStalled,
      newId: () => `${name}-${++pools}`,
    }
    const dispatch = createJobDispatch({
      openPool: (options) => openSimulatedPool(pool, options),
      fetches,
      close: async () => {},
      clock: local,
      processes,
      notices,
      limits: { advance: 200, execute: 128 },
      log,
    })
    // Half of the processes are always full: their work is for whoever fetches it.
    const holds = random.chance(0.5)
    hold = (outbox) => {
      if (holds && random.chance(0.9)) dispatch.hold(outbox)
    }
    const { clock } = processes
    const timers = createTimers({ clock, background: dispatch.background })
    const sealer = createSealer(clock)
    const tally = createTally()
    tell = handleCommit({ hub, dispatch, timers, sealer, tally })
    resync = createResync({ notices, hub, dispatch, timers, sealer })
    const reconciler = createReconciler(clock, local.after)
    const membership = clusterMember({ processes, notices, hub, dispatch, resync, log })
    return startEngine({
      store,
      clock,
      hub,
      dispatch,
      timers,
      sealer,
      reconciler,
      tally,
      membership,
      agents,
      tools,
      policy,
      executions,
      log,
    })
  }

  start().then(
    (engine) => openDoor(process, engine, timeline),
    (error) => {
      if (process.state !== 'dead') parts.failed(process, error)
    },
  )
  return process
}
