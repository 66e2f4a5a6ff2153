import type { Clock } from '../clock.ts'
import { newId, type Store, sessions } from '../store/index.ts'
import type { Dispatch } from './dispatch.ts'

export interface MembershipWork {
  /**
   * Takes over the actions that processes which are gone were executing: those of the given processes, or by default of all but this one.
   */
  recover(gone?: readonly string[]): Promise<void>
  /** Aborts the model calls of this process: other processes make them. */
  abortModelCalls(): void
  /** Reads due work again: other processes may have known of more. */
  rearm(): void
}

/** The role of a process among the others on its database. */
export interface Membership {
  /** Its id in `action.runner` and `run.runner`. It changes after the process was taken for dead. */
  readonly processId: string
  /** False while other processes may take this one for gone, and take over its work: it begins none then. */
  readonly isAlive: boolean
  /** Resolves when it is alive. @throws CountersignError `not_ready` when that takes too long. */
  whenAlive(): Promise<void>
  /** Why nothing can be begun or decided here at the moment; undefined while it can. */
  readonly trouble: string | undefined
  /** Milliseconds since the database last answered; 0 where it is part of this process. */
  readonly silentMs: number
  /** Adopts the work that other processes left, now and from then on. */
  join(work: MembershipWork): Promise<void>
  /** Enqueues the due work again, after a time in which nothing was begun. Only after `join`. */
  adopt(): Promise<void>
  /** @param isDrained True when all work that this process began has ended. Other processes, or the next start, adopt what it leaves. */
  leave(isDrained: boolean): Promise<void>
}

export interface SingleProcessOptions {
  store: Store
  dispatch: Dispatch
  clock: Clock
}

/** Creates the membership of a process that has its database to itself: every earlier process is gone. */
export function singleProcess({ store, dispatch, clock }: SingleProcessOptions): Membership {
  let work: MembershipWork | undefined
  async function adopt(): Promise<void> {
    await work?.recover()
    dispatch.take({ sessions: new Set(await store.read(sessions.sessionsWithWork)), actions: new Set() })
  }
  return {
    processId: newId('prc', clock.nowMs()),
    isAlive: true,
    async whenAlive() {},
    trouble: undefined,
    silentMs: 0,
    async join(given) {
      work = given
      await adopt()
    },
    adopt,
    async leave() {},
  }
}
