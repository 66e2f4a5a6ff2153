import type { Action, Principal } from '@countersign/client'
import { whyNot } from '@countersign/react'

type Scope = NonNullable<Principal['scopes']>[number]

const may = ({ kind, scopes }: Principal, scope: Scope): boolean => kind === 'person' && scopes?.includes(scope) !== false
const isAdmin = ({ roles }: Principal): boolean => roles.includes('admin')

/** True where an admin may look again at what others decide about: the role that it waits for may be one that nobody has any more. */
export const looksAgain = (action: Action, me: Principal, standsFor: readonly Principal[]): boolean =>
  action.state === 'proposed' && isAdmin(me) && may(me, 'decide') && whyNot(action, me, standsFor) !== null

/** True where this person may withdraw what was allowed to a client that has not claimed it: as an admin, or because they asked for it. */
export function withdraws({ state, executor, policy, requesters }: Action, me: Principal): boolean {
  if (state !== 'approved' || executor !== 'client' || policy.verdict !== 'allow') return false
  const isTheirs = requesters.some(({ id, personId = id }) => personId === me.id)
  return (isAdmin(me) && may(me, 'manage')) || (isTheirs && may(me, 'propose'))
}
