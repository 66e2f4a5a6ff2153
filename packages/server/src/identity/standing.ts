import { CountersignError, type Principal } from '@countersign/core'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import type { EventHub } from '../dispatch/index.ts'

/** The current standing of a caller who was authenticated. */
export interface Standing {
  principal: Principal
  /** When it ends by itself without further activity; epoch ms. */
  endsAt?: number | undefined
}

/** Clocks differ a little: a caller who is still valid at the expiry is checked again after this long. */
const ASK_AGAIN_MS = 50

/** Watches the standing of a caller for as long as their request is open. */
export interface StandingWatch extends Disposable {
  /** The caller with their current rights. @throws CountersignError `unauthenticated` once the credential has ended. */
  readonly principal: Principal
  /** True while the caller has the same identity and rights as at the beginning. */
  readonly isSame: boolean
  /** Called after every check. */
  onJudged(listener: () => void): void
}

const rightsOf = ({ id, kind, roles, scopes }: Principal): string => JSON.stringify([id, kind, roles, scopes])

/**
 * Checks the standing of the caller now, when their rights were reduced, and when their credential expires: a key that was revoked or
 * expired, a session that was signed out or idle too long, roles that changed. When the check fails, the caller counts as unauthenticated.
 * @throws CountersignError `unauthenticated` for a request without a caller.
 */
export async function watchStanding(
  { hub, clock }: { hub: EventHub; clock: Clock },
  { principal: before, standing }: FastifyRequest,
): Promise<StandingWatch> {
  if (!before || !standing) throw new CountersignError('unauthenticated', 'sign in, or send a key: Authorization: Bearer <key>')
  const listeners: (() => void)[] = []
  let now: Standing | undefined
  let judged = Promise.resolve()
  let isOver = false
  let stopWaiting = () => {}

  /** Runs checks one after the other, so that the last result belongs to the check that began last. */
  const judge = (): Promise<void> => (judged = judged.then(judgeNow))
  async function judgeNow(): Promise<void> {
    if (isOver) return
    const found = await standing?.().catch(() => undefined)
    if (isOver) return
    now = found
    stopWaiting()
    if (now?.endsAt !== undefined) stopWaiting = clock.after(Math.max(now.endsAt - clock.nowMs(), ASK_AGAIN_MS), judge)
    for (const listener of listeners) listener()
  }
  // The subscription comes first, so that a change between the two steps is not missed.
  const unsubscribe = hub.onAccess(before.id, judge)
  await judge()

  return {
    get principal() {
      if (now) return now.principal
      throw new CountersignError('unauthenticated', 'your credential has ended meanwhile: sign in again, or send another key')
    },
    get isSame() {
      return now !== undefined && rightsOf(now.principal) === rightsOf(before)
    },
    onJudged: (listener) => void listeners.push(listener),
    [Symbol.dispose]() {
      isOver = true
      stopWaiting()
      unsubscribe()
    },
  }
}
