import type { Action, Principal, Vote } from '@countersign/client'

/** True for one of `roles`. The role admin includes approver, and no other role. */
const holds = ({ roles: held }: Principal, roles: readonly string[]): boolean =>
  roles.some((role) => held.includes(role) || (role === 'approver' && held.includes('admin')))

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
  action: Pick<Action, 'requires'> & Asked,
  me: Principal | null,
  standsFor: readonly Principal[] = [],
): string | null {
  if (me === null) return 'Sign in to decide.'
  if (me.kind !== 'person') return 'Only persons decide.'
  if (me.scopes && !me.scopes.includes('decide')) return 'Your key may not decide.'
  const { roles, alsoRoles = [], notRequester } = action.requires
  const needed = [roles, ...alsoRoles]
  if (![me, ...standsFor].some((person) => needed.every((list) => holds(person, list)))) {
    return `Waiting for someone with the role ${needed.map((list) => list.join(' or ')).join(' and ')}.`
  }
  if (notRequester && askedBy(action).some(({ id, personId = id }) => personId === me.id))
    return 'You asked for this, so someone else must decide.'
  return null
}

/** True for somebody who is counted among those who have seen an action. The server decides who of them may. */
export const maySaySeen = (me: Principal | null): boolean => me?.kind === 'person' && (me.scopes?.includes('decide') ?? true)

/** Returns this person's vote on the waiting revision. A later vote replaces it. Undefined while they have said nothing. */
export const ownVote = ({ votes }: Pick<Action, 'votes'>, me: Principal | null): Vote | undefined =>
  votes.find((vote) => vote.by.id === me?.id)
