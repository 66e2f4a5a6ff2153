import { isDeepStrictEqual } from 'node:util'
import { assert, type ChangePersonBody, CountersignError, type PersonDetails, type Principal } from '@countersign/core'
import { recordAudit } from '../audit/index.ts'
import { isoTime, viewDelegation, viewGrant, viewPrincipal } from '../gate/index.ts'
import {
  changeRights,
  consoleSessions,
  delegations,
  embedTokens,
  grants,
  keys,
  mapInTurn,
  type Outbox,
  type PrincipalRow,
  principals,
  pushSubscriptions,
  type Tx,
  tellAccess,
} from '../store/index.ts'
import { endTokensOfKey } from './embed-keys.ts'
import { viewKey } from './keys.ts'

/** The server gives this person their roles at every start. */
const LOCAL = 'prn_local'

/** At most this many are listed; all of them end with the person, listed or not. */
const MOST_SHOWN = 200

/** Ids of everything that ended with a person, and the number of console sessions. */
export interface Ended {
  keys: string[]
  grants: string[]
  delegations: string[]
  consoleSessions: number
}

/**
 * Disables a person: their keys and those of their agents and services, their console sessions, grants and delegations end in this
 * transaction, in every process. Enabling the person again restores none of it. Their votes no longer count from then on.
 * @param signedIn The number of their console sessions that are valid.
 * @returns What ended; undefined when they were disabled before.
 * @throws CountersignError `forbidden` for oneself, and for callers who are no longer admins; `not_found`.
 */
export function* disablePerson(
  { outbox, by, nowMs: now, signedIn }: { outbox: Outbox; by: Principal; nowMs: number; signedIn: number },
  id: string,
): Tx<Ended | undefined> {
  const person = yield* findForChange(id, by)
  if (id === by.id) throw new CountersignError('forbidden', 'you cannot disable yourself: another admin has to do that')
  if (person.disabled_at !== null) return undefined
  const theirs = yield* principals.principalsOfPerson.all({ id })
  const held = yield* keys.keysOfPerson.all({ person_id: id })
  const given = yield* grants.standingBy.all({ made_by: id, now })
  const lent = yield* delegations.delegationsOf.all({ person_id: id, now })
  const ended: Ended = {
    keys: held.map((key) => key.id),
    grants: given.map((grant) => grant.id),
    delegations: lent.map((delegation) => delegation.id),
    consoleSessions: signedIn,
  }
  const data = { person: id, name: person.name, ended: { ...ended } }
  yield* recordAudit(outbox, { kind: 'person_disabled', actor: by.id, data }, now)
  yield* principals.disablePerson.run({ id, by: by.id, now })
  for (const key of held) {
    yield* keys.revokeKey.run({ id: key.id, revoked_by: by.id, now })
    yield* endTokensOfKey(outbox, key.id)
  }
  yield* embedTokens.endTokensOfPerson.run({ principal_id: id })
  for (const grant of given) yield* grants.revokeGrant.run({ id: grant.id, revoked_by: by.id, now })
  for (const delegation of lent) yield* delegations.revokeDelegation.run({ id: delegation.id, revoked_by: by.id, now })
  yield* consoleSessions.endConsoleSessions.run({ principal_id: id, now })
  yield* pushSubscriptions.deleteOthers.run({ principal_id: id, kept: '' })
  for (const one of theirs) tellAccess(outbox, one.id)
  for (const { from_id, to_id } of lent) for (const one of [from_id, to_id]) tellAccess(outbox, one)
  return ended
}

/** Enables a person again, with their roles and nothing else. @throws CountersignError `forbidden`, `not_found`. */
export function* enablePerson(outbox: Outbox, id: string, by: Principal, now: number): Tx<void> {
  const person = yield* findForChange(id, by)
  if (person.disabled_at === null) return
  yield* recordAudit(outbox, { kind: 'person_enabled', actor: by.id, data: { person: id, name: person.name } }, now)
  yield* principals.enablePerson.run({ id })
  tellAccess(outbox, id)
}

/**
 * Changes the roles of a person.
 * @param whyHeld The reason why the server is held; undefined while it is not. A held server only takes roles away.
 * @throws CountersignError `not_ready` for a role that a held server would give; `forbidden` for one's own, for roles that the key in use does
 * not carry, and for people whose roles come from the server; `invalid_arguments` for leaving out a role that the sign-in service gives;
 * `revision_mismatch` for roles that are others than `was` by now; `not_found`.
 */
export function* changeRoles(
  { outbox, by, nowMs: now, whyHeld }: { outbox: Outbox; by: Principal; nowMs: number; whyHeld: string | undefined },
  id: string,
  { roles, was }: ChangePersonBody,
): Tx<void> {
  const person = yield* findForChange(id, by)
  if (id === by.id) throw new CountersignError('forbidden', 'you cannot change your own roles: another admin has to do that')
  if (id === LOCAL) throw new CountersignError('forbidden', `the roles of ${person.name} come from the server itself; disable them instead`)
  const before: string[] = JSON.parse(person.roles)
  const next = sorted(roles)
  if (isSame(next, before)) return
  if (was !== undefined && !isSame(was, before)) {
    const present = sorted(before).join(', ') || 'none'
    const detail = `the roles of ${person.name} changed since they were shown: they are ${present} now. Nothing was changed`
    throw new CountersignError('revision_mismatch', detail)
  }
  const added = next.filter((role) => !before.includes(role))
  if (whyHeld !== undefined && added.length > 0) {
    const detail = `this server is held and only takes roles away, so nobody is given ${added.join(', ')}: ${whyHeld}`
    throw new CountersignError('not_ready', detail)
  }
  const own: string[] = JSON.parse((yield* principals.findPrincipal.first({ id: by.id }))?.roles ?? '[]')
  if (own.some((role) => !by.roles.includes(role)) && added.some((role) => !by.roles.includes(role))) {
    throw new CountersignError('forbidden', `this key is limited, and gives out no role but its own (${by.roles.join(', ') || 'none'})`)
  }
  const kept = readList(person.provided_roles)?.find((role) => !next.includes(role))
  if (kept !== undefined) {
    throw new CountersignError('invalid_arguments', `${person.name} has the role ${kept} from the sign-in service: take it away there`)
  }
  const data = { principal: id, name: person.name, roles: next, before: { name: person.name, roles: before } }
  yield* recordAudit(outbox, { kind: 'principal_changed', actor: by.id, data }, now)
  yield* principals.setRoles.run({ id, roles: JSON.stringify(next), provided_roles: person.provided_roles })
  yield* tellOfRoles(outbox, id, now)
}

/** Tells that a person has other roles: to them, and to those who vote in their place. */
function* tellOfRoles(outbox: Outbox, id: string, now: number): Tx<void> {
  tellAccess(outbox, id)
  for (const { to_id } of yield* delegations.delegationsOf.all({ person_id: id, now })) tellAccess(outbox, to_id)
}

const sorted = (roles: readonly string[]): string[] => [...new Set(roles)].sort()

const isSame = (one: readonly string[], other: readonly string[]): boolean => isDeepStrictEqual(sorted(one), sorted(other))

/** One after the other: of two admins who disable each other at the same moment, one stays. */
function* findForChange(id: string, by: Principal): Tx<PrincipalRow> {
  yield* changeRights()
  const admin = yield* principals.findPrincipal.first({ id: by.id })
  const isAdmin = admin?.disabled_at === null && (JSON.parse(admin.roles) as string[]).includes('admin')
  if (!isAdmin) throw new CountersignError('forbidden', 'only an admin changes people')
  return yield* findPerson(id)
}

function* findPerson(id: string): Tx<PrincipalRow> {
  const person = yield* principals.findPrincipal.first({ id })
  if (person?.kind !== 'person') throw new CountersignError('not_found', `there is no person ${id}`)
  return person
}

/** Returns a person with their credentials, except console sessions. @throws CountersignError `not_found` */
export function* viewPerson(id: string, now: number): Tx<Omit<PersonDetails, 'consoleSessions'>> {
  const person = yield* findPerson(id)
  const agents = yield* principals.principalsOfPerson.all({ id })
  return {
    id,
    name: person.name,
    roles: JSON.parse(person.roles),
    providedRoles: readList(person.provided_roles),
    hasFixedRoles: id === LOCAL,
    disabledAt: person.disabled_at === null ? null : isoTime(person.disabled_at),
    disabledBy: person.disabled_by === null ? null : yield* viewPrincipal(person.disabled_by),
    createdAt: isoTime(person.created_at),
    keys: yield* mapInTurn(shown(yield* keys.keysOfPerson.all({ person_id: id })), viewKey),
    agents: shown(agents.filter((agent) => agent.id !== id)).map(principals.readPrincipal),
    grants: yield* mapInTurn(shown(yield* grants.grantsBy.all({ made_by: id, now })), (grant) => viewGrant(grant, now)),
    delegations: yield* mapInTurn(shown(yield* delegations.delegationsOf.all({ person_id: id, now })), (lent) => viewDelegation(lent, now)),
  }
}

const shown = <Row>(rows: Row[]): Row[] => rows.slice(0, MOST_SHOWN)

/**
 * Stores the name and the roles that a sign-in service or a host currently gives a person. Roles that an admin of this server gave them stay.
 * @param actor The principal that the record names. Default: the person, who has just signed in.
 */
export function* takeProvided(outbox: Outbox, person: Principal, now: number, actor: string = person.id): Tx<void> {
  const { row, known, roles, isAsProvided } = yield* withProvided(person)
  if (!isAsProvided) {
    yield* changeRights()
    const before = known ? { name: known.name, roles: known.roles } : null
    const data = { principal: person.id, name: person.name, roles, before }
    yield* recordAudit(outbox, { kind: 'principal_changed', actor, data }, now)
    yield* principals.savePrincipal({ ...person, roles }, now)
    yield* tellOfRoles(outbox, person.id, now)
  }
  const nowProvided = JSON.stringify(person.roles)
  if (row?.provided_roles !== nowProvided) {
    yield* principals.setRoles.run({ id: person.id, roles: JSON.stringify(roles), provided_roles: nowProvided })
  }
}

/** Finds a person, and the roles that they have with those that are provided now. */
export function* withProvided(person: Principal) {
  const row = yield* principals.findPrincipal.first({ id: person.id })
  const known = row && principals.readPrincipal(row)
  const provided = readList(row?.provided_roles ?? null) ?? known?.roles ?? []
  const given = known?.roles.filter((role) => !provided.includes(role)) ?? []
  const roles = [...new Set([...person.roles, ...given])].sort()
  return { row, known, roles, isAsProvided: known?.name === person.name && known.roles.join('\n') === roles.join('\n') }
}

/** @throws CountersignError `forbidden` for a person who may not sign in. */
export function* requireEnabled(id: string): Tx<void> {
  const row = yield* principals.findPrincipal.first({ id })
  if (row && row.disabled_at !== null) throw new CountersignError('forbidden', `${row.name} is disabled here: ask an admin of this server`)
}

const readList = (json: string | null): string[] | null => {
  if (json === null) return null
  const list: unknown = JSON.parse(json)
  assert(Array.isArray(list), 'roles are stored as a list')
  return list
}
