import { CountersignError, type FullWaiting, isCountersignError, type PolicyDocument, WAITING_LIMITS } from '@countersign/core'
import type { Refusals } from '../../audit/index.ts'
import { lockKey, type Tx, waiting } from '../../store/index.ts'
import type { SessionWriter } from '../session-writer.ts'

/** How much may wait for people at the same time. */
export interface WaitingLimits {
  perAgent: number
  perSession: number
}

/** More transactions of one requester than this are not under way at once; below this distance from the limit none waits for another. */
const HEADROOM = 100

const nearOf = ({ perAgent }: WaitingLimits): number => Math.max(perAgent - HEADROOM, 0)

/** The first query of {@link queueNearLimit}. */
export const countNear = (requestedBy: string, limits: WaitingLimits): Tx<number> => waiting.countWaitingOf(requestedBy, nearOf(limits))

export const limitsOf = ({ limits }: PolicyDocument): WaitingLimits => ({
  perAgent: limits?.waitingPerAgent ?? WAITING_LIMITS.perAgent,
  perSession: limits?.waitingPerSession ?? WAITING_LIMITS.perSession,
})

/**
 * Lets the asks of one requester wait for each other once their limit is near, so that two at once do not both take the last place. A
 * transaction that writes to a session opens the session first, so that all take the two locks in one order.
 * @returns How many actions of the requester wait; undefined near the limit, where they are counted again behind the lock.
 */
export function* queueNearLimit(requestedBy: string, limits: WaitingLimits): Tx<number | undefined> {
  const near = nearOf(limits)
  const count = near > 0 ? yield* countNear(requestedBy, limits) : 0
  if (count < near) return count
  yield* lockKey(`waiting ${requestedBy}`)
  return undefined
}

/**
 * Refuses an action that would wait, in the transaction that would store it.
 * @param place `waitingNow` is how many of its requester wait.
 * @throws CountersignError `too_many_waiting` when the requester, or the session, has as much waiting as the policy allows.
 */
export function requireRoomToWait(
  { waitingNow, session }: { waitingNow: number; session: SessionWriter | undefined },
  { perAgent, perSession }: WaitingLimits,
): void {
  const inSession = session?.state.open.filter(({ state }) => state === 'proposed').length ?? 0
  if (inSession >= perSession) throw tooMany('this session', 'Session', perSession)
  if (waitingNow >= perAgent) throw tooMany('this agent', 'Agent', perAgent)
}

const tooMany = (who: string, scope: 'Agent' | 'Session', limit: number): CountersignError =>
  new CountersignError(
    'too_many_waiting',
    `${limit} actions of ${who} wait for a decision already, which is the limit. Propose this again when some of them are decided; an admin can raise limits.waitingPer${scope} in the policy`,
    { limit },
  )

/**
 * Records that a proposal was refused because too much waits. The refusals of one requester and session are one row and its repeats,
 * whichever tools they called, so a flood makes two rows a minute. Other errors pass through.
 */
export function noteRefusedAsk(refusals: Refusals, ask: { actor: string; tool: string; sessionId: string | null }, error: unknown): void {
  if (!isCountersignError(error) || error.code !== 'too_many_waiting') return
  const { actor, tool, sessionId } = ask
  const data = { code: error.code, why: error.message, tool, ...(sessionId !== null && { session: sessionId }) }
  refusals.note({ actor, data, sameAs: ['ask', sessionId ?? '', error.message] })
}

/** Returns the agents and sessions that are at the policy's limit: the 20 agents and the 20 sessions with the most waiting actions. */
export function* findFullWaiting({ document }: { document: PolicyDocument }): Tx<FullWaiting[]> {
  const { perAgent, perSession } = limitsOf(document)
  const agents = yield* waiting.fullRequesters.all({ limit: perAgent })
  const sessions = yield* waiting.fullSessions.all({ limit: perSession })
  return [
    ...agents.map((row) => ({ scope: 'agent' as const, ...row, waiting: Number(row.waiting), limit: perAgent })),
    ...sessions.map((row) => ({ scope: 'session' as const, ...row, waiting: Number(row.waiting), limit: perSession })),
  ]
}
