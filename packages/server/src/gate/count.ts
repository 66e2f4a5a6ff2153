import { type Requirements, type Tally, tallyVotes } from '@countersign/core'
import { type ActionRow, delegations, type Tx, type VoteRow } from '../store/index.ts'
import { excludedBy, holdsNow } from './rights.ts'

/**
 * Counts votes on an action, the earliest first, by what is true now: who lost the role, or asked for the action meanwhile, is not
 * counted; nor is who voted for somebody who did, or whose delegation ended.
 */
export function* countVotes(row: ActionRow, requires: Requirements, cast: readonly VoteRow[], nowMs: number): Tx<Tally> {
  const excluded = yield* excludedBy(requires, row)
  const papers = []
  for (const vote of cast) {
    const voter = vote.principal_id
    const right = vote.for_id ?? voter
    const isLent = right === voter || (yield* isLentTo(voter, right, nowMs))
    const counts = isLent && !excluded.has(voter) && !excluded.has(right) && (yield* holdsNow(right, requires.roles))
    papers.push({ voter, right, verdict: vote.verdict, counts })
  }
  return tallyVotes(requires, papers)
}

function* isLentTo(voter: string, lender: string, nowMs: number): Tx<boolean> {
  const lent = yield* delegations.delegationsTo.all({ to_id: voter, now: nowMs })
  return lent.some(({ from_id }) => from_id === lender)
}
