import type { Outbox, RunRow } from '../store/index.ts'

/** What there is to do, by the ids of what it is done for. */
export interface Work {
  advance(sessionId: string): Promise<void>
  execute(actionId: string): Promise<void>
}

/** Sessions that one process advances at once, each with one model call at a time. Waiting for a model costs next to nothing. */
export const MODEL_CALLS = 200

/** Sessions and approved actions whose rows call for work, by id. */
export interface Due {
  readonly sessions: readonly string[]
  readonly actions: readonly string[]
}

export interface Reconciled {
  /** How many jobs were unlocked since the last comparison because the answer to their fetch was lost. */
  unlocked: number
  /** How many sessions and actions had no job, and got one. */
  putUp: number
  /** What nobody has begun although this process has room for it. */
  unattended: Due
}

/** Starts what committed transactions asked for: a session by one at a time, and each step of a run by one process. */
export interface Dispatch {
  /** Before this, what is asked for is kept. */
  start(work: Work): void
  /** Hears of a commit of this process. */
  take(outbox: Pick<Outbox, 'sessions' | 'actions'>): void
  /** Takes the next model call of a run. False when somebody else makes it, or it is too late to begin one. */
  claimStep(run: RunRow): Promise<boolean>
  /** Counts work that was begun elsewhere, so that `idle` waits for it; its failure is logged. */
  background(work: Promise<unknown>): void
  /** Compares what is due with what is under way, and puts up again what is missing. Harmless for what was begun meanwhile. */
  reconcile(due: Due): Promise<Reconciled>
  /** How many jobs are due and wait for a process to begin them; at most 100,000 are counted. */
  countWaiting(): Promise<number>
  /** Resolves when nothing is under way: everything waits for a person or is done. */
  idle(): Promise<void>
  /** Begins nothing more. */
  stop(): void
  /** Resolves when what this process began has ended. */
  drained(): Promise<void>
}
