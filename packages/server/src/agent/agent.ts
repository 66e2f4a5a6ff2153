import type { Model, ShownAction, Tool } from '@countersign/core'
import type { Logger } from 'pino'
import type { Refusals } from '../audit/index.ts'
import { bindDeps } from '../bind-deps.ts'
import type { Caller, PreviewReading } from '../gate/index.ts'
import type { Policies } from '../policy/index.ts'
import type { RunRow, SessionState, Store } from '../store/index.ts'
import { advance } from './advance.ts'
import type { Announcements } from './announcements.ts'
import { approveInSession } from './approve.ts'
import { cancelSession } from './cancel.ts'
import { deleteSession } from './delete-session.ts'
import { endRunsOf } from './disabled.ts'
import { createHistories, type Histories } from './history.ts'
import { beginSession, createSession, postMessage } from './messages.ts'
import { inviteTo, uninviteFrom } from './participants.ts'
import { renameSession } from './rename-session.ts'
import { callRequest, createRequest } from './requests.ts'

export interface Budget {
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly totalTokens?: number | undefined
}

/** An agent of the configuration, opened. */
export interface Agent {
  readonly name: string
  readonly model: Model
  readonly instructions: string
  readonly tools: readonly Tool[]
  /** Model calls per run before the run is stopped. */
  readonly maxSteps: number
  /** The most tokens that a run may have counted when another model call begins. */
  readonly budget?: Budget | undefined
  readonly actionsPerStep: 'one' | 'many'
  readonly onDecline: 'continue' | 'stop'
  readonly suggestions: readonly string[]
}

export interface AgentDeps extends PreviewReading {
  store: Store
  agents: ReadonlyMap<string, Agent>
  /** The agent of a session that names none. */
  defaultAgent: string
  policies: Policies
  log: Logger
  /** Refusals, for the record. */
  refusals: Refusals
  /** The actions sent to each person, for typed decisions. */
  announcements: Announcements
  /** Takes the next model call of a run. False when somebody else makes it, or the session is not as it was written. */
  claimStep(run: RunRow, written?: SessionState): Promise<boolean>
  /** Gives back the model call of a session that was taken and of which nothing was stored. */
  giveBackStep(sessionId: string): Promise<void>
  /** Calls `ended` when a person ended the run, and answers what takes that back. */
  onRunEnded(runId: string, ended: () => void): () => void
}

/** The loop's state in memory between calls: a cache that rows can replace, and the model calls that can be aborted. */
export interface AgentState {
  histories: Histories
  modelCalls: Set<AbortController>
  /** The sessions whose model call this process took and of which nothing is stored yet. */
  takenSteps: Set<string>
}

/** The operations on sessions. Each takes its dependencies as its first parameter. */
const OPERATIONS = {
  createSession,
  beginSession,
  approveInSession,
  cancelSession,
  renameSession,
  deleteSession,
  endRunsOf,
  invite: inviteTo,
  uninvite: uninviteFrom,
  createRequest,
  callRequest,
}

export function createAgentLoop(deps: AgentDeps) {
  const state: AgentState = { histories: createHistories(), modelCalls: new Set(), takenSteps: new Set() }
  return {
    ...bindDeps(deps, OPERATIONS),
    /** @param shown What the client showed when the message was sent. */
    postMessage: (sessionId: string, content: string, caller: Caller, shown?: readonly ShownAction[]) =>
      postMessage(deps, { sessionId, content, shown }, caller),
    /** Does everything that the session's rows call for now, then returns. Call it for one session at a time. */
    advance: (sessionId: string) => advance(deps, state, sessionId),
    /** Aborts every model call under way; their runs go on when they are advanced again. */
    abortModelCalls: () => {
      for (const call of state.modelCalls) call.abort()
    },
  }
}

export type AgentLoop = ReturnType<typeof createAgentLoop>
