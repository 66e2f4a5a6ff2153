import type { Action } from '@countersign/core'
import { pino } from 'pino'
import { createRefusals } from '../../packages/server/src/audit/index.ts'
import type { Clock } from '../../packages/server/src/clock.ts'
import { createConcurrencyLimiter } from '../../packages/server/src/dispatch/index.ts'
import { createGate, createStartFailures, type Gate, type SignOfLife } from '../../packages/server/src/gate/index.ts'
import { compilePolicy, fixedPolicies, type Policies } from '../../packages/server/src/policy/index.ts'
import { type ActionRow, actions, principals, type Store } from '../../packages/server/src/store/index.ts'
import type { CodedTool } from '../../packages/toolkit/src/define.ts'
import { openTools } from '../../packages/toolkit/src/open-tools.ts'
import { ana, ben, hurriedClock } from './open-gate.ts'

/** The gate of one process on a store that it may share with others. Nothing is dispatched: tests call what a job would call. */
export interface BareGate extends Gate {
  readonly processId: string
  /** The names of the log events so far. */
  readonly logged: string[]
  /** Resolves when nothing is under way in the background. */
  idle(): Promise<void>
  /** The process stops: what it waits for is given up. */
  stop(): void
  /** A fresh action of `own.<tool>`, approved by Ana. */
  approved(tool: string): Promise<Action>
}

export interface BareGateOptions extends Partial<Clock> {
  /** Default: everything asks one approver. */
  policies?: Policies
  /** Default: always alive. */
  life?: SignOfLife
}

export const ALIVE: SignOfLife = { isAlive: true, whenAlive: async () => undefined }

export function openBareGate(
  store: Store,
  own: readonly CodedTool[],
  processId: string,
  {
    policies = fixedPolicies(compilePolicy({ default: 'ask', rules: [], limits: { waitingPerAgent: 2_000 } }, 1)),
    life = ALIVE,
    ...clock
  }: BareGateOptions = {},
): BareGate {
  const inFlight = new Set<Promise<unknown>>()
  const stopped = new AbortController()
  const logged: string[] = []
  const log = pino({ level: 'warn' }, { write: (line) => logged.push(JSON.parse(line).msg) })
  const usedClock = { ...hurriedClock, ...clock }
  const gate = createGate({
    refusals: createRefusals({ store, clock: usedClock, log }),
    store,
    tools: openTools({ own: { prefix: true, tools: own } }),
    policies,
    clock: usedClock,
    log,
    processId,
    life,
    stopped: stopped.signal,
    agentStopsOnDecline: () => false,
    limiter: createConcurrencyLimiter(16),
    startFailures: createStartFailures(),
    executionsPerSession: 8,
    background(work) {
      const watched = work.finally(() => inFlight.delete(watched))
      inFlight.add(watched)
    },
  })
  return {
    ...gate,
    processId,
    logged,
    idle: async () => {
      while (inFlight.size > 0) await Promise.all(inFlight)
    },
    stop: () => stopped.abort(),
    async approved(tool) {
      const { id } = await gate.propose({ tool: `own.${tool}`, arguments: {} }, { principal: ana })
      return gate.decide(id, { verdict: 'approve' }, { principal: ana })
    },
  }
}

/** Makes the persons of the tests known to a fresh store. */
export const savePersons = (store: Store): Promise<void> =>
  store.transact(function* () {
    for (const person of [ana, ben]) yield* principals.savePrincipal(person, 1)
  })

/** An action as its row has it. */
export async function rowOf(store: Store, actionId: string): Promise<ActionRow> {
  const row = await store.read(() => actions.findAction.first({ id: actionId }))
  if (!row) throw new Error(`there is no action ${actionId}`)
  return row
}
