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
import { createSender, openPushKey, type PushKey } from './notify/index.ts'
import { openObjectiveStore } from './objectives/index.ts'
import { openPinStore } from './pin-store.ts'
import { openPolicies, type Policies, requireUsable, seedPolicy } from './policy/index.ts'
import { openRegisteredTools, type RegisteredTools } from './registered/index.ts'
import { openRuntime, type Runtime } from './runtime.ts'
import { type Database, principals, type Store, tellAccess } from './store/index.ts'

export interface EngineOptions {
  database: Database
  /** The first is the default of sessions that name none. */
  agents: readonly Agent[]
  tools: ToolRegistry
  /** Tool sources that need access to the server. Default: none. */
  sources?: Iterable<ToolSource>
  /** Files of the server that no tool may change. Default: none. */
  ownFiles?: readonly OwnFile[]
  policy: PolicyDocument
  log: Logger
  clock?: Clock
  executions?: ExecutionLimits
  /** Sessions that are advanced concurrently; each makes one model call at a time. Default 200. */
  modelCalls?: number
  /** Where the key is that signs the record; default: in the database. */
  auditKeyFile?: string | undefined
  /** The file of the remembered newest head of the record. Default: beside the key, else in the data folder; on Postgres none. */
  headFile?: string | undefined
  /** Where heads are sent; its file is read back at the start. Default: nowhere. */
  anchor?: { sender: AnchorSender; file: string | undefined } | undefined
  /** How events are sent to webhooks and browsers. Default: they are stored and not sent. */
  webhooks?: { network: Network; publicUrl: string | undefined }
  /** How a copy of the database is distinguished from the original. Default: by the file `instance` in the data folder. */
  instance?: InstanceSettings
}

/** How many actions are executed concurrently. */
export interface ExecutionLimits {
  /** By this process; one tool takes half of it at most. Default 128. */
  perProcess: number
  /** In one session, by all processes. Default 8. */
  perSession: number
}

const DEFAULT_EXECUTIONS: ExecutionLimits = { perProcess: 128, perSession: 8 }

const USUAL_INSTANCE: InstanceSettings = { hold: false, acceptCopy: false, file: undefined, token: undefined }

const DRAIN_MS = 10_000

/** Between tries to go on after a hold. */
const FIRST_RELEASE_WAIT_MS = 100
const MAX_RELEASE_WAIT_MS = 5_000

/** Store, gate, agent loop and dispatch, wired together: everything except the interfaces to the outside. */
export interface Engine {
  readonly store: Store
  readonly clock: Clock
  readonly gate: Gate
  /** Records refusals. */
  readonly refusals: Refusals
  readonly agentLoop: AgentLoop
  /** Actions that were shown to a person: code that sends actions notes it here. */
  readonly announcements: Announcements
  readonly policies: Policies
  /** Identifies this installation at push services. */
  readonly pushKey: PushKey
  readonly registered: RegisteredTools
  readonly agents: ReadonlyMap<string, Agent>
  readonly hub: EventHub
  readonly auditKey: AuditKey
  /** Signs the record. */
  readonly sealer: Sealer
  /** Why nothing can be begun or decided at the moment; undefined while it can. */
  readonly trouble: string | undefined
  /** The hold because the database looks like a copy, and how to end it. */
  readonly hold: {
    /** The reason as a sentence; undefined while nothing is held. */
    readonly why: string | undefined
    /**
     * Makes the database a separate installation: a new epoch begins, work in flight in the previous one gets an unknown outcome, and
     * everything else continues. Does nothing when nothing is held. @param by Undefined for the command line.
     */
    accept(by?: Principal): Promise<void>
  }
  /** Overdue work, and the work that was enqueued again because of it. */
  readonly reconciler: Reconciler
  /** Counts what this process has committed since it started. */
  readonly tally: Tally
  /** Returns how many due jobs wait to begin: on Postgres those of all processes. Counts at most 100,000. */
  countWaitingJobs(): Promise<number>
  /** Stores a principal, or updates the name and roles of a known one: every caller of the gate has to be in the database first. */
  savePrincipal(principal: Principal): Promise<void>
  /** Resolves when nothing is in flight: everything waits for a person or is done. */
  idle(): Promise<void>
  /** Begins nothing more, stops model calls and lets running tools finish for at most `drainMs` (default 10_000). */
  drain(drainMs?: number): Promise<void>
  /** Drains and closes the database. Another process, or the next start, adopts interrupted work. */
  close(): Promise<void>
}

/**
 * Opens the engine on its data and adopts the work that an earlier process left.
 * @throws Error when the database cannot be opened (newer version, in use, too old, unreachable).
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

/** The same on the caller's runtime: a simulation has its own. */
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
  tools: configured,
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
  // Before work of an earlier process is executed with these tools.
  for (const source of sources)
    await source.attach?.({ log, pins: openPinStore(store, clock), objectives: openObjectiveStore(store, clock), ownFiles })
  const registered = await openRegisteredTools({ store, clock, log, configured })
  const { tools } = registered
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
    refreshTool: registered.refresh,
    policies,
    clock,
    log,
    get processId() {
      return membership.processId
    },
    stopped: stopped.signal,
    agentStopsOnDecline: (agent) => agent !== null && byName.get(agent)?.onDecline === 'stop',
    lanes,
    startsWithDecision: true,
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
  const pushKey = await openPushKey(store, webhooks?.publicUrl)
  checkpoint('start.opened')
  const sender =
    webhooks &&
    deliveries &&
    createSender({
      ...webhooks,
      ...{ store, clock, log, pushKey },
      processId: () => membership.processId,
      background: dispatch.background,
      rearm: deliveries.rearm,
    })
  const rearm = () => {
    timers.rearm()
    deliveries?.rearm()
    sealer.wake()
  }
  let draining: Promise<void> | undefined
  let hasBegun = false
  let beginning: Promise<void> | undefined
  /** Starts to execute work, including the work that was left while everything was held. */
  async function goOn(): Promise<void> {
    if (hasBegun) {
      await membership.takeUp()
      return rearm()
    }
    beginning ??= begin().finally(() => {
      beginning = undefined
    })
    await beginning
  }
  async function begin(): Promise<void> {
    const recover = async (gone?: readonly string[]) => {
      await gate.recover(gone)
      await sender?.recover(gone)
    }
    await membership.join({ recover, abortModelCalls: agentLoop.abortModelCalls, rearm })
    checkpoint('start.recovered')
    dispatch.start({ advance: agentLoop.advance, execute: gate.execute })
    // Timers fire nothing while everything is held.
    timers.start({ doWhatIsDue: async (signal) => (guard?.held ? undefined : gate.doWhatIsDue(signal)) })
    if (sender) deliveries?.start({ doWhatIsDue: async (signal) => (guard?.held ? undefined : sender.doWhatIsDue(signal)) })
    hasBegun = true
  }
  /** Goes on after a hold, repeated until the database takes it: nothing else would start the work that was left. */
  async function goOnAfterHold(): Promise<void> {
    for (let failures = 0; !guard?.held && !draining; failures++) {
      try {
        return await goOn()
      } catch (error) {
        const waitMs = Math.min(MAX_RELEASE_WAIT_MS, FIRST_RELEASE_WAIT_MS * 2 ** failures)
        log.error({ waitMs, error }, 'hold.release_failed')
        await new Promise<void>((resolve) => clock.after(waitMs, resolve))
      }
    }
  }
  async function accept(by?: Principal): Promise<void> {
    if (!guard?.held) return
    await gate.endAttemptsBefore(guard.held.sinceMs)
    checkpoint('accept.attempts_ended')
    const { why } = guard.held
    await guard.accept(by)
    // A restored copy is also older than its seals, so one acceptance covers both.
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
    else dispatch.background(goOnAfterHold())
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
    registered,
    agents: byName,
    hub,
    auditKey,
    pushKey,
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
