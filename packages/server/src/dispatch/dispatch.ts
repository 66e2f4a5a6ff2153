import type { Outbox, RunRow } from '../store/index.ts'

/** What there is to do, by the ids of what it is done for. */
export interface Work {
  advance(sessionId: string): Promise<void>
  execute(actionId: string): Promise<void>
}

/** Sessions that one process advances at once, each with one model call at a time. Waiting for a model costs next to nothing. */
export const MODEL_CALLS = 200

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
  /** Resolves when nothing is under way: everything waits for a person or is done. */
  idle(): Promise<void>
  /** Begins nothing more. */
  stop(): void
  /** Resolves when what this process began has ended. */
  drained(): Promise<void>
}
