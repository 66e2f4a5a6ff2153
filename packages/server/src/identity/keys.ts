import { createHash, randomBytes } from 'node:crypto'
import {
  assert,
  CountersignError,
  type CreatedKey,
  type CreateKeyBody,
  durationMs,
  type Key,
  type KeyScope,
  type Principal,
  personOf,
} from '@countersign/core'
import { recordAudit } from '../audit/index.ts'
import { isoTime } from '../gate/index.ts'
import { changeRights, keys, mapInTurn, newId, type Outbox, principals, type Tx, tellAccess } from '../store/index.ts'
import { embedRolesOf, endTokensOfKey } from './embed-keys.ts'
import { requireNoWiderKey } from './no-wider-key.ts'

/** Roles that decide, or see the proposals of others: only persons can have them. */
const PERSONS_ROLES = ['admin', 'approver', 'viewer', 'member']

/** The actor in the record where no principal acts: the operator who has access to the data itself. */
const SYSTEM_ACTOR = 'system'

/** Returns the stored form of a key, or of the secret in a cookie: it cannot be reversed. */
export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/** Draws a new random key. It is stored nowhere: the database has its SHA-256. */
export const drawKey = (): string => `cs_${randomBytes(32).toString('base64url')}`

/**
 * Creates a key. A person's key that another person creates may only read until its person accepts it: see `acceptKey`.
 * @param by The creator; null for an operator with access to the data itself.
 * @throws CountersignError `invalid_arguments` for properties that a key of this kind cannot have; `forbidden` for a key with more rights
 * than the limited key of `by`.
 */
export function* createKey(
  { outbox, by, nowMs }: { outbox: Outbox; by: Principal | null; nowMs: number },
  body: CreateKeyBody,
  key: string,
): Tx<Omit<CreatedKey, 'key'>> {
  const holder = yield* named(yield* holderOf(body), body)
  const principal = holder ?? (yield* newPrincipal(body, by, nowMs))
  if (by) yield* requireNoWiderKey(by, body, principal)
  // A key that vouches for people could turn one admin into many people, so only whoever runs the server accepts it.
  const needsNobody = principal.kind === 'person' ? by?.id === principal.id : body.embedRoles === undefined
  const acceptedAt = by === null || needsNobody ? nowMs : null
  const id = newId('key', nowMs)
  const expiresAt = body.expiresIn === undefined ? null : nowMs + (durationMs(body.expiresIn) ?? 0)
  const limits = { roles: holder && body.roles ? [...rolesOf(holder, body.roles)] : null, scopes: body.scopes ?? null }
  const embedRoles = yield* embedRolesOf(body, holder)
  const data = {
    keyId: id,
    name: body.name,
    for: principal.id,
    kind: body.kind,
    has: principal.roles,
    ...(principal.agent !== undefined && { agent: principal.agent }),
    ...limits,
    ...(embedRoles && { embedRoles }),
    expiresAt,
    isAccepted: acceptedAt !== null,
  }
  yield* recordAudit(outbox, { kind: 'key_made', actor: by?.id ?? SYSTEM_ACTOR, data }, nowMs)
  if (!holder) yield* principals.savePrincipal(principal, nowMs)
  yield* keys.insertKey.run({
    id,
    principal_id: principal.id,
    name: body.name,
    hash: hashOf(key),
    created_by: by?.id ?? null,
    roles: limits.roles && JSON.stringify(limits.roles),
    scopes: limits.scopes && JSON.stringify(limits.scopes),
    expires_at: expiresAt,
    accepted_at: acceptedAt,
    embed_roles: embedRoles && JSON.stringify(embedRoles),
    now: nowMs,
  })
  const time = (ms: number | null) => (ms === null ? null : isoTime(ms))
  return { id, principal, createdAt: isoTime(nowMs), expiresAt: time(expiresAt), acceptedAt: time(acceptedAt) }
}

/** Returns the holder of a further key. */
function* holderOf({ principal, person, kind }: CreateKeyBody): Tx<Principal | undefined> {
  const id = principal ?? (kind === 'person' ? (person ?? undefined) : undefined)
  if (id === undefined) return undefined
  const row = yield* principals.findPrincipal.first({ id })
  if (row?.kind !== kind) throw new CountersignError('invalid_arguments', `there is no ${kind} ${id} to make a key for`)
  if (row.disabled_at !== null) throw new CountersignError('invalid_arguments', `${row.name} is disabled: enable them before making a key`)
  if (row.host_id !== null)
    throw new CountersignError('invalid_arguments', `${row.name} is known from embed tokens only, and can have no key`)
  return principals.readPrincipal(row)
}

/**
 * Gives an agent from before names were stored the name that its keys prove from now on.
 * @throws CountersignError `invalid_arguments` for a name that the holder cannot have, or that differs from the agent's name.
 */
function* named(holder: Principal | undefined, { kind, agent }: CreateKeyBody): Tx<Principal | undefined> {
  if (agent === undefined) return holder
  if (kind !== 'agent') throw new CountersignError('invalid_arguments', `only an agent has an agent name, not a ${kind}`)
  if (!holder || holder.agent === agent) return holder
  if (holder.agent !== undefined) {
    throw new CountersignError('invalid_arguments', `${holder.name} is the agent ${holder.agent}: make a key for another agent instead`)
  }
  yield* principals.nameAgent.run({ id: holder.id, agent })
  return { ...holder, agent }
}

function* newPrincipal({ kind, name, roles = [], person, agent }: CreateKeyBody, by: Principal | null, nowMs: number): Tx<Principal> {
  const made: Principal = { id: newId('prn', nowMs), kind, name, roles, ...(kind === 'agent' && { agent: agent ?? name }) }
  if (kind !== 'person') {
    const refused = roles.find((role) => PERSONS_ROLES.includes(role))
    if (refused)
      throw new CountersignError(
        'invalid_arguments',
        `${kind === 'agent' ? 'an agent' : 'a service'} cannot have the role ${refused}: only persons can have it`,
      )
    const owner = person === undefined ? by && personOf(by) : person
    if (owner !== null) made.personId = yield* idOfPerson(owner)
  }
  return made
}

function* idOfPerson(id: string): Tx<string> {
  const row = yield* principals.findPrincipal.first({ id })
  if (row?.kind !== 'person') throw new CountersignError('invalid_arguments', `there is no person ${id} to own this`)
  if (row.disabled_at !== null) throw new CountersignError('invalid_arguments', `${row.name} is disabled, and can own nothing new`)
  return row.id
}

/** Returns the roles of a key: those of its holder, or fewer. */
function rolesOf(holder: Principal, wanted: readonly string[]): readonly string[] {
  const missing = wanted.find((role) => !holder.roles.includes(role))
  if (missing !== undefined) {
    throw new CountersignError('invalid_arguments', `${holder.name} does not have the role ${missing}, so no key of theirs can carry it`)
  }
  return wanted
}

/**
 * Accepts a key that another person made for a person, so that its full rights apply; repeating this changes nothing.
 * @param by Its person, signed in with a credential that is already their own; null for an operator with access to the data itself.
 * @throws CountersignError `not_found` for a key of another person; `gone` for a revoked one; `forbidden` for a caller whose own key was
 * not accepted, or has fewer rights.
 */
export function* acceptKey(outbox: Outbox, id: string, by: Principal | null, nowMs: number): Tx<Key> {
  const found = yield* keys.findKey.first({ id })
  if (!found || (by && by.id !== found.principal_id)) throw new CountersignError('not_found', `there is no key ${id} for you to accept`)
  if (by?.unaccepted) {
    throw new CountersignError('forbidden', `a key cannot accept itself: sign in another way, or run countersign key accept ${id}`)
  }
  if (found.revoked_at !== null) throw new CountersignError('gone', `the key ${id} was revoked`)
  if (by) {
    const held = yield* principals.principalById(found.principal_id)
    const limits = { roles: readList(found.roles), scopes: readScopes(found.scopes) }
    yield* requireNoWiderKey(by, limits, held)
  }
  if (yield* keys.acceptKey.change({ id, now: nowMs })) {
    const data = { keyId: id, name: found.name, for: found.principal_id, madeBy: found.created_by }
    yield* recordAudit(outbox, { kind: 'key_accepted', actor: by?.id ?? SYSTEM_ACTOR, data }, nowMs)
    tellAccess(outbox, found.principal_id)
  }
  return yield* viewKey((yield* keys.findKey.first({ id })) ?? found)
}

/** Revokes a key for good; repeating this changes nothing. @throws CountersignError `not_found` */
export function* revokeKey(outbox: Outbox, id: string, by: Principal | null, nowMs: number): Tx<Key> {
  const found = yield* keys.findKey.first({ id })
  if (!found) throw new CountersignError('not_found', `there is no key ${id}`)
  if (found.revoked_at === null) {
    yield* changeRights()
    const data = { keyId: id, name: found.name, for: found.principal_id }
    yield* recordAudit(outbox, { kind: 'key_revoked', actor: by?.id ?? SYSTEM_ACTOR, data }, nowMs)
    yield* keys.revokeKey.run({ id, revoked_by: by?.id ?? null, now: nowMs })
    yield* endTokensOfKey(outbox, id)
    tellAccess(outbox, found.principal_id)
  }
  const row = yield* keys.findKey.first({ id })
  assert(row, 'a key is never deleted')
  return yield* viewKey(row)
}

export function* listKeys(page: { principalId?: string | undefined; before: string | undefined; limit: number }): Tx<Key[]> {
  return yield* mapInTurn(yield* keys.listKeys(page), viewKey)
}

export function* viewKey(row: keys.KeyRow): Tx<Key> {
  const time = (ms: number | null) => (ms === null ? null : isoTime(ms))
  return {
    id: row.id,
    name: row.name,
    principal: yield* principals.principalById(row.principal_id),
    roles: readList(row.roles) ?? null,
    scopes: readScopes(row.scopes) ?? null,
    embedRoles: readList(row.embed_roles) ?? null,
    createdBy: row.created_by === null ? null : yield* principals.principalById(row.created_by),
    createdAt: isoTime(row.created_at),
    expiresAt: time(row.expires_at),
    lastUsedAt: time(row.last_used_at),
    revokedAt: time(row.revoked_at),
    acceptedAt: time(row.accepted_at),
  }
}

const readList = (json: string | null): string[] | undefined => (json === null ? undefined : JSON.parse(json))
const readScopes = (json: string | null): KeyScope[] | undefined => (json === null ? undefined : JSON.parse(json))
