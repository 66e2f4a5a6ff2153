import type { ActionState, AnswerStats } from '@countersign/core'
import type { stats } from '../store/index.ts'

export const noAnswers = (): AnswerStats => ({ allowed: 0, denied: 0, approved: 0, declined: 0, expired: 0, cancelled: 0, waiting: 0 })

/** The answer of people to an action in each state. */
const OF_PEOPLE: Readonly<Record<ActionState, keyof AnswerStats>> = {
  proposed: 'waiting',
  approved: 'approved',
  executing: 'approved',
  succeeded: 'approved',
  failed: 'approved',
  outcome_unknown: 'approved',
  declined: 'declined',
  expired: 'expired',
  cancelled: 'cancelled',
}

/** Returns how the proposals of a group ended. */
export function answerOf({ verdict, state }: Pick<stats.ActionGroup, 'verdict' | 'state'>): keyof AnswerStats {
  if (verdict === '"ask"') return OF_PEOPLE[state]
  return verdict === '"deny"' ? 'denied' : 'allowed'
}
