import type { Outbox, RunRow, SessionState } from '../store/index.ts'

/** The kinds of work, by the ids they belong to. */
export interface Work {
  advance(sessionId: string): Promise<void>
  execute(actionId: string): Promise<void>
}

/** Sessions that one process advances concurrently, each with one model call at a time. Waiting for a model costs next to nothing. */
export const MODEL_CALLS = 200

/** Sessions and approved actions whose rows require work, by id. */
export interface Due {
  readonly sessions: readonly string[]
  readonly actions: readonly string[]
}

export interface Reconciled {
  /** How many jobs were unlocked since the last comparison because the answer to their fetch was lost. */
  unlocked: number
  /** How many sessions and actions had no job, and got one. */
  enqueued: number
  /** Work that nothing has begun although this process has room for it. */
  unattended: Due
}

/** Starts the work that committed transactions require: one process at a time per session, and one process per step of a run. */
export interface Dispatch {
  /** Starts dispatching; earlier requests are kept until then. */
  start(work: Work): void
  /** Receives a commit of this process. */
  take(outbox: Pick<Outbox, 'sessions' | 'actions' | 'held' | 'ended'>): void
  /**
   * Claims the next model call of a run. Returns false when another process makes it, or it is too late to begin one.
   * @param written The session as this process wrote it last: false, too, when it is not like that any more.
   */
  claimStep(run: RunRow, written?: SessionState): Promise<boolean>
  /** Gives back a session's model call that this process claimed and did not make: some process makes it if it is still due. */
  giveBackStep(sessionId: string): Promise<void>
  /** Counts work that was begun elsewhere, so that `idle` waits for it, and logs its failure. */
  background(work: Promise<unknown>): void
  /** Compares the due work with the work in flight, and enqueues what is missing again. Harmless for work that was begun meanwhile. */
  reconcile(due: Due): Promise<Reconciled>
  /** Returns how many due jobs wait for a process to begin them; counts at most 100,000. */
  countWaiting(): Promise<number>
  /** Resolves when nothing is in flight: everything waits for a person or is done. */
  idle(): Promise<void>
  /** Begins nothing more. */
  stop(): void
  /** Resolves when the work that this process began has ended. */
  drained(): Promise<void>
}
