import type { Call } from './script.ts'

export type Database = 'sqlite' | 'postgres' | 'own'

/** Where a system keeps its data, and the effect of its tool. */
export interface Place {
  readonly database: Database
  /** A folder of its own; the same again after a restart. */
  readonly folder: string
  /** Of its own Postgres database; empty for the other kinds. */
  readonly url: string
  /** True in the probe that looks for the session in the files: they have to be readable then, where that is a setting. */
  readonly plainFiles?: boolean
  /** Makes the effect and returns the tool's result. In the crash probe the process is killed in here, after the effect. */
  effect(call: Call): Promise<string>
}

export type Verdict = 'approve' | 'decline'

/** A verdict for each call, by the order it is about. */
export type Verdicts = Readonly<Record<string, Verdict>>

/**
 * One system under the same gated cycle. An adapter follows the documentation of the installed version, as a careful user would, and adds
 * no safety of its own: what a probe finds has to be the system's.
 */
export interface System {
  /** Starts a new session with a message. Resolves with its id when all its calls wait for a decision. */
  start(message: string): Promise<string>
  /** Decides all calls of the session. */
  decide(sessionId: string, verdicts: Verdicts): Promise<void>
  /** Resolves with the model's last answer when the session is done. */
  finish(sessionId: string): Promise<string>
  /**
   * Continues after the process was killed during the tool, in the documented way; the user who saw no answer sends the decision again
   * where nothing continues by itself. Resolves with how it ended, in a few words.
   */
  recover(sessionId: string, verdicts: Verdicts): Promise<string>
  /** Other processes that write the data. Default: none. */
  readonly writers?: readonly number[]
  close(): Promise<void>
}

/** The default export of each `adapter.ts`. */
export interface Adapter {
  open(place: Place): Promise<System>
}
