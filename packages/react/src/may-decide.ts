import type { Action, Principal, Vote } from '@countersign/client'

const holds = (principal: Principal, roles: readonly string[]): boolean =>
  // An admin stands in for an approver, and for nobody else.
  roles.some((role) => principal.roles.includes(role)) || (roles.includes('approver') && principal.roles.includes('admin'))

/**
 * Why this person cannot decide this action, as a sentence, or null when they may. For showing only: the server decides.
 * @param standsFor The people in whose place they are now.
 * Who has voted may change that while others are waited for: see {@link ownVote}.
 * @example
 * whyNot(action, me) // 'Waiting for someone with the role finance. You may look, not decide.'
 */
export function whyNot(
  action: Pick<Action, 'requires' | 'requestedBy'>,
  me: Principal | null,
  standsFor: readonly Principal[] = [],
): string | null {
  if (me === null) return 'Sign in to decide.'
  if (me.kind !== 'person') return `Only a person can decide; ${me.name} is a key of a program.`
  if (me.scopes && !me.scopes.includes('decide')) return 'The key you signed in with may not decide.'
  const { roles, notRequester } = action.requires
  if (roles.length > 0 && ![me, ...standsFor].some((person) => holds(person, roles))) {
    return `Waiting for someone with the role ${roles.join(' or ')}. You may look, not decide.`
  }
  const { requestedBy } = action
  if (notRequester && (requestedBy.personId ?? requestedBy.id) === me.id) return 'You asked for this yourself, so someone else must decide.'
  return null
}

/** What this person said about the revision that waits; another vote takes its place. Undefined while they have said nothing. */
export const ownVote = ({ votes }: Pick<Action, 'votes'>, me: Principal | null): Vote | undefined =>
  votes.find((vote) => vote.by.id === me?.id)
