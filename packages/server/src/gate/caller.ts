import { CountersignError, type KeyScope, meetsRoles, type Principal, type Requirements } from '@countersign/core'
import type { Accepter } from '../audit/index.ts'
import { type ActionRow, type IdempotencyKey, keepRights, principals, type Tx } from '../store/index.ts'

/** The caller of a request, and its idempotency key if it has one. */
export interface Caller {
  principal: Principal
  /** How they proved who they are, for the record: `key`, `console`. Absent where no request came in. */
  signIn?: string
  /** Returns the principal that their credential proves at `now`; undefined once it has ended. Absent where no request came in. */
  standingIn?: (now: number) => Tx<{ principal: Principal } | undefined>
  once?: IdempotencyKey
}

/** The caller for one of several things that a single request does once each. */
export const partOf = ({ once, ...who }: Caller, part: string): Caller => ({
  ...who,
  ...(once && { once: { ...once, scope: `${once.scope} ${part}` } }),
})

/**
 * Checks that a caller still has the rights with which the request began: meanwhile a target may have been read, or another transaction
 * waited for. To be called in the transaction that acts for the caller, behind its locks, and behind {@link changeRights} in one that takes
 * rights away.
 * @throws CountersignError `unauthenticated` when the key, token or sign-in has ended since; `busy` when the caller has other rights by
 * now.
 */
export function* requireStanding({ principal, standingIn }: Caller, now: number): Tx<void> {
  if (!standingIn) return
  yield* keepRights()
  const standing = yield* standingIn(now)
  if (!standing) throw new CountersignError('unauthenticated', 'your credential ended while this was under way, so it was not done')
  if (rightsOf(standing.principal) !== rightsOf(principal)) throw new CountersignError('busy', 'your rights changed just now; try again')
}

/** A caller who accepts the state of the database. */
export const accepterOf = (caller: Caller): Accepter => ({
  id: caller.principal.id,
  requireStanding: (nowMs) => requireStanding(caller, nowMs),
})

const rightsOf = ({ roles, scopes }: Principal): string => JSON.stringify([roles, scopes])

const SEES_ALL = ['admin', 'viewer']

/**
 * Persons with one of these roles see everything. All others see what concerns them: `requireVisibleAction` and `requireVisibleSession`
 * for one, `readerOf` for lists and streams.
 */
export const seesAll = (principal: Principal): boolean =>
  principal.kind === 'person' && principal.roles.some((role) => SEES_ALL.includes(role))

/** Why the key in use may not do something. */
const limitOf = ({ unaccepted, name, scopes = [] }: Principal): string =>
  unaccepted
    ? `somebody else made it, and it only reads until ${name} has accepted it: sign in another way and accept it, or run countersign key accept`
    : scopes.length === 0
      ? 'it only reads'
      : `it is limited to ${scopes.join(' and ')}`

/** True unless the key in use is limited to something else. */
const isInScope = ({ scopes }: Principal, scope: KeyScope): boolean => scopes === undefined || scopes.includes(scope)

/**
 * @param what Of the refusal: "this key may not <what>".
 * @throws CountersignError `forbidden` for a key that is limited to none of `scopes`.
 */
export function requireScope(principal: Principal, scopes: readonly KeyScope[], what: string): void {
  if (scopes.some((scope) => isInScope(principal, scope))) return
  throw new CountersignError('forbidden', `this key may not ${what}: ${limitOf(principal)}`)
}

/** Returns why a principal can never decide, for any action; undefined when it depends on the action. */
export function whyNeverDecides(principal: Principal): string | undefined {
  if (principal.kind !== 'person') return `only persons decide, ${principal.name} is an ${principal.kind}`
  if (isInScope(principal, 'decide')) return undefined
  return principal.unaccepted ? `this key may not decide: ${limitOf(principal)}` : 'this key is limited to something else'
}

/** True when `principal` may settle an action that requires these roles. Only persons ever may, and not with a key that is limited to less. */
export const mayDecide = (principal: Principal, requires: Pick<Requirements, 'roles' | 'alsoRoles'>): boolean =>
  whyNeverDecides(principal) === undefined && meetsRoles(principal.roles, requires)

/** Persons with one of these ask agents for something. A member does that and decides nothing. */
const WRITERS = ['admin', 'approver', 'member']

/** True for programs, and for people with one of these roles. */
export const isWriter = ({ kind, roles }: Principal): boolean => kind !== 'person' || roles.some((role) => WRITERS.includes(role))

/** @throws CountersignError `forbidden` for a person who has none of these roles: a viewer only reads. */
export function requireWriter(principal: Principal): void {
  requireScope(principal, ['propose'], 'ask for anything')
  if (isWriter(principal)) return
  throw new CountersignError('forbidden', `${principal.name} may look, not act: the role member, approver or admin is needed`)
}

/** True for an admin, whatever the key in use is limited to: enough for what they read. What they do takes {@link isAdminInScope}. */
export const isAdmin = ({ kind, roles }: Principal): boolean => kind === 'person' && roles.includes('admin')

/** True for an admin whose key is not limited to less. */
export const isAdminInScope = (principal: Principal): boolean => isAdmin(principal) && isInScope(principal, 'manage')

/**
 * Policy, keys, grants and the record are for admins. An agent or a service never is one, whatever roles it carries.
 * @param what Of the refusal: "only an admin <what>".
 * @throws CountersignError `forbidden`; for an admin's key that is limited to less, it says to what.
 */
export function requireAdmin(principal: Principal, what: string): void {
  if (isAdminInScope(principal)) return
  if (isAdmin(principal)) {
    throw new CountersignError('forbidden', `this key may not act as an admin, and only an admin ${what}: ${limitOf(principal)}`)
  }
  throw new CountersignError('forbidden', `only an admin ${what}${principal.unaccepted ? `; this key may not: ${limitOf(principal)}` : ''}`)
}

/**
 * @param what Of the refusal: "only persons <what>".
 * @throws CountersignError `forbidden` for an agent or a service.
 */
export function requirePerson(principal: Principal, what: string): Principal {
  if (principal.kind === 'person') return principal
  throw new CountersignError(
    'forbidden',
    `only persons ${what}, ${principal.name} is ${principal.kind === 'agent' ? 'an agent' : 'a service'}`,
  )
}

/**
 * Nothing that a person does with an embed token outlives it, except votes: such a token is short-lived because it lives in a page.
 * @param what Of the refusal: "an embed token may not <what>".
 * @throws CountersignError `forbidden` for a person whom only embed tokens identify.
 */
export function requireOwnSignIn(principal: Principal, what: string): void {
  if (principal.host === undefined) return
  throw new CountersignError('forbidden', `an embed token may not ${what}: it would last longer than the token`)
}

/** The roles of its person that the key in use does not carry. */
export function* rolesLeftOut({ id, roles }: Principal): Tx<string[]> {
  const person = yield* principals.findPrincipal.first({ id })
  // Compared as text first: nearly every key carries all of them, and this is asked for each message.
  if (!person || person.roles === JSON.stringify(roles)) return []
  const held: string[] = JSON.parse(person.roles)
  return held.filter((role) => !roles.includes(role))
}

/**
 * What a person lends, allows for later or asks of an agent counts by all roles that they hold then, so a key that carries only some of them
 * does nothing of this.
 * @param what Of the refusal: "this key may not <what>".
 * @throws CountersignError `forbidden` for a key that leaves out a role of its person.
 */
export function* requireAllRoles(principal: Principal, what: string): Tx<void> {
  const missing = yield* rolesLeftOut(principal)
  if (missing.length === 0) return
  throw new CountersignError('forbidden', `this key may not ${what}: it leaves out ${missing.join(', ')}; use one with all of your roles`)
}

/** @throws CountersignError `gone` for an action that was archived or redacted, or whose session was deleted: it can be read, and nothing more is done about it. */
export function requireUnarchived({ id, archived_at, redacted_at }: Pick<ActionRow, 'id' | 'archived_at' | 'redacted_at'>): void {
  if (redacted_at !== null) throw new CountersignError('gone', `action ${id} was redacted: nothing can be done about it any more`)
  if (archived_at === null) return
  throw new CountersignError('gone', `action ${id} was archived, or its session was deleted: nothing can be done about it any more`)
}
