import type { Action, DecisionBody, PolicyDocument } from '@countersign/core'
import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/index.ts'
import type { ToolRegistry } from '../tools/index.ts'
import type { Caller } from './caller.ts'
import { decide } from './decide.ts'
import { doWhatIsDue } from './due.ts'
import { execute, recover, retry } from './execute.ts'
import { type ProposeInput, propose } from './propose.ts'

/** What the gate is made of; everything comes in from outside. */
export interface GateParts {
  store: Store
  tools: ToolRegistry
  policy: PolicyDocument
  clock: Clock
  log: Logger
  /** True when a decline ends the run of this agent. */
  agentStopsOnDecline(agent: string | null): boolean
  /** Keeps work that outlives the call it began in, so that stopping can wait for it and a failure is logged. */
  background(work: Promise<unknown>): void
}

/** The few functions that every surface calls. None of them waits for a person. */
export interface Gate {
  propose(input: ProposeInput, caller: Caller): Promise<Action>
  decide(actionId: string, body: DecisionBody, caller: Caller): Promise<Action>
  /** Carries out an approved action; harmless when it has been started already. */
  execute(actionId: string): Promise<void>
  retry(actionId: string, caller: Caller): Promise<Action>
  /** Takes up what an earlier process left approved or executing. */
  recover(): Promise<void>
  /** Reminds of waiting actions and expires them, where it is time. Answers in how many ms it will be time again. */
  doWhatIsDue(signal: AbortSignal): Promise<number | undefined>
}

export const createGate = (parts: GateParts): Gate => ({
  propose: (input, caller) => propose(parts, input, caller),
  decide: (actionId, body, caller) => decide(parts, actionId, body, caller),
  execute: (actionId) => execute(parts, actionId),
  retry: (actionId, caller) => retry(parts, actionId, caller),
  recover: () => recover(parts),
  doWhatIsDue: (signal) => doWhatIsDue(parts, signal),
})
