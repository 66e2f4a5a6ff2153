import { join } from 'node:path'
import type { PolicyDocument, Principal } from '@countersign/core'
import type { Network, OwnFile, ToolSource } from '@countersign/toolkit'
import type { ToolRegistry } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import type { Agent, AgentLoop, Announcements } from './agent/index.ts'
import type { Accepter, AnchorSender, AuditKey, Refusals, Sealer } from './audit/index.ts'
import type { Clock } from './clock.ts'
import { type EventHub, MODEL_CALLS, type Reconciler } from './dispatch/index.ts'
import type { Gate } from './gate/index.ts'
import type { InstanceSettings, OpenActions } from './instance/index.ts'
import type { Tally } from './metrics/index.ts'
import type { PushKey } from './notify/index.ts'
import type { Policies } from './policy/index.ts'
import type { RegisteredTools } from './registered/index.ts'
import { openRuntime } from './runtime.ts'
import { startEngine } from './start/start-engine.ts'
import type { Database, Store } from './store/index.ts'

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
  /** How long the target of an action may take to be read for its card. Default 5_000. */
  previewTimeoutMs?: number | undefined
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
  /** Called before the start accepts a copy, with what that takes over. Default: does nothing. */
  onAccepting?: ((open: OpenActions) => void) | undefined
  /**
   * Called before the database is opened, which may migrate it, and again when it is open, before the policy of the configuration comes into
   * force and before any work begins. What it throws ends the start. Default: does nothing.
   */
  beforeStart?: (() => Promise<void>) | undefined
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
  /** Milliseconds since the database last answered; 0 on SQLite. */
  readonly databaseSilentMs: number
  /** The hold because the database looks like a copy, and how to end it. */
  readonly hold: {
    /** The reason as a sentence; undefined while nothing is held. */
    readonly why: string | undefined
    /** Returns the open actions: their counts, and up to ten that are approved or executing. */
    readOpen(): Promise<OpenActions>
    /**
     * Makes the database a separate installation: a new epoch begins, work in flight in the previous one gets an unknown outcome, and
     * everything else continues. Does nothing when nothing is held. @param by Undefined for the command line.
     */
    accept(by?: Accepter): Promise<void>
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
  beforeStart,
  ...options
}: EngineOptions): Promise<Engine> {
  const { log } = options
  const runtime = await openRuntime(database, {
    clock,
    executions: executions.perProcess,
    modelCalls,
    instance,
    log,
    beforeOpen: beforeStart,
  })
  try {
    await beforeStart?.()
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
