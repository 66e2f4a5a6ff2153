import type { Action, Principal } from '@countersign/client'

const holds = (principal: Principal, roles: readonly string[]): boolean =>
  // An admin stands in for an approver, and for nobody else.
  roles.some((role) => principal.roles.includes(role)) || (roles.includes('approver') && principal.roles.includes('admin'))

/**
 * Why this person cannot decide this action, as a sentence, or null when they may. For showing only: the server decides.
 * @param standsFor The people in whose place they are now.
 * @example
 * whyNot(action, me) // 'Waiting for someone with the role finance.'
 */
export function whyNot(
  action: Pick<Action, 'requires' | 'votes' | 'requestedBy'>,
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
  const mine = action.votes.find((vote) => vote.by.id === me.id)
  if (mine) return `You ${mine.verdict === 'approve' ? 'approved' : 'declined'} this; others must decide too.`
  return null
}
