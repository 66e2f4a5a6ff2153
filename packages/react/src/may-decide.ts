import type { Action, Principal } from '@countersign/client'

/**
 * Why this person cannot decide this action, as a sentence, or null when they may. For showing only: the server decides.
 * @example
 * whyNot(action, me) // 'Waiting for someone with the role finance.'
 */
export function whyNot(action: Pick<Action, 'requires' | 'votes' | 'requestedBy'>, me: Principal | null): string | null {
  if (me === null) return 'Sign in to decide.'
  if (me.kind !== 'person') return `Only a person can decide; ${me.name} is a key of a program.`
  if (me.scopes && !me.scopes.includes('decide')) return 'The key you signed in with may not decide.'
  const { roles, notRequester } = action.requires
  // An admin stands in for an approver, and for nobody else.
  const mayStandIn = roles.includes('approver') && me.roles.includes('admin')
  if (roles.length > 0 && !mayStandIn && !roles.some((role) => me.roles.includes(role))) {
    return `Waiting for someone with the role ${roles.join(' or ')}. You may look, not decide.`
  }
  const { requestedBy } = action
  if (notRequester && (requestedBy.personId ?? requestedBy.id) === me.id) return 'You asked for this yourself, so someone else must decide.'
  const mine = action.votes.find((vote) => vote.by.id === me.id)
  if (mine) return `You ${mine.verdict === 'approve' ? 'approved' : 'declined'} this; others must decide too.`
  return null
}
