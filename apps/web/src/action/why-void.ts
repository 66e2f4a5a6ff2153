import type { Action, Vote } from '@countersign/client'
import { showInvisible } from '@countersign/react'

/** Why a vote does not count, as a sentence; null for one that does. */
export function whyVoid({ by, for: lender, counts }: Vote, { votes, requesters }: Pick<Action, 'votes' | 'requesters'>): string | null {
  if (counts !== false) return null
  const voter = showInvisible(by.name)
  const because = () => {
    if (requesters.some(({ id, personId = id }) => personId === by.id)) return `${voter} asked for this`
    if (!lender) return `${voter} lost the role`
    const name = showInvisible(lender.name)
    return votes.some((vote) => vote.by.id === lender.id) ? `${name} voted too` : `The delegation ended or ${name} lost the role`
  }
  return `${because()}, so this vote does not count.`
}
