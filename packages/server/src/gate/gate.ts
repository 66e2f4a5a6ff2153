import type {
  Action,
  AssignBody,
  Claim,
  ClaimBody,
  ClientResultBody,
  DecisionBody,
  DecisionsAnswer,
  DecisionsBody,
  Delegation,
  DelegationBody,
  Grant,
  GrantBody,
  GrantSuggestion,
  ProposedAction,
  RedactBody,
  ResolveBody,
  SeenAnswer,
  SeenBody,
  Snooze,
  SnoozeBody,
  VoidBody,
  WithdrawBody,
} from '@countersign/core'
import type { ToolRegistry } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import type { Accepter, Refusals } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
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
import { noteRanElsewhere, type RanElsewhere } from './decide/ran-elsewhere.ts'
import { createRefresh, type Refresh } from './decide/refresh.ts'
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
import { type ProposeInput, propose } from './propose/propose.ts'
import { redact } from './redact.ts'
import { markSeen } from './seen.ts'
import { endSnooze, snooze } from './snooze.ts'

/** The dependencies of the gate. All of them are passed in. */
export interface GateDeps {
  store: Store
  tools: ToolRegistry
  /** Reads a tool that an agent registered again, where another process may have changed it. */
  refreshTool?: (name: string) => Promise<void>
  policies: Policies
  clock: Clock
  log: Logger
  /** The name of this process in `action.runner`. */
  processId: string
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

/** The few functions that every surface calls. None of them waits for a person. */
export interface Gate {
  propose(input: ProposeInput, caller: Caller): Promise<ProposedAction>
  decide(actionId: string, body: DecisionBody, caller: Caller): Promise<Action>
  /** Decides many actions, each on its own. */
  decideMany(body: DecisionsBody, caller: Caller): Promise<DecisionsAnswer>
  /** Carries out an approved action; harmless when it has been started already. */
  execute(actionId: string): Promise<void>
  retry(actionId: string, caller: Caller): Promise<Action>
  /** Refreshes the preview of a waiting action. */
  refresh: Refresh
  /** Gives an approved action to the client that carries it out. */
  claim(actionId: string, body: ClaimBody, caller: Caller): Promise<Claim>
  /** Stores the result that a client reports for an action that it holds. */
  takeClientResult(actionId: string, body: ClientResultBody, caller: Caller): Promise<Action>
  /** Settles an unknown outcome with the result that a person established. */
  resolve(actionId: string, body: ResolveBody, caller: Caller): Promise<Action>
  /** Reconciles an unknown outcome with the tool. */
  verify(actionId: string, caller: Caller): Promise<Action>
  /** Starts an approved action while everything else is held. */
  release(actionId: string, caller: Caller): Promise<Action>
  /** Cancels what a held server has not started. */
  void(actionId: string, body: VoidBody, caller: Caller): Promise<Action>
  /** Ends the attempts that were under way when everything was held, with an unknown outcome. */
  endAttemptsBefore(heldAtMs: number, by?: Accepter): Promise<void>
  /** Withdraws an action that has not started, for its proposer. */
  withdraw(actionId: string, body: WithdrawBody, caller: Caller): Promise<Action>
  /** Records that a program carried out, by itself, an action that was refused, had expired or was taken back. */
  noteRanElsewhere(actionId: string, said: RanElsewhere, caller: Caller): Promise<Action>
  /** Takes an approval back while the grace period of the action lasts. */
  undo(actionId: string, caller: Caller): Promise<Action>
  /** Extends the deadline of a waiting action, once. */
  extend(actionId: string, caller: Caller): Promise<Action>
  /** Says who should decide about an action, or takes that back. */
  assign(actionId: string, body: AssignBody, caller: Caller): Promise<Action>
  /** Notes that the caller has had a revision of a waiting action on their screen, and answers who has. */
  markSeen(actionId: string, body: SeenBody, caller: Caller): Promise<SeenAnswer>
  /** Leaves an action out of the caller's own inbox for a time. */
  snooze(actionId: string, body: SnoozeBody, caller: Caller): Promise<Snooze>
  endSnooze(actionId: string, caller: Caller): Promise<void>
  /** Redacts a settled action, in its row and in the audit record. */
  redact(actionId: string, body: RedactBody, caller: Caller): Promise<Action>
  /** Makes a grant from an action. */
  createGrant(body: GrantBody, caller: Caller): Promise<Grant>
  revokeGrant(grantId: string, caller: Caller): Promise<Grant>
  /** Returns the grants that could be made in place of approving calls like this one. */
  suggestGrant(actionId: string, caller: Caller): Promise<GrantSuggestion>
  /** Lets one person vote in the place of another. */
  createDelegation(body: DelegationBody, caller: Caller): Promise<Delegation>
  endDelegation(id: string, caller: Caller): Promise<Delegation>
  /** Voids the votes of a person on waiting actions; returns on how many. */
  voidVotesOf(personId: string, caller: Caller): Promise<number>
  /** Adopts the actions of dead processes: those named, or with none named all but this one. */
  recover(gone?: readonly string[]): Promise<void>
  /** Sends due reminders and expires actions past their deadline. Returns in how many ms the next one is due. */
  doWhatIsDue(signal: AbortSignal): Promise<number | undefined>
}

export const createGate = (deps: GateDeps): Gate => ({
  propose: (input, caller) => propose(deps, input, caller),
  decide: (actionId, { arguments: args, ...body }, caller) =>
    args === undefined
      ? decide(deps, actionId, body, caller)
      : retryOnConflict(() => approveEdited(deps, actionId, { ...body, arguments: args }, caller)),
  decideMany: (body, caller) => decideMany(deps, body, caller),
  execute: (actionId) => execute(deps, actionId),
  retry: (actionId, caller) => retryOnConflict(() => retry(deps, actionId, caller)),
  refresh: createRefresh(deps),
  claim: (actionId, { retry: again = false }, caller) => retryOnConflict(() => claim(deps, actionId, again, caller)),
  takeClientResult: (actionId, body, caller) => takeClientResult(deps, actionId, body, caller),
  resolve: (actionId, body, caller) => resolve(deps, actionId, body, caller),
  verify: (actionId, caller) => verify(deps, actionId, caller),
  release: (actionId, caller) => release(deps, actionId, caller),
  void: (actionId, body, caller) => voidHeld(deps, actionId, body, caller),
  endAttemptsBefore: (heldAtMs, by) => endAttemptsBefore(deps, heldAtMs, by),
  withdraw: (actionId, body, caller) => withdraw(deps, actionId, body, caller),
  noteRanElsewhere: (actionId, said, caller) => noteRanElsewhere(deps, actionId, said, caller),
  undo: (actionId, caller) => undo(deps, actionId, caller),
  extend: (actionId, caller) => extend(deps, actionId, caller),
  assign: (actionId, body, caller) => assign(deps, actionId, body, caller),
  markSeen: (actionId, body, caller) => markSeen(deps, actionId, body, caller),
  snooze: (actionId, body, caller) => snooze(deps, actionId, body, caller),
  endSnooze: (actionId, caller) => endSnooze(deps, actionId, caller),
  redact: (actionId, body, caller) => redact(deps, actionId, body, caller),
  createGrant: (body, caller) => createGrant(deps, body, caller),
  revokeGrant: (grantId, caller) => revokeGrant(deps, grantId, caller),
  suggestGrant: (actionId, caller) => suggestGrant(deps, actionId, caller),
  createDelegation: (body, caller) => createDelegation(deps, body, caller),
  endDelegation: (id, caller) => endDelegation(deps, id, caller),
  voidVotesOf: (personId, caller) => voidVotesOf(deps, personId, caller),
  recover: (gone) => recover(deps, gone),
  doWhatIsDue: (signal) => doWhatIsDue(deps, signal),
})
