import type { Logger } from 'pino'
import { createSealer, type Sealer } from './audit/index.ts'
import { type Clock, systemClock } from './clock.ts'
import {
  createDispatch,
  createEventHub,
  createReconciler,
  createTimers,
  type Dispatch,
  type EventHub,
  type Membership,
  pollSqliteChanges,
  type Reconciler,
  singleProcess,
  type Timers,
} from './dispatch/index.ts'
import { handleCommit } from './handle-commit.ts'
import { type Guard, type InstanceSettings, openGuard } from './instance/index.ts'
import { createTally, type Tally } from './metrics/index.ts'
import { type Database, openSqlite, ownFolder, type Store } from './store/index.ts'

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
  /** Called before anything of the database is changed; in a data folder, once it is this process's own. Default: does nothing. */
  beforeOpen: (() => Promise<void>) | undefined
}

export async function openRuntime(database: Database, options: RuntimeOptions): Promise<Runtime> {
  if (database.kind === 'sqlite') return openSqliteRuntime(database, options)
  // Loaded only where the database is Postgres: with graphile-worker it is 80 of the modules of a start.
  const { openPostgresRuntime } = await import('./postgres-runtime.ts')
  return openPostgresRuntime(database, options)
}

async function openSqliteRuntime(
  database: Database & { kind: 'sqlite' },
  { clock = systemClock, modelCalls, instance, log, beforeOpen }: RuntimeOptions,
): Promise<Runtime> {
  // Taken first: if another process owns the folder, the error names the folder, not the port that the same process listens on.
  const owner = ownFolder(database.dataDir)
  try {
    await beforeOpen?.()
  } catch (error) {
    owner.close()
    throw error
  }
  const hub: EventHub = createEventHub({ log, othersWrite: (changed) => pollSqliteChanges({ store, clock, changed }) })
  const dispatch = createDispatch(log, clock, modelCalls)
  const timers = createTimers({ clock, background: dispatch.background })
  const deliveries = createTimers({ clock, background: dispatch.background })
  const sealer = createSealer(clock)
  const tally = createTally()
  const tell = handleCommit({ hub, dispatch, timers, deliveries, sealer, tally })
  let guard: Guard | undefined
  const store: Store = openSqlite({
    dataDir: database.dataDir,
    owner,
    acceptLoss: database.acceptLoss,
    onMigrate: (migration, left) => log.info({ migration, left }, 'database.migrating'),
    onDamage: (problem) => log.fatal({ problem }, 'database.damaged'),
    onUnchecked: (why) => log.warn({ why }, 'database.check_ended'),
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
