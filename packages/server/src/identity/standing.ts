import { isDeepStrictEqual } from 'node:util'
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
  /** Called after every check that finds other rights, or none; and now, where they have changed already. */
  onChanged(listener: () => void): void
}

const rightsOf = ({ id, kind, roles, scopes }: Principal): string => JSON.stringify([id, kind, roles, scopes])

/**
 * Checks the standing of the caller now, when their rights were reduced, and when their credential expires: a key that was revoked or
 * expired, a session that was signed out or idle too long, roles that changed. When the check fails, the caller counts as unauthenticated.
 * @throws CountersignError `unauthenticated` for a request without a caller.
 */
export async function watchStanding(
  { hub, clock }: { hub: EventHub; clock: Clock },
  { principal, standing }: FastifyRequest,
): Promise<StandingWatch> {
  if (!principal || !standing) throw new CountersignError('unauthenticated', 'sign in, or send a key: Authorization: Bearer <key>')
  const watch = new CallerWatch(principal, standing, clock)
  await watch.begin(hub)
  return watch
}

/** A class, because a closure for each function would cost each open stream more memory than its state. */
class CallerWatch implements StandingWatch {
  readonly #before: Principal
  readonly #standing: NonNullable<FastifyRequest['standing']>
  readonly #clock: Clock
  #listeners: readonly (() => void)[] = []
  #changeListeners: readonly (() => void)[] = []
  #now: Principal | undefined
  #judged = Promise.resolve()
  #isOver = false
  #stopWaiting: (() => void) | undefined
  #unsubscribe: (() => void) | undefined
  /** Runs checks one after the other, so that the last result belongs to the check that began last. */
  readonly #judge = (): Promise<void> => (this.#judged = this.#judged.then(() => this.#judgeNow()))

  constructor(before: Principal, standing: NonNullable<FastifyRequest['standing']>, clock: Clock) {
    this.#before = before
    this.#standing = standing
    this.#clock = clock
  }

  async begin(hub: EventHub): Promise<void> {
    // The subscription comes first, so that a change between the two steps is not missed.
    this.#unsubscribe = hub.onAccess(this.#before.id, this.#judge)
    await this.#judge()
  }

  async #judgeNow(): Promise<void> {
    if (this.#isOver) return
    const found = await this.#standing().catch(() => undefined)
    if (this.#isOver) return
    // Usually nothing has changed: an open stream then keeps one of the two.
    this.#now = isDeepStrictEqual(found?.principal, this.#before) ? this.#before : found?.principal
    this.#stopWaiting?.()
    const endsAt = found?.endsAt
    if (endsAt !== undefined) this.#stopWaiting = this.#clock.after(Math.max(endsAt - this.#clock.nowMs(), ASK_AGAIN_MS), this.#judge)
    for (const listener of this.#listeners) listener()
    if (!this.isSame) for (const listener of this.#changeListeners) listener()
  }

  get principal(): Principal {
    if (this.#now) return this.#now
    throw new CountersignError('unauthenticated', 'your credential has ended meanwhile: sign in again, or send another key')
  }

  get isSame(): boolean {
    return this.#now !== undefined && rightsOf(this.#now) === rightsOf(this.#before)
  }

  onJudged(listener: () => void): void {
    this.#listeners = [...this.#listeners, listener]
  }

  onChanged(listener: () => void): void {
    this.#changeListeners = [...this.#changeListeners, listener]
    if (!this.isSame) listener()
  }

  [Symbol.dispose](): void {
    this.#isOver = true
    this.#stopWaiting?.()
    this.#unsubscribe?.()
  }
}
