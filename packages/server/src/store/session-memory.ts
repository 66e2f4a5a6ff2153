import { LRUCache } from 'lru-cache'
import type { ActionRow } from './tables/action-rows.ts'
import type { RunRow } from './tables/session-rows.ts'
import type { SessionState } from './tables/session-state.ts'

/** A session that is worked on is written every few milliseconds; one that waits for people is read again when they decide. */
const MOST_SESSIONS = 1_000

/** The tables that the state of a session is read from. */
const TABLES: ReadonlySet<string> = new Set(['session', 'run', 'action', 'message', 'principal', 'action_grant', 'event'])

/** The sessions that a process remembers, as a transaction may use them. */
export interface SessionMemory {
  /** The state of a session, to read it. */
  peek(sessionId: string): SessionState | undefined
  /** The state of a session, for the transaction that writes to it. */
  take(sessionId: string): SessionState | undefined
  /** Remembers a session as this transaction leaves it. */
  keep(state: SessionState): void
  /** The run whose next step a session requires, as this transaction leaves it. Only where it may be claimed with the transaction. */
  dueStep(sessionId: string): RunRow | undefined
  /** An action that is open, where its session is remembered with it. */
  action(actionId: string): ActionRow | undefined
  /** The session of an action, which never changes. */
  sessionOf(actionId: string): string | undefined
  /** Adds what is remembered to a session as it was read from the database. */
  recognize(read: SessionState): SessionState
}

/**
 * The states of sessions that the only process on a database remembers: each as the last transaction that wrote to the session left it. It is
 * taken out by the next one, so that a transaction that writes nothing back, or fails, leaves nothing that may be wrong.
 */
export class OwnSessions implements SessionMemory {
  readonly #states = new LRUCache<string, SessionState>({ max: MOST_SESSIONS })
  readonly #sessionOf = new LRUCache<string, string>({ max: 4 * MOST_SESSIONS })
  /** The state of each session before this batch; undefined for one that was not known. */
  #before = new Map<string, SessionState | undefined>()
  /** True when this transaction changed tables of sessions without their writers: then what their writers know may be out of date. */
  #isBypassed = false

  peek(sessionId: string): SessionState | undefined {
    return this.#states.peek(sessionId)
  }

  take(sessionId: string): SessionState | undefined {
    const state = this.#states.get(sessionId)
    if (state) this.#replace(sessionId, undefined)
    return state
  }

  keep(state: SessionState): void {
    if (this.#isBypassed) return
    this.#replace(state.session.id, state)
    for (const id of state.known.actions.keys()) this.#sessionOf.set(id, state.session.id)
  }

  /** Nobody else makes steps here. */
  dueStep(): undefined {
    return undefined
  }

  action(actionId: string): ActionRow | undefined {
    const sessionId = this.sessionOf(actionId)
    return sessionId === undefined ? undefined : this.peek(sessionId)?.known.actions.get(actionId)
  }

  sessionOf(actionId: string): string | undefined {
    return this.#sessionOf.get(actionId)
  }

  /** A session that was read is one that nothing was remembered of. */
  recognize(read: SessionState): SessionState {
    return read
  }

  #replace(sessionId: string, state: SessionState | undefined): void {
    if (!this.#before.has(sessionId)) this.#before.set(sessionId, this.#states.peek(sessionId))
    if (state) this.#states.set(sessionId, state)
    else this.#states.delete(sessionId)
  }

  /** A write that no session's writer knows of. @param table Undefined when that is not known. */
  bypass(table: string | undefined): void {
    if (table !== undefined && !TABLES.has(table)) return
    this.forget()
    this.#isBypassed = true
  }

  /** Begins a transaction of a batch. */
  begin(): void {
    this.#isBypassed = false
  }

  /** The batch is on disk. */
  committed(): void {
    this.#before.clear()
  }

  /** Nothing of the batch was written. */
  undo(): void {
    for (const [sessionId, state] of this.#before) {
      if (state) this.#states.set(sessionId, state)
      else this.#states.delete(sessionId)
    }
    this.#before.clear()
  }

  /** Forgets everything. */
  forget(): void {
    this.#states.clear()
    this.#before.clear()
  }
}
