import { CountersignError, type Principal } from '@countersign/core'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import type { EventHub } from '../dispatch/index.ts'

/** How somebody who was let in stands by now. */
export interface Standing {
  principal: Principal
  /** When it ends by itself, unless they are seen again until then; epoch ms. */
  endsAt?: number | undefined
}

/** Clocks differ a little: who still stands at the end of their time is asked about again after this long. */
const ASK_AGAIN_MS = 50

/** Keeps an eye on who asks for as long as their request is open. */
export interface StandingWatch extends Disposable {
  /** Who asks, as they are now. @throws CountersignError `unauthenticated` once they are nobody's. */
  readonly principal: Principal
  /** True while they are who they were when they came in, with the same rights. */
  readonly isSame: boolean
  /** Called whenever it was judged again. */
  onJudged(listener: () => void): void
}

const rightsOf = ({ id, kind, roles, scopes }: Principal): string => JSON.stringify([id, kind, roles, scopes])

/**
 * Judges who asks now, and again when something was taken from them and when their time is over: a key that was revoked or expired, a
 * session that was signed out or had its rest, roles that are others. When it cannot be judged they are nobody's.
 * @throws CountersignError `unauthenticated` for a request without anybody.
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

  /** One after the other: the last judgement is the one that began last. */
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
  // Listening comes first: what is taken between the two is not missed.
  const unsubscribe = hub.onAccess(before.id, judge)
  await judge()

  return {
    get principal() {
      if (now) return now.principal
      throw new CountersignError('unauthenticated', 'what you came in with has ended meanwhile: sign in again, or send another key')
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
