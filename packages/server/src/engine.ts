import { join } from 'node:path'
import type { PolicyDocument, Principal } from '@countersign/core'
import type { Network, OwnFile, ToolSource } from '@countersign/toolkit'
import { checkpoint, type ToolRegistry } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import { type Agent, type AgentLoop, type Announcements, createAgentLoop, createAnnouncements } from './agent/index.ts'
import {
  type AnchorSender,
  type AuditKey,
  createRefusals,
  isGenuine,
  openAuditKey,
  openMemory,
  type Refusals,
  readAnchor,
  type Sealer,
  SYSTEM,
} from './audit/index.ts'
import type { Clock } from './clock.ts'
import { createConcurrencyLimiter, type EventHub, MODEL_CALLS, type Reconciler } from './dispatch/index.ts'
import { createGate, createStartFailures, type Gate } from './gate/index.ts'
import type { Held, InstanceSettings } from './instance/index.ts'
import type { Tally } from './metrics/index.ts'
import { createSender } from './notify/index.ts'
import { openObjectiveStore } from './objectives/index.ts'
import { openPinStore } from './pin-store.ts'
import { openPolicies, type Policies, requireUsable, seedPolicy } from './policy/index.ts'
import { openRuntime, type Runtime } from './runtime.ts'
import { type Database, principals, type Store, tellAccess } from './store/index.ts'

export interface EngineOptions {
  database: Database
  /** The first is the default of sessions that name none. */
  agents: readonly Agent[]
  tools: ToolRegistry
  /** Where tools come from that need something of the server. Default: none. */
  sources?: Iterable<ToolSource>
  /** Files of the server that no tool may change. Default: none. */
  ownFiles?: readonly OwnFile[]
  policy: PolicyDocument
  log: Logger
  clock?: Clock
  executions?: ExecutionLimits
  /** Sessions that are advanced at the same time; each makes one model call at a time. Default 200. */
  modelCalls?: number
  /** Where the key is that the record is signed with; default: in the database. */
  auditKeyFile?: string | undefined
  /** The file that the newest head of the record is remembered in. Default: beside the key, else in the data folder; on Postgres none. */
  headFile?: string | undefined
  /** Where heads are sent; its file is read back at the start. Default: nowhere. */
  anchor?: { sender: AnchorSender; file: string | undefined } | undefined
  /** How events are sent to webhooks. Default: they are stored and not sent. */
  webhooks?: { network: Network; publicUrl: string | undefined }
  /** How a copy of the database is told from the original. Default: by the file `instance` in the data folder. */
  instance?: InstanceSettings
}

/** How many actions are carried out at the same time. */
export interface ExecutionLimits {
  /** By this process; one tool takes half of it at most. Default 128. */
  perProcess: number
  /** Of one session, by whichever process. Default 8. */
  perSession: number
}

const DEFAULT_EXECUTIONS: ExecutionLimits = { perProcess: 128, perSession: 8 }

const USUAL_INSTANCE: InstanceSettings = { hold: false, acceptCopy: false, file: undefined, token: undefined }

const DRAIN_MS = 10_000

/** Store, gate, agent loop and dispatch joined: everything but a way in from outside. */
export interface Engine {
  readonly store: Store
  readonly clock: Clock
  readonly gate: Gate
  /** What is refused, in the record. */
  readonly refusals: Refusals
  readonly agentLoop: AgentLoop
  /** What was sent to which person: whoever sends actions notes it here. */
  readonly announcements: Announcements
  readonly policies: Policies
  readonly agents: ReadonlyMap<string, Agent>
  readonly hub: EventHub
  readonly auditKey: AuditKey
  /** Signs the record. */
  readonly sealer: Sealer
  /** Why nothing can be begun or decided at the moment; undefined while all is well. */
  readonly trouble: string | undefined
  /** Whether everything is held because the database looks like a copy, and the way out of that. */
  readonly hold: {
    /** As a sentence; undefined while everything goes on. */
    readonly why: string | undefined
    /**
     * Takes the database for an installation of its own: a new epoch begins, what was under way in the one before is of unknown outcome, and
     * everything else goes on. Harmless when nothing is held. @param by Without one, the command line says so.
     */
    accept(by?: Principal): Promise<void>
  }
  /** What was due and had not begun, and what was put up again because of it. */
  readonly reconciler: Reconciler
  /** What this process has committed since it started, counted. */
  readonly tally: Tally
  /** How many jobs are due and wait to be begun: on Postgres those of all processes. At most 100,000 are counted. */
  countWaitingJobs(): Promise<number>
  /** Makes a principal known, or changes the name and roles of one that is: everybody who calls the gate is in the database first. */
  savePrincipal(principal: Principal): Promise<void>
  /** Resolves when nothing is under way: everything waits for a person or is done. */
  idle(): Promise<void>
  /** Begins nothing more, stops model calls and lets running tools finish for at most `drainMs` (default 10_000). */
  drain(drainMs?: number): Promise<void>
  /** Drains and closes the database. What was cut off is taken up by another process at once, or by the next start. */
  close(): Promise<void>
}

/**
 * Opens the engine on its data and takes up whatever an earlier process left.
 * @throws Error when the database cannot be opened (newer version, in use, too old, away).
 */
export async function openEngine({
  database,
  clock,
  executions = DEFAULT_EXECUTIONS,
  modelCalls = MODEL_CALLS,
  instance = USUAL_INSTANCE,
  ...options
}: EngineOptions): Promise<Engine> {
  const runtime = await openRuntime(database, { clock, executions: executions.perProcess, modelCalls, instance, log: options.log })
  try {
    const isAlone = database.kind === 'sqlite'
    const besideKey = options.auditKeyFile === undefined ? undefined : `${options.auditKeyFile}.head`
    const headFile = options.headFile ?? besideKey ?? (isAlone ? join(database.dataDir, 'record.head') : undefined)
    const record = { headFile, isAlone, acceptLoss: isAlone && database.acceptLoss === true }
    return await startEngine({ ...options, ...runtime, ...record, executions, acceptCopy: instance.acceptCopy })
  } catch (error) {
    await runtime.membership.leave(false)
    runtime.guard?.close()
    await runtime.store.close()
    throw error
  }
}

/** The same on a runtime of the caller's: a simulation has its own. */
export async function startEngine({
  store,
  clock,
  hub,
  dispatch,
  timers,
  deliveries,
  sealer,
  reconciler,
  tally,
  membership,
  guard,
  acceptCopy = false,
  agents,
  tools,
  sources = [],
  ownFiles = [],
  policy,
  log,
  executions = DEFAULT_EXECUTIONS,
  auditKeyFile,
  headFile,
  anchor,
  webhooks,
  isAlone = false,
  acceptLoss = false,
}: Omit<EngineOptions, 'database' | 'clock' | 'modelCalls' | 'instance'> &
  Runtime & { acceptCopy?: boolean; isAlone?: boolean; acceptLoss?: boolean }): Promise<Engine> {
  const byName = new Map(agents.map((agent) => [agent.name, agent]))
  // Before anything that an earlier process left is carried out with their tools.
  for (const source of sources)
    await source.attach?.({ log, pins: openPinStore(store, clock), objectives: openObjectiveStore(store, clock), ownFiles })
  await seedPolicy(store, policy, clock.nowMs())
  const policies = await openPolicies(store)
  requireUsable(policies.current, { tools, agents: [...byName.keys()] })
  const stopped = new AbortController()
  const lanes = createConcurrencyLimiter(executions.perProcess)
  const startFailures = createStartFailures()
  const refusals = createRefusals({ store, clock, log })
  const gate = createGate({
    refusals,
    store,
    tools,
    policies,
    clock,
    log,
    get processId() {
      return membership.processId
    },
    stopped: stopped.signal,
    agentStopsOnDecline: (agent) => agent !== null && byName.get(agent)?.onDecline === 'stop',
    lanes,
    startFailures,
    executionsPerSession: executions.perSession,
    background: dispatch.background,
  })
  const announcements = createAnnouncements(clock)
  const agentLoop = createAgentLoop({
    refusals,
    announcements,
    store,
    agents: byName,
    defaultAgent: agents[0]?.name ?? '',
    policies,
    clock,
    log,
    claimStep: dispatch.claimStep,
    onRunEnded: hub.onRunEnded,
  })

  const auditKey = await openAuditKey(store, auditKeyFile)
  checkpoint('start.opened')
  const sender =
    webhooks &&
    deliveries &&
    createSender({
      ...webhooks,
      ...{ store, clock, log },
      processId: () => membership.processId,
      background: dispatch.background,
      rearm: deliveries.rearm,
    })
  const rearm = () => {
    timers.rearm()
    deliveries?.rearm()
    sealer.wake()
  }
  let hasBegun = false
  /** Begins to carry things out, or takes up what was left while everything was held. */
  async function goOn(): Promise<void> {
    if (hasBegun) {
      await membership.takeUp()
      return rearm()
    }
    hasBegun = true
    const recover = async (gone?: readonly string[]) => {
      await gate.recover(gone)
      await sender?.recover(gone)
    }
    await membership.join({ recover, abortModelCalls: agentLoop.abortModelCalls, rearm })
    checkpoint('start.recovered')
    dispatch.start({ advance: agentLoop.advance, execute: gate.execute })
    // Nothing that only time calls for happens while everything is held.
    timers.start({ doWhatIsDue: async (signal) => (guard?.held ? undefined : gate.doWhatIsDue(signal)) })
    if (sender) deliveries?.start({ doWhatIsDue: async (signal) => (guard?.held ? undefined : sender.doWhatIsDue(signal)) })
  }
  async function accept(by?: Principal): Promise<void> {
    if (!guard?.held) return
    await gate.endAttemptsBefore(guard.held.sinceMs)
    checkpoint('accept.attempts_ended')
    const { why } = guard.held
    await guard.accept(by)
    // A database that is older than what was sealed is what a restored copy is: one acceptance is enough.
    await sealer.accept(by?.id ?? SYSTEM, `The copy was accepted: ${why}`, 'behind')
  }
  const sent = anchor?.file === undefined ? [] : readAnchor(anchor.file).filter((head) => isGenuine(head, [auditKey.publicKey]))
  const memory = openMemory({ file: headFile, others: sent, log })
  sealer.start({ store, key: auditKey, log, memory, isAlone, onHead: (head) => anchor?.sender.take(head) })
  if (acceptLoss) await sealer.accept(SYSTEM, 'The server was started with --accept-loss.', 'behind')
  if (acceptCopy) {
    if (guard?.held) await accept()
    else log.warn('instance.nothing_to_accept')
  }
  guard?.onChange((held: Held | undefined) => {
    if (held) agentLoop.abortModelCalls()
    else dispatch.background(goOn())
  })
  if (!guard?.held) await goOn()
  reconciler.start({
    store,
    dispatch,
    log,
    executionsPerSession: executions.perSession,
    isRetried: startFailures.isRetried,
    isGivenUp: startFailures.isGivenUp,
    isAble: () => store.health.damage === undefined && membership.trouble === undefined && guard?.held === undefined,
  })
  checkpoint('start.dispatching')

  let draining: Promise<void> | undefined
  let isDrained = false
  const drain = (drainMs = DRAIN_MS) => (draining ??= endWork(drainMs))
  async function endWork(drainMs: number): Promise<void> {
    reconciler.stop()
    dispatch.stop()
    timers.stop()
    deliveries?.stop()
    const forgetSends = sender?.stop()
    lanes.close()
    agentLoop.abortModelCalls()
    const late = Promise.withResolvers<boolean>()
    const stopWaiting = clock.after(drainMs, () => late.resolve(false))
    const ended = async () => {
      await dispatch.drained()
      await sealer.finish()
      return true
    }
    isDrained = await Promise.race([ended(), late.promise])
    stopWaiting()
    forgetSends?.()
    stopped.abort()
    checkpoint('stop.drained')
  }

  return {
    store,
    clock,
    gate,
    refusals,
    agentLoop,
    announcements,
    policies,
    agents: byName,
    hub,
    auditKey,
    sealer,
    reconciler,
    tally,
    countWaitingJobs: async () => (await dispatch.countWaiting()) + lanes.waiting,
    get trouble() {
      return store.health.damage ?? membership.trouble
    },
    hold: {
      get why() {
        return guard?.held?.why
      },
      accept,
    },
    savePrincipal: (principal) =>
      store.transact((outbox) => {
        tellAccess(outbox, principal.id)
        return principals.savePrincipal(principal, clock.nowMs())
      }),
    // Jobs that came with a copy wait for its acceptance.
    idle: async () => (guard?.held ? undefined : dispatch.idle()),
    drain,
    async close() {
      await drain()
      await refusals.flush()
      await membership.leave(isDrained)
      checkpoint('stop.left')
      guard?.close()
      await store.close()
    },
  }
}
