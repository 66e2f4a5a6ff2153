import type { Action, Principal, Vote } from '@countersign/client'
import { rolesText } from '@countersign/core/text'

/** True for one role of each list. The role admin includes approver, and no other role. */
const holds = ({ roles: held }: Principal, { roles, alsoRoles = [] }: Action['requires']): boolean =>
  [roles, ...alsoRoles].every((list) => list.some((role) => held.includes(role) || (role === 'approver' && held.includes('admin'))))

type Asked = Pick<Action, 'requestedBy'> & Partial<Pick<Action, 'requesters'>>

/** All who asked for an action; a server from before all of them were told names one. */
export const askedBy = ({ requestedBy, requesters = [requestedBy] }: Asked): readonly Principal[] => requesters

/**
 * Why this person cannot decide this action, as a sentence, or null when they may. For showing only: the server decides.
 * @param standsFor The people in whose place they are now.
 * A voter may change their vote while others are still to vote: see {@link ownVote}.
 * @example
 * whyNot(action, me) // 'Waiting for someone with the role finance.'
 */
export function whyNot(
  action: Pick<Action, 'requires'> & Asked & Partial<Pick<Action, 'votes'>>,
  me: Principal | null,
  standsFor: readonly Principal[] = [],
): string | null {
  if (me === null) return 'Sign in to decide.'
  if (me.kind !== 'person') return 'Only persons decide.'
  if (me.scopes?.includes('decide') === false) return 'Your key may not decide.'
  const { requires, votes = [] } = action
  const asked = askedBy(action).map(({ id, personId = id }) => personId)
  const used = votes.filter((vote) => vote.counts !== false && vote.by.id !== me.id).map((vote) => (vote.for ?? vote.by).id)
  const isOwn = holds(me, requires)
  const isFree = ({ id }: Principal) => !used.includes(id) && !(requires.notRequester && asked.includes(id))
  if (!isOwn && !standsFor.some((person) => isFree(person) && holds(person, requires)))
    return `Waiting for someone with the role ${rolesText(requires)}.`
  // A requester cannot vote for somebody else, even where the rule lets requesters vote for themselves.
  return asked.includes(me.id) && (requires.notRequester || !isOwn) ? 'You asked for this, so someone else must decide.' : null
}

/** True for somebody who is counted among those who have seen an action. The server decides who of them may. */
export const maySaySeen = (me: Principal | null): boolean => me?.kind === 'person' && me.scopes?.includes('decide') !== false

/** Returns this person's vote on the waiting revision. A later vote replaces it. Undefined while they have said nothing that counts. */
export const ownVote = ({ votes }: Pick<Action, 'votes'>, me: Principal | null): Vote | undefined =>
  votes.find((vote) => vote.counts !== false && vote.by.id === me?.id)
