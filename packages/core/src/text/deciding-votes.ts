import type { Action } from '../wire/action.ts'

/**
 * Returns the votes that decided an action: none while it waits, nor where it expired or was cancelled before there were enough. A vote that
 * does not count is not among them.
 */
export function decidingVotes({ votes, state, decidedAt }: Pick<Action, 'votes' | 'state' | 'decidedAt'>): Action['votes'] {
  // Actions from before its time was stored were decided without one.
  if (decidedAt === null && (state === 'proposed' || state === 'expired' || state === 'cancelled')) return []
  return votes.filter(({ verdict, counts }) => verdict === (state === 'declined' ? 'decline' : 'approve') && counts !== false)
}
