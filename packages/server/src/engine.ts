import type { PolicyDocument, Principal } from '@countersign/core'
import type { Logger } from 'pino'
import { type Agent, type AgentLoop, createAgentLoop } from './agent/index.ts'
import { type Clock, systemClock } from './clock.ts'
import { createDispatch, createEventHub, createLanes, createTimers, type Dispatch, type EventHub, type Timers } from './dispatch/index.ts'
import { createGate, type Gate } from './gate/index.ts'
import { reach } from './points.ts'
import { type Database, newId, type Outbox, openPostgres, openSqlite, principals, type Store, sessions } from './store/index.ts'
import type { ToolRegistry } from './tools/index.ts'

export interface EngineOptions {
  database: Database
  /** The first is the default of sessions that name none. */
  agents: readonly Agent[]
  tools: ToolRegistry
  policy: PolicyDocument
  log: Logger
  clock?: Clock
  executions?: ExecutionLimits
}

/** How many actions are carried out at the same time. */
export interface ExecutionLimits {
  /** By this process; one tool takes half of it at most. Default 128. */
  perProcess: number
  /** Of one session, by whichever process. Default 8. */
  perSession: number
}

export const DEFAULT_EXECUTIONS: ExecutionLimits = { perProcess: 128, perSession: 8 }

/** Store, gate, agent loop and dispatch joined: everything but a way in from outside. */
export interface Engine {
  readonly store: Store
  readonly clock: Clock
  readonly gate: Gate
  readonly agentLoop: AgentLoop
  readonly agents: ReadonlyMap<string, Agent>
  readonly hub: EventHub
  /** Makes a principal known, or changes the name and roles of one that is: everybody who calls the gate is in the database first. */
  savePrincipal(principal: Principal): Promise<void>
  /** Resolves when nothing is under way: everything waits for a person or is done. */
  idle(): Promise<void>
  /** Stops model calls, lets running tools finish for at most `drainMs` (default 10_000), closes the database. What is cut off is taken up by the next start. */
  close(drainMs?: number): Promise<void>
}

/**
 * Opens the engine on its data and takes up whatever an earlier process left.
 * @throws Error when the database cannot be opened (newer version, in use, too old, away).
 */
export async function openEngine({ database, clock = systemClock, ...options }: EngineOptions): Promise<Engine> {
  const hub = createEventHub()
  const dispatch = createDispatch(options.log, clock)
  const timers = createTimers({ clock, background: dispatch.background })
  const onCommitted = handOut(hub, dispatch, timers)
  const store =
    database.kind === 'sqlite'
      ? openSqlite({ dataDir: database.dataDir, onCommitted })
      : await openPostgres({ url: database.url, directUrl: database.directUrl, onCommitted, clock })
  return startEngine({ ...options, clock, store, hub, dispatch, timers })
}

/** What becomes of a commit in the process that made it. */
export const handOut = (hub: EventHub, dispatch: Dispatch, timers: Timers) => (outbox: Outbox) => {
  if (outbox.events.length > 0) hub.publish(outbox.events)
  if (outbox.sessions.size + outbox.actions.size > 0) dispatch.take(outbox)
  if (outbox.dueAt !== undefined) timers.arm(outbox.dueAt)
}

/** The same on a store that is open already, by a clock and a dispatch of the caller's: a simulation has its own. */
export async function startEngine({
  store,
  hub,
  dispatch,
  timers,
  agents,
  tools,
  policy,
  log,
  clock,
  executions = DEFAULT_EXECUTIONS,
}: Omit<EngineOptions, 'database'> & { store: Store; hub: EventHub; dispatch: Dispatch; timers: Timers; clock: Clock }): Promise<Engine> {
  const byName = new Map(agents.map((agent) => [agent.name, agent]))
  const stopped = new AbortController()
  const lanes = createLanes(executions.perProcess)
  const gate = createGate({
    store,
    tools,
    policy,
    clock,
    log,
    processId: newId('prc', clock.nowMs()),
    stopped: stopped.signal,
    agentStopsOnDecline: (agent) => agent !== null && byName.get(agent)?.onDecline === 'stop',
    lanes,
    executionsPerSession: executions.perSession,
    background: dispatch.background,
  })
  const agentLoop = createAgentLoop({ store, agents: byName, defaultAgent: agents[0]?.name ?? '', policy, clock, log })

  reach('start.opened')
  await gate.recover()
  reach('start.recovered')
  const left = await store.read(sessions.sessionsWithWork)
  dispatch.take({ sessions: new Set(left), actions: new Set() })
  dispatch.start({ advance: agentLoop.advance, execute: gate.execute })
  timers.start({ doWhatIsDue: gate.doWhatIsDue })
  reach('start.dispatching')

  return {
    store,
    clock,
    gate,
    agentLoop,
    agents: byName,
    hub,
    savePrincipal: (principal) =>
      store.transact(() => principals.upsertPrincipal.run({ ...principal, roles: JSON.stringify(principal.roles), now: clock.nowMs() })),
    idle: dispatch.idle,
    async close(drainMs = 10_000) {
      dispatch.stop()
      timers.stop()
      lanes.close()
      agentLoop.abortModelCalls()
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const stopWaiting = clock.after(drainMs, resolve)
      await Promise.race([dispatch.idle(), late])
      stopWaiting()
      stopped.abort()
      reach('stop.drained')
      await store.close()
    },
  }
}
