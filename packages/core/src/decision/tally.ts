import type { Requirements } from '../policy/evaluate.ts'

/**
 * True when somebody with the roles `held` may decide if one of `named` is required. An admin counts as an approver and as nothing else: a
 * rule that requires `finance` requires a second person, whom an admin cannot replace. The role `member` decides nothing, even if it is
 * named.
 *
 * @example
 * holdsRole(['admin'], ['approver']) // true
 * holdsRole(['admin'], ['finance']) // false
 */
export const holdsRole = (held: readonly string[], named: readonly string[]): boolean =>
  named.some((role) => role !== 'member' && (held.includes(role) || (role === 'approver' && held.includes('admin'))))

/** True when somebody with the roles `held` satisfies all lists of roles that a decision requires. */
export const meetsRoles = (held: readonly string[], { roles, alsoRoles = [] }: Pick<Requirements, 'roles' | 'alsoRoles'>): boolean =>
  [roles, ...alsoRoles].every((named) => holdsRole(held, named))

/** A vote as it is counted. */
export interface BallotPaper {
  /** The person who gave it. */
  voter: string
  /** The person whose right it uses: the voter, or whom they stand in for. */
  right: string
  verdict: 'approve' | 'decline'
  /** True when that person may still decide now. */
  counts: boolean
}

export interface Tally {
  approvals: number
  declines: number
  /** The decision; undefined while more votes are needed. */
  outcome: 'approve' | 'decline' | undefined
}

/**
 * Returns those of one revision's votes that count. A person's right counts once: their own vote before one that is given for them, of two
 * given for them the earlier.
 * @param votes The earliest first.
 */
export function countedVotes<Paper extends BallotPaper>(votes: readonly Paper[]): Paper[] {
  const byRight = new Map<string, Paper>()
  for (const vote of votes) {
    if (!vote.counts) continue
    const isOwn = vote.voter === vote.right
    if (isOwn || !byRight.has(vote.right)) byRight.set(vote.right, vote)
  }
  return [...byRight.values()]
}

/**
 * Counts the votes of one revision, the earliest first: see {@link countedVotes}. Where both numbers are reached at once, it is declined.
 *
 * @example
 * tallyVotes({ quorum: 2, declineQuorum: 1 }, [{ voter: 'ana', right: 'ana', verdict: 'approve', counts: true }])
 * // { approvals: 1, declines: 0, outcome: undefined }
 */
export function tallyVotes(
  { quorum, declineQuorum }: Pick<Requirements, 'quorum' | 'declineQuorum'>,
  votes: readonly BallotPaper[],
): Tally {
  const counted = countedVotes(votes)
  const approvals = counted.filter(({ verdict }) => verdict === 'approve').length
  const declines = counted.length - approvals
  const outcome = declines >= declineQuorum ? 'decline' : approvals >= quorum ? 'approve' : undefined
  return { approvals, declines, outcome }
}
