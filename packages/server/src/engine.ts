import type { PolicyDocument, Principal } from '@countersign/core'
import type { Logger } from 'pino'
import { type Agent, type AgentLoop, createAgentLoop } from './agent/index.ts'
import { type AuditKey, openAuditKey } from './audit/index.ts'
import type { Clock } from './clock.ts'
import { createLanes, type EventHub, MODEL_CALLS } from './dispatch/index.ts'
import { createGate, type Gate } from './gate/index.ts'
import { type Ground, openGround } from './ground.ts'
import { openObjectiveStore } from './objectives/index.ts'
import { openPinStore } from './pin-store.ts'
import { reach } from './points.ts'
import { openPolicies, type Policies, requireUsable, seedPolicy } from './policy/index.ts'
import { type Database, principals, type Store, tellAccess } from './store/index.ts'
import type { ToolRegistry, ToolSource } from './tools/index.ts'

export interface EngineOptions {
  database: Database
  /** The first is the default of sessions that name none. */
  agents: readonly Agent[]
  tools: ToolRegistry
  /** Where tools come from that need something of the server. Default: none. */
  sources?: Iterable<ToolSource>
  policy: PolicyDocument
  log: Logger
  clock?: Clock
  executions?: ExecutionLimits
  /** Sessions that are advanced at the same time; each makes one model call at a time. Default 200. */
  modelCalls?: number
  /** Where the key is that the record is signed with; default: in the database. */
  auditKeyFile?: string | undefined
}

/** How many actions are carried out at the same time. */
export interface ExecutionLimits {
  /** By this process; one tool takes half of it at most. Default 128. */
  perProcess: number
  /** Of one session, by whichever process. Default 8. */
  perSession: number
}

const DEFAULT_EXECUTIONS: ExecutionLimits = { perProcess: 128, perSession: 8 }

const DRAIN_MS = 10_000

/** Store, gate, agent loop and dispatch joined: everything but a way in from outside. */
export interface Engine {
  readonly store: Store
  readonly clock: Clock
  readonly gate: Gate
  readonly agentLoop: AgentLoop
  readonly policies: Policies
  readonly agents: ReadonlyMap<string, Agent>
  readonly hub: EventHub
  readonly auditKey: AuditKey
  /** Why nothing can be begun or decided at the moment; undefined while all is well. */
  readonly trouble: string | undefined
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
  ...options
}: EngineOptions): Promise<Engine> {
  const ground = await openGround(database, { clock, executions: executions.perProcess, modelCalls, log: options.log })
  try {
    return await startEngine({ ...options, ...ground, executions })
  } catch (error) {
    await ground.membership.leave(false)
    await ground.store.close()
    throw error
  }
}

/** The same on a ground of the caller's: a simulation has its own. */
export async function startEngine({
  store,
  clock,
  hub,
  dispatch,
  timers,
  sealer,
  membership,
  agents,
  tools,
  sources = [],
  policy,
  log,
  executions = DEFAULT_EXECUTIONS,
  auditKeyFile,
}: Omit<EngineOptions, 'database' | 'clock' | 'modelCalls'> & Ground): Promise<Engine> {
  const byName = new Map(agents.map((agent) => [agent.name, agent]))
  // Before anything that an earlier process left is carried out with their tools.
  for (const source of sources)
    await source.attach?.({ log, pins: openPinStore(store, clock), objectives: openObjectiveStore(store, clock) })
  await seedPolicy(store, policy, clock.nowMs())
  const policies = await openPolicies(store)
  requireUsable(policies.current, { tools, agents: [...byName.keys()] })
  const stopped = new AbortController()
  const lanes = createLanes(executions.perProcess)
  const gate = createGate({
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
    executionsPerSession: executions.perSession,
    background: dispatch.background,
  })
  const agentLoop = createAgentLoop({
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
  reach('start.opened')
  const rearm = () => {
    timers.rearm()
    sealer.wake()
  }
  await membership.join({ recover: gate.recover, abortModelCalls: agentLoop.abortModelCalls, rearm })
  reach('start.recovered')
  dispatch.start({ advance: agentLoop.advance, execute: gate.execute })
  timers.start({ doWhatIsDue: gate.doWhatIsDue })
  sealer.start({ store, key: auditKey, log })
  reach('start.dispatching')

  let draining: Promise<void> | undefined
  let isDrained = false
  const drain = (drainMs = DRAIN_MS) => (draining ??= endWork(drainMs))
  async function endWork(drainMs: number): Promise<void> {
    dispatch.stop()
    timers.stop()
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
    stopped.abort()
    reach('stop.drained')
  }

  return {
    store,
    clock,
    gate,
    agentLoop,
    policies,
    agents: byName,
    hub,
    auditKey,
    get trouble() {
      return membership.trouble
    },
    savePrincipal: (principal) =>
      store.transact((outbox) => {
        tellAccess(outbox, principal.id)
        return principals.savePrincipal(principal, clock.nowMs())
      }),
    idle: dispatch.idle,
    drain,
    async close() {
      await drain()
      await membership.leave(isDrained)
      reach('stop.left')
      await store.close()
    },
  }
}
