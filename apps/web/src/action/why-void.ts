import type { Action, Principal, Vote } from '@countersign/client'
import { showInvisible } from '@countersign/react'

type Counted = Pick<Action, 'votes' | 'requesters' | 'requires'>

/** Why a vote does not count, as a sentence; null for one that does. */
export function whyVoid({ by, for: lender, counts }: Vote, { votes, requesters, requires: { notRequester } }: Counted): string | null {
  if (counts !== false) return null
  const asked = (who: Principal) => requesters.some(({ id, personId = id }) => personId === who.id)
  const because = () => {
    // Where the rule lets those vote who asked, they still vote for nobody else.
    if ((notRequester || lender) && asked(by)) return `${showInvisible(by.name)} asked for this`
    if (!lender) return `${showInvisible(by.name)} lost the role`
    const name = showInvisible(lender.name)
    if (notRequester && asked(lender)) return `${name} asked for this`
    const votedToo = votes.some((vote) => vote.by.id === lender.id && !vote.for && vote.counts !== false)
    return votedToo ? `${name} voted too` : `The delegation ended or ${name} lost the role`
  }
  return `${because()}, so this vote does not count.`
}
