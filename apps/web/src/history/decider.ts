import type { Action } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { isGrant } from '../record/sentences.ts'

type Ended = Pick<Action, 'policy' | 'votes' | 'state' | 'decidedAt'>

/** The votes that decided: none where it expired or was cancelled before there were enough. */
export function decidingVotes({ votes, state, decidedAt }: Omit<Ended, 'policy'>): Action['votes'] {
  if (decidedAt === null && (state === 'expired' || state === 'cancelled')) return []
  return votes.filter(({ verdict }) => verdict === (state === 'declined' ? 'decline' : 'approve'))
}

/** A reason that went with those votes. */
export const decidingReason = (action: Omit<Ended, 'policy'>): string | undefined =>
  decidingVotes(action).find(({ reason }) => reason !== undefined)?.reason

/** The people whose votes decided, or the rule. */
export function deciderText({ policy, votes, state, decidedAt }: Ended): string {
  if (policy.verdict !== 'ask') return isGrant(policy.rule) ? `Grant: ${showInvisible(policy.reason)}` : policyText(policy.rule)
  const names = decidingVotes({ votes, state, decidedAt }).map(
    ({ by, for: lender }) => showInvisible(by.name) + (lender ? ` for ${showInvisible(lender.name)}` : ''),
  )
  if (names.length > 0) return names.join(', ')
  return state === 'expired' ? 'Nobody in time' : '–'
}

const policyText = (rule: string): string => (rule === 'default' ? 'Policy: no rule matches' : `Policy: ${showInvisible(rule)}`)
