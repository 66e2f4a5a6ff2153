import { hostname } from 'node:os'
import { VERSION } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import { createSealer, type Sealer } from './audit/index.ts'
import { type Clock, systemClock } from './clock.ts'
import {
  clusterMember,
  createDispatch,
  createEventHub,
  createPeers,
  createPostgresHub,
  createReconciler,
  createResync,
  createTimers,
  type Dispatch,
  EVERYTHING,
  type EventHub,
  type Membership,
  openGraphile,
  openNotices,
  openProcesses,
  pollSqliteChanges,
  type Reconciler,
  singleProcess,
  type Timers,
} from './dispatch/index.ts'
import { type Guard, type InstanceSettings, openGuard } from './instance/index.ts'
import { createTally, type Tally } from './metrics/index.ts'
import { type Database, enqueueJobs, type Outbox, openPostgres, openSqlite, type Store, thisMachine } from './store/index.ts'

/** The base of the engine: the store, and the services that drive the work. */
export interface Runtime {
  store: Store
  clock: Clock
  hub: EventHub
  dispatch: Dispatch
  timers: Timers
  /** Wakes the sender of webhooks. Without it nothing is sent to any. */
  deliveries?: Timers
  sealer: Sealer
  reconciler: Reconciler
  /** Counts what this process commits. */
  tally: Tally
  membership: Membership
  /** Distinguishes a copy of the database from the original. Default: it is the original. */
  guard?: Guard
}

export interface RuntimeOptions {
  /** Default: this machine's, or on Postgres the database's. */
  clock: Clock | undefined
  /** Actions executed concurrently. */
  executions: number
  modelCalls: number
  instance: InstanceSettings
  log: Logger
}

/** Pending webhook deliveries of all commits within this time are looked up in one query. */
const GATHER_MS = 25

/** Handles a commit in the process that made it. */
export const handOut =
  ({
    hub,
    dispatch,
    timers,
    deliveries,
    sealer,
    tally,
  }: Pick<Runtime, 'hub' | 'dispatch' | 'timers' | 'deliveries' | 'sealer' | 'tally'>) =>
  (outbox: Outbox) => {
    if (outbox.events.length > 0) hub.publish(outbox.events)
    if (outbox.sessions.size + outbox.actions.size > 0 || outbox.ended) dispatch.take(outbox)
    if (outbox.dueAt !== undefined) timers.arm(outbox.dueAt)
    if (outbox.deliveriesAt !== undefined) deliveries?.arm(outbox.deliveriesAt + GATHER_MS)
    if (outbox.access) hub.publishAccess(outbox.access)
    if (outbox.isAudited) sealer.wake()
    if (outbox.happened) tally.note(outbox.happened)
  }

const sayDamaged = (log: Logger) => (problem: string) => log.fatal({ problem }, 'database.damaged')

export const openRuntime = (database: Database, options: RuntimeOptions): Promise<Runtime> =>
  database.kind === 'sqlite' ? openAlone(database, options) : openAmongOthers(database, options)

async function openAlone(
  database: Database & { kind: 'sqlite' },
  { clock = systemClock, modelCalls, instance, log }: RuntimeOptions,
): Promise<Runtime> {
  const hub: EventHub = createEventHub((changed) => pollSqliteChanges({ store, clock, changed }))
  const dispatch = createDispatch(log, clock, modelCalls)
  const timers = createTimers({ clock, background: dispatch.background })
  const deliveries = createTimers({ clock, background: dispatch.background })
  const sealer = createSealer(clock)
  const tally = createTally()
  const tell = handOut({ hub, dispatch, timers, deliveries, sealer, tally })
  let guard: Guard | undefined
  const store: Store = openSqlite({
    dataDir: database.dataDir,
    acceptLoss: database.acceptLoss,
    onDamage: sayDamaged(log),
    onCommitted(outbox) {
      guard?.note(outbox)
      tell(outbox)
    },
  })
  try {
    guard = await openGuard({ store, database, settings: instance, clock, log })
  } catch (error) {
    await store.close()
    throw error
  }
  // A test that stops the clock does not stop this.
  const reconciler = createReconciler(clock, systemClock.after)
  return {
    store,
    clock,
    hub,
    dispatch,
    timers,
    deliveries,
    sealer,
    reconciler,
    tally,
    membership: singleProcess({ store, dispatch, clock }),
    guard,
  }
}

async function openAmongOthers(
  { url, directUrl }: Database & { kind: 'postgres' },
  { clock: given, executions, modelCalls, instance, log }: RuntimeOptions,
): Promise<Runtime> {
  const stack = new AsyncDisposableStack()
  try {
    let tell = (_outbox: Outbox) => {}
    let lookAround = () => {}
    let hold = (_outbox: Outbox) => {}
    let guard: Guard | undefined
    const store = await openPostgres({
      url,
      directUrl,
      onCommitted(outbox) {
        guard?.note(outbox)
        tell(outbox)
      },
      onUnknown: () => lookAround(),
      enqueue(outbox) {
        hold(outbox)
        return enqueueJobs(outbox)
      },
      warn: (problem) => log.warn({ problem }, 'database.durability_reduced'),
      onDamage: sayDamaged(log),
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
    tell = handOut({ hub, dispatch, timers, deliveries, sealer, tally })
    lookAround = createResync({ notices, hub, dispatch, timers, deliveries, sealer })
    const reconciler = createReconciler(clock, thisMachine.clock.after)
    const membership = clusterMember({ processes, notices, hub, dispatch, lookAround, log })
    const hasOthers = () => processes.hasOthers()
    guard = await openGuard({ store, database: { kind: 'postgres', url }, settings: instance, clock, log, hasOthers })
    stack.move()
    return { store, clock, hub, dispatch, timers, deliveries, sealer, reconciler, tally, membership, guard }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}
