import { hostname } from 'node:os'
import { VERSION } from '@countersign/toolkit/internal'
import { createSealer } from './audit/index.ts'
import {
  clusterMember,
  createPeers,
  createPostgresHub,
  createResync,
  EVERYTHING,
  openGraphile,
  openNotices,
  openProcesses,
} from './dispatch/cluster/index.ts'
import { createReconciler, createTimers } from './dispatch/index.ts'
import { handleCommit } from './handle-commit.ts'
import { type Guard, openGuard } from './instance/index.ts'
import { createTally } from './metrics/index.ts'
import type { Runtime, RuntimeOptions } from './runtime.ts'
import { type Database, enqueueJobs, findNewer, type Outbox, openPostgres, thisMachine } from './store/index.ts'

/** Opens the runtime of one of several processes on one Postgres. */
export async function openPostgresRuntime(
  { url, directUrl }: Database & { kind: 'postgres' },
  { clock: given, executions, modelCalls, instance, log, beforeOpen }: RuntimeOptions,
): Promise<Runtime> {
  await beforeOpen?.()
  const stack = new AsyncDisposableStack()
  try {
    let tell = (_outbox: Outbox) => {}
    let resync = () => {}
    let hold = (_outbox: Outbox) => {}
    let guard: Guard | undefined
    const store = await openPostgres({
      url,
      directUrl,
      onCommitted(outbox) {
        guard?.note(outbox)
        tell(outbox)
      },
      onUnknown: () => resync(),
      enqueue(outbox) {
        hold(outbox)
        return enqueueJobs(outbox)
      },
      warn: (problem) => log.warn({ problem }, 'database.durability_reduced'),
      onMigrate: (migration, left) => log.info({ migration, left }, 'database.migrating'),
      onDamage: (problem) => log.fatal({ problem }, 'database.damaged'),
    })
    stack.defer(() => store.close())
    const ownUrl = directUrl ?? url
    const peers = createPeers(thisMachine)
    const processes = await openProcesses({
      url: ownUrl,
      name: `${hostname()}:${process.pid}`,
      version: VERSION,
      machine: thisMachine,
      log,
      peers,
      findNewer: (session) => findNewer(session, thisMachine.clock),
      onNewer: store.health.refuse,
    })
    stack.defer(() => processes.leave(true))
    const notices = stack.use(await openNotices(ownUrl, thisMachine, peers))
    peers.onAppear(() => notices.tell(EVERYTHING))
    const hub = createPostgresHub({ store, notices, clock: thisMachine.clock, log })
    const limits = { advance: modelCalls, execute: executions }
    const dispatch = await openGraphile({ url: ownUrl, clock: thisMachine.clock, processes, notices, limits, log })
    hold = dispatch.hold
    const clock = given ?? processes.clock
    const timers = createTimers({ clock, background: dispatch.background })
    const deliveries = createTimers({ clock, background: dispatch.background })
    const sealer = createSealer(clock)
    const tally = createTally()
    tell = handleCommit({ hub, dispatch, timers, deliveries, sealer, tally })
    resync = createResync({ notices, hub, dispatch, timers, deliveries, sealer })
    const reconciler = createReconciler(clock, thisMachine.clock.after)
    const membership = clusterMember({ processes, notices, hub, dispatch, resync, log })
    const { hasOthers, hasEarlier } = processes
    guard = await openGuard({ store, database: { kind: 'postgres', url }, settings: instance, clock, log, hasOthers, hasEarlier })
    stack.move()
    return { store, clock, hub, dispatch, timers, deliveries, sealer, reconciler, tally, membership, guard }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}
