import type { Clock } from '../clock.ts'
import { newId, type Store, sessions } from '../store/index.ts'
import type { Dispatch } from './dispatch.ts'

export interface MembershipWork {
  /** Takes over the actions that processes which are gone were carrying out: those named, or without names all but this one's. */
  recover(gone?: readonly string[]): Promise<void>
  /** Ends the model calls of this process: others make them. */
  abortModelCalls(): void
  /** Looks at what is due: others may have known of more. */
  rearm(): void
}

/** What a process is to the others on its database. */
export interface Membership {
  /** Who it is in `action.runner` and `run.runner`. Another than before, once it was taken for dead. */
  readonly processId: string
  /** Why nothing can be begun or decided here at the moment; undefined while all is well. */
  readonly trouble: string | undefined
  /** Takes up what others left, and what they will leave from now on. */
  join(work: MembershipWork): Promise<void>
  /** Takes up again what calls for work: nothing was begun for a while. After `join` only. */
  takeUp(): Promise<void>
  /** @param isDrained True when everything that this process began has ended. What it leaves undone is taken up by others, or the next start. */
  leave(isDrained: boolean): Promise<void>
}

export interface SingleProcessOptions {
  store: Store
  dispatch: Dispatch
  clock: Clock
}

/** The membership of a process that has its database to itself: whoever was there before is gone. */
export function singleProcess({ store, dispatch, clock }: SingleProcessOptions): Membership {
  let work: MembershipWork | undefined
  async function takeUp(): Promise<void> {
    await work?.recover()
    dispatch.take({ sessions: new Set(await store.read(sessions.sessionsWithWork)), actions: new Set() })
  }
  return {
    processId: newId('prc', clock.nowMs()),
    trouble: undefined,
    async join(given) {
      work = given
      await takeUp()
    },
    takeUp,
    async leave() {},
  }
}
