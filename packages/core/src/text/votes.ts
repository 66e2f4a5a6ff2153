import type { Action, Vote } from '../wire/action.ts'

type Decided = Pick<Action, 'votes' | 'state' | 'decidedAt'>

/**
 * Returns the votes that decided an action: none while it waits, nor where it expired or was cancelled before there were enough. A vote that
 * does not count is not among them.
 */
export function decidingVotes({ votes, state, decidedAt }: Decided): Action['votes'] {
  // Actions from before its time was stored were decided without one.
  if (decidedAt === null && (state === 'proposed' || state === 'expired' || state === 'cancelled')) return []
  return votes.filter(({ verdict, counts }) => verdict === (state === 'declined' ? 'decline' : 'approve') && counts !== false)
}

/** Returns the reasons that people gave with these votes: "Wrong order / Too much". Undefined where nobody gave one. */
export const decidingReason = (action: Decided): string | undefined =>
  decidingVotes(action)
    .flatMap(({ reason }) => reason || [])
    .join(' / ') || undefined

/** Counts the votes of one verdict that count. A person counts once, even if several people vote in their place. */
export const countRights = (votes: readonly Vote[], verdict: Vote['verdict']): number =>
  new Set(votes.filter((vote) => vote.counts !== false && vote.verdict === verdict).map((vote) => (vote.for ?? vote.by).id)).size

/** The roles that a decision takes, for people: "finance or legal and approver". */
export const rolesText = ({ roles, alsoRoles = [] }: Pick<Action['requires'], 'roles' | 'alsoRoles'>): string =>
  [roles, ...alsoRoles].map((list) => list.join(' or ')).join(' and ')
