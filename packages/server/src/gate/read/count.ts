import { countedVotes, type Requirements, type Tally, tallyVotes } from '@countersign/core'
import type { ActionRow, Tx, VoteRow, votes } from '../../store/index.ts'
import { excludedBy, hadRightTo, hasRightTo, holds, holdsNow } from '../decide/rights.ts'

/** A vote to be counted; one that is about to be cast comes without the person behind it. */
export type Paper = VoteRow | votes.HeldVote

export interface Count extends Tally {
  /** Those of the votes that count. */
  counted: ReadonlySet<Paper>
}

/**
 * Counts votes on an action, the earliest first, by what is true now: who lost the role, or asked for the action meanwhile, is not
 * counted; nor is who voted for somebody who did, or whose delegation ended, even if they were given another. A vote in the place of
 * another never counts of whom asked, even where the rule lets those vote who asked.
 */
export function* countVotes(row: ActionRow, requires: Requirements, cast: readonly Paper[], nowMs: number): Tx<Count> {
  const excluded = yield* excludedBy(requires, row)
  const papers = []
  for (const vote of cast) {
    // By person: in older databases, the person at the server's machine may have voted under another id with the bootstrap key.
    const voter = ('voter_person' in vote && vote.voter_person) || vote.principal_id
    const right = ('holder_person' in vote && vote.holder_person) || (vote.for_id ?? voter)
    const by = { principal_id: voter, for_id: right === voter ? null : right, created_at: vote.created_at }
    const isFree = (yield* hasRightTo(row, by, nowMs)) && !excluded.has(voter) && !excluded.has(right)
    const counts =
      isFree &&
      ('holder_kind' in vote
        ? holds({ kind: vote.holder_kind, roles: vote.holder_roles, disabled_at: vote.holder_disabled_at }, requires)
        : yield* holdsNow(right, requires))
    papers.push({ vote, voter, right, verdict: vote.verdict, counts })
  }
  return { ...tallyVotes(requires, papers), counted: new Set(countedVotes(papers).map(({ vote }) => vote)) }
}

/**
 * Returns those of the votes that counted when an action was decided, or ended without a decision. A vote in one's own right is among them
 * unless it is stored that it did not count: that is stored for decisions alone, and since migration 0021.
 */
export function* votesCountedAtEnd(row: ActionRow, cast: readonly VoteRow[]): Tx<ReadonlySet<VoteRow>> {
  const valid = cast.filter(({ counts }) => counts !== 0)
  // A single vote that decided did count.
  if (valid.every(({ for_id }) => for_id === null) || (valid.length === 1 && row.decided_at !== null)) return new Set(valid)
  const at = row.decided_at ?? row.settled_at ?? row.updated_at
  const papers = []
  for (const vote of valid) {
    const { principal_id: voter, for_id, verdict } = vote
    papers.push({ vote, voter, right: for_id ?? voter, verdict, counts: yield* hadRightTo(row, vote, at) })
  }
  return new Set(countedVotes(papers).map(({ vote }) => vote))
}
