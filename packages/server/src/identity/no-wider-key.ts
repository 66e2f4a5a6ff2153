import { CountersignError, type KeyScope, type Principal } from '@countersign/core'
import { principals, type Tx } from '../store/index.ts'

/**
 * Checks that a limited key (limited to scopes, or to some of its person's roles) makes or accepts no key with more rights: only keys of
 * its own person and of the agents and services that they own, with the same scopes and roles or fewer.
 * @param limits Of the other key; without scopes it may do everything, without roles it has all of its person's.
 * @param holder The holder of the other key.
 * @throws CountersignError `forbidden`
 */
export function* requireNoWiderKey(
  by: Principal,
  { roles, scopes }: { roles?: readonly string[] | undefined; scopes?: readonly KeyScope[] | undefined },
  holder: Principal,
): Tx<void> {
  const person = yield* principals.findPrincipal.first({ id: by.id })
  const all: string[] = person ? JSON.parse(person.roles) : []
  const hasFewerRoles = all.some((role) => !by.roles.includes(role))
  if (by.scopes === undefined && !hasFewerRoles) return
  if (holder.id !== by.id && (holder.kind === 'person' || holder.personId !== by.id)) {
    throw wider('it makes keys only for its own person, and for agents and services that this person owns')
  }
  const { scopes: own } = by
  if (own && (scopes === undefined || scopes.some((scope) => !own.includes(scope)))) {
    throw wider(`name scopes among its own (${own.join(', ') || 'none'})`)
  }
  if (holder.kind === 'person' && hasFewerRoles && !(roles ?? all).every((role) => by.roles.includes(role))) {
    throw wider(`name roles among its own (${by.roles.join(', ') || 'none'})`)
  }
}

const wider = (what: string) => new CountersignError('forbidden', `this key is limited, and gives out nothing wider than itself: ${what}`)
