import type { Action } from '@countersign/client'
import { decidingVotes } from '@countersign/core/text'
import { showInvisible } from '@countersign/react'
import { isGrant } from '../record/sentences.ts'

type Ended = Pick<Action, 'policy' | 'votes' | 'state' | 'decidedAt'>

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
