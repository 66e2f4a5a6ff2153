import { checkpoint } from '@countersign/toolkit/internal'
import { createAgentLoop, createAnnouncements } from '../agent/index.ts'
import { type Accepter, createRefusals, openAuditKey, SYSTEM } from '../audit/index.ts'
import { createConcurrencyLimiter } from '../dispatch/index.ts'
import type { Engine, EngineOptions, ExecutionLimits } from '../engine.ts'
import { createGate, createStartFailures } from '../gate/index.ts'
import { readOpenActions } from '../instance/index.ts'
import { createSender, openPushKey } from '../notify/index.ts'
import type { Runtime } from '../runtime.ts'
import { principals, tellAccess } from '../store/index.ts'
import { openTools } from './open-tools.ts'
import { startRecord } from './start-record.ts'
import { createWork } from './work.ts'

export interface StartOptions
  extends Omit<EngineOptions, 'database' | 'clock' | 'executions' | 'modelCalls' | 'instance' | 'beforeStart'>,
    Runtime {
  executions: ExecutionLimits
  /** Accepts the database although it looks like a copy. Default false. */
  acceptCopy?: boolean
  /** True when no other process works on the database. Default false. */
  isAlone?: boolean
  /** Accepts a record that is older than its remembered head. Default false. */
  acceptLoss?: boolean
}

/** Starts the engine on the caller's runtime: a simulation has its own. */
export async function startEngine(options: StartOptions): Promise<Engine> {
  const { store, clock, hub, dispatch, timers, deliveries, sealer, reconciler, tally, membership, guard, log } = options
  const { agents, executions, isAlone = false, acceptLoss = false, webhooks, previewTimeoutMs } = options
  const byName = new Map(agents.map((agent) => [agent.name, agent]))
  // Before the policy comes into force: a start that fails for its key has changed nothing.
  const auditKey = await openAuditKey(store, options.auditKeyFile)
  const { registered, policies } = await openTools({
    ...{ store, clock, log },
    configured: options.tools,
    sources: options.sources ?? [],
    ownFiles: options.ownFiles ?? [],
    policy: options.policy,
    agents: [...byName.keys()],
  })
  const stopped = new AbortController()
  const limiter = createConcurrencyLimiter(executions.perProcess)
  const startFailures = createStartFailures()
  const refusals = createRefusals({ store, clock, log })
  const gate = createGate({
    ...{ refusals, store, policies, clock, previewTimeoutMs, log, limiter, startFailures },
    tools: registered.tools,
    refreshTool: registered.refresh,
    get processId() {
      return membership.processId
    },
    life: membership,
    stopped: stopped.signal,
    agentStopsOnDecline: (agent) => agent !== null && byName.get(agent)?.onDecline === 'stop',
    startsWithDecision: true,
    executionsPerSession: executions.perSession,
    background: dispatch.background,
  })
  const announcements = createAnnouncements(clock)
  const agentLoop = createAgentLoop({
    ...{ refusals, announcements, store, policies, clock, previewTimeoutMs, log },
    agents: byName,
    defaultAgent: agents[0]?.name ?? '',
    claimStep: dispatch.claimStep,
    giveBackStep: dispatch.giveBackStep,
    onRunEnded: hub.onRunEnded,
  })
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
  const work = createWork({
    ...{ clock, dispatch, timers, deliveries, sealer, reconciler, membership, guard },
    ...{ gate, agentLoop, sender, limiter, stopped, log },
  })

  async function accept(by?: Accepter): Promise<void> {
    const held = guard?.held
    if (!guard || !held) return
    // First, because in the new epoch they would be recovered as this installation's own. A process that dies in between stays held.
    await gate.endAttemptsBefore(held.sinceMs, by)
    checkpoint('accept.attempts_ended')
    const isOurs = await guard.accept(held, by)
    // Another hold has begun since: nobody has accepted that one.
    if (!isOurs && guard.held) return
    // A restored copy is also older than its seals, so one acceptance covers both.
    await sealer.accept(by ?? { id: SYSTEM }, `The copy was accepted: ${held.why}`, 'behind')
  }

  const { headFile, anchor } = options
  await startRecord({ store, sealer, auditKey, log, headFile, anchor, guard, isAlone, acceptLoss })
  if (options.acceptCopy) {
    if (guard?.held) {
      options.onAccepting?.(await store.read(readOpenActions))
      await accept()
    } else log.warn('instance.nothing_to_accept')
  }
  work.followHold()
  if (!guard?.held) await work.goOn()
  reconciler.start({
    ...{ store, dispatch, log },
    executionsPerSession: executions.perSession,
    startingSinceMs: startFailures.startingSinceMs,
    isGivenUp: startFailures.isGivenUp,
    isAble: () => store.health.damage === undefined && membership.trouble === undefined,
    isHeld: () => guard?.held !== undefined,
  })
  checkpoint('start.dispatching')

  return {
    ...{ store, clock, gate, refusals, agentLoop, announcements, policies, registered, agents: byName, hub },
    ...{ auditKey, pushKey, sealer, reconciler, tally },
    countWaitingJobs: async () => (await dispatch.countWaiting()) + limiter.waiting,
    get trouble() {
      return store.health.damage ?? membership.trouble
    },
    get databaseSilentMs() {
      return membership.silentMs
    },
    hold: {
      get why() {
        return guard?.held?.why
      },
      readOpen: () => store.read(readOpenActions),
      accept,
    },
    savePrincipal: (principal) =>
      store.transact((outbox) => {
        tellAccess(outbox, principal.id)
        return principals.savePrincipal(principal, clock.nowMs())
      }),
    // Jobs that came with a copy wait for its acceptance.
    idle: async () => (guard?.held ? undefined : dispatch.idle()),
    drain: work.drain,
    async close() {
      await work.drain()
      await refusals.flush()
      await membership.leave(work.isDrained)
      checkpoint('stop.left')
      guard?.close()
      await store.close()
    },
  }
}
