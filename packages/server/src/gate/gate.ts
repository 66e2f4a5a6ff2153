import type { ClaimBody, DecisionBody } from '@countersign/core'
import type { ToolRegistry } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import type { Refusals } from '../audit/index.ts'
import { bindDeps } from '../bind-deps.ts'
import type { ConcurrencyLimiter } from '../dispatch/index.ts'
import type { Policies } from '../policy/index.ts'
import type { Store } from '../store/index.ts'
import type { Caller } from './caller.ts'
import { assign } from './decide/assign.ts'
import { decide } from './decide/decide.ts'
import { decideMany } from './decide/decide-many.ts'
import { createDelegation, endDelegation } from './decide/delegations.ts'
import { approveEdited } from './decide/edit.ts'
import { extend } from './decide/extend.ts'
import { noteRanElsewhere } from './decide/ran-elsewhere.ts'
import { createRefresh } from './decide/refresh.ts'
import { undo } from './decide/undo.ts'
import { voidVotesOf } from './decide/void-votes.ts'
import { withdraw } from './decide/withdraw.ts'
import { doWhatIsDue } from './due.ts'
import { retryOnConflict } from './execute/begin-attempt.ts'
import { claim } from './execute/claim.ts'
import { takeClientResult } from './execute/client-result.ts'
import { execute } from './execute/execute.ts'
import { endAttemptsBefore, release, voidHeld } from './execute/held.ts'
import { recover } from './execute/recover.ts'
import { resolve } from './execute/resolve.ts'
import { retry } from './execute/retry-failed.ts'
import type { StartFailures } from './execute/start-failures.ts'
import { verify } from './execute/verify.ts'
import { createGrant, revokeGrant } from './grants/manage-grants.ts'
import { suggestGrant } from './grants/suggest.ts'
import { propose } from './propose/propose.ts'
import type { PreviewReading } from './propose/read-preview.ts'
import { redact } from './redact.ts'
import { markSeen } from './seen.ts'
import { endSnooze, snooze } from './snooze.ts'

/** Tells whether the other processes on the database see this one. They take over what runs under the id of a process that they do not see. */
export interface SignOfLife {
  readonly isAlive: boolean
  /** Resolves when it is alive. @throws CountersignError `not_ready` when that takes too long. */
  whenAlive(): Promise<void>
}

/** The dependencies of the gate. All of them are passed in. */
export interface GateDeps extends PreviewReading {
  store: Store
  tools: ToolRegistry
  /** Reads a tool that an agent registered again, where another process may have changed it. */
  refreshTool?: (name: string) => Promise<void>
  policies: Policies
  log: Logger
  /** The name of this process in `action.runner`. */
  processId: string
  /** Without it, no attempt begins here. */
  life: SignOfLife
  /** Aborts when the process gives up what it still waits for. */
  stopped: AbortSignal
  /** True when a decline ends the run of this agent. */
  agentStopsOnDecline(agent: string | null): boolean
  /** Refusals, for the record. */
  refusals: Refusals
  /** Bound how many actions this process carries out at the same time. */
  limiter: ConcurrencyLimiter
  /** True to start an action in the transaction of its last vote, where nothing has to be read again. Default: false. */
  startsWithDecision?: boolean
  /** The actions that cannot be started. */
  startFailures: StartFailures
  /** How many of one session are carried out at the same time, by whichever process. */
  executionsPerSession: number
  /** Keeps work that outlives the call it began in, so that stopping can wait for it and a failure is logged. */
  background(work: Promise<unknown>): void
}

/** The operations of the gate. Each takes its dependencies as its first parameter; most are documented where they are defined. */
const OPERATIONS = {
  propose,
  decide: (deps: GateDeps, actionId: string, { arguments: args, ...body }: DecisionBody, caller: Caller) =>
    args === undefined
      ? decide(deps, actionId, body, caller)
      : retryOnConflict(() => approveEdited(deps, actionId, { ...body, arguments: args }, caller)),
  decideMany,
  execute,
  retry: (deps: GateDeps, actionId: string, caller: Caller) => retryOnConflict(() => retry(deps, actionId, caller)),
  claim: (deps: GateDeps, actionId: string, { retry: again = false }: ClaimBody, caller: Caller) =>
    retryOnConflict(() => claim(deps, actionId, again, caller)),
  takeClientResult,
  resolve,
  verify,
  release,
  void: voidHeld,
  endAttemptsBefore,
  withdraw,
  noteRanElsewhere,
  undo,
  extend,
  assign,
  markSeen,
  snooze,
  endSnooze,
  redact,
  createGrant,
  revokeGrant,
  suggestGrant,
  createDelegation,
  endDelegation,
  voidVotesOf,
  recover,
  doWhatIsDue,
}

export const createGate = (deps: GateDeps) => ({ ...bindDeps(deps, OPERATIONS), refresh: createRefresh(deps) })

/** The few functions that every surface calls. None of them waits for a person. */
export type Gate = ReturnType<typeof createGate>
