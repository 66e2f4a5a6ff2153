import { createHash, createHmac, randomBytes } from 'node:crypto'
import {
  assert,
  CountersignError,
  type CreatedKey,
  type CreateKeyBody,
  durationMs,
  type Key,
  type Principal,
  personOf,
} from '@countersign/core'
import { recordAudit } from '../../audit/index.ts'
import { isoTime } from '../../gate/index.ts'
import { keys, newId, type OnceKey, type Outbox, principals, type Tx, tellAccess } from '../../store/index.ts'

/** Roles that decide or see what others ask for: they are for persons. */
const PERSONS_ROLES = ['admin', 'approver', 'viewer']

/** Who acts in the record where no principal does: whoever has the data in their hands. */
const SYSTEM_ACTOR = 'system'

/** What is stored of a key, or of the secret in a cookie: it cannot be turned back. */
export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/**
 * A new key. None is ever stored: with an Idempotency-Key it follows from that and the installation's own secret, so that a repeat can be
 * answered the same.
 */
export function drawKey(once: OnceKey | undefined, secret: string): string {
  const bytes = once ? createHmac('sha256', secret).update(`${once.scope} ${once.key}`).digest() : randomBytes(32)
  return `cs_${bytes.toString('base64url')}`
}

/**
 * Gives out a key.
 * @param by Who makes it; null for whoever has the data in their hands.
 * @throws CountersignError `invalid_arguments` for what a key of this kind cannot be or carry.
 */
export function* createKey(
  outbox: Outbox,
  body: CreateKeyBody,
  key: string,
  by: Principal | null,
  nowMs: number,
): Tx<Omit<CreatedKey, 'key'>> {
  const holder = yield* holderOf(body)
  const principal = holder ?? (yield* newPrincipal(body, by, nowMs))
  const id = newId('key', nowMs)
  const expiresAt = body.expiresIn === undefined ? null : nowMs + (durationMs(body.expiresIn) ?? 0)
  const limits = { roles: holder && body.roles ? [...rolesOf(holder, body.roles)] : null, scopes: body.scopes ?? null }
  const data = { keyId: id, name: body.name, for: principal.id, kind: body.kind, has: principal.roles, ...limits, expiresAt }
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
    now: nowMs,
  })
  return { id, principal, createdAt: isoTime(nowMs), expiresAt: expiresAt === null ? null : isoTime(expiresAt) }
}

/** Who a further key is for. */
function* holderOf({ principal, person, kind }: CreateKeyBody): Tx<Principal | undefined> {
  const id = principal ?? (kind === 'person' ? (person ?? undefined) : undefined)
  if (id === undefined) return undefined
  const row = yield* principals.findPrincipal.first({ id })
  if (row?.kind !== kind) throw new CountersignError('invalid_arguments', `there is no ${kind} ${id} to make a key for`)
  return principals.readPrincipal(row)
}

function* newPrincipal({ kind, name, roles = [], person }: CreateKeyBody, by: Principal | null, nowMs: number): Tx<Principal> {
  const made: Principal = { id: newId('prn', nowMs), kind, name, roles }
  if (kind !== 'person') {
    const refused = roles.find((role) => PERSONS_ROLES.includes(role))
    if (refused)
      throw new CountersignError(
        'invalid_arguments',
        `${kind === 'agent' ? 'an agent' : 'a service'} cannot have the role ${refused}: only persons decide and look on`,
      )
    const owner = person === undefined ? by && personOf(by) : person
    if (owner !== null) made.personId = yield* idOfPerson(owner)
  }
  return made
}

function* idOfPerson(id: string): Tx<string> {
  const row = yield* principals.findPrincipal.first({ id })
  if (row?.kind !== 'person') throw new CountersignError('invalid_arguments', `there is no person ${id} to own this`)
  return row.id
}

/** A key carries what its holder has, or less. */
function rolesOf(holder: Principal, wanted: readonly string[]): readonly string[] {
  const missing = wanted.find((role) => !holder.roles.includes(role))
  if (missing !== undefined) {
    throw new CountersignError('invalid_arguments', `${holder.name} does not have the role ${missing}, so no key of theirs can carry it`)
  }
  return wanted
}

/** The principal that a key stands for, with what the key is limited to. */
export function principalOf({ key_roles, scopes, ...row }: keys.KeyHolder): Principal {
  const principal = principals.readPrincipal(row)
  const carried: string[] | null = key_roles === null ? null : JSON.parse(key_roles)
  return {
    ...principal,
    ...(carried && { roles: principal.roles.filter((role) => carried.includes(role)) }),
    ...(scopes !== null && { scopes: JSON.parse(scopes) }),
  }
}

/** Ends a key for good; doing it again changes nothing. @throws CountersignError `not_found` */
export function* revokeKey(outbox: Outbox, id: string, by: Principal | null, nowMs: number): Tx<Key> {
  const found = yield* keys.findKey.first({ id })
  if (!found) throw new CountersignError('not_found', `there is no key ${id}`)
  if (found.revoked_at === null) {
    const data = { keyId: id, name: found.name, for: found.principal_id }
    yield* recordAudit(outbox, { kind: 'key_revoked', actor: by?.id ?? SYSTEM_ACTOR, data }, nowMs)
    yield* keys.revokeKey.run({ id, revoked_by: by?.id ?? null, now: nowMs })
    tellAccess(outbox, found.principal_id)
  }
  const row = yield* keys.findKey.first({ id })
  assert(row, 'a key is never deleted')
  return yield* viewKey(row)
}

export function* listKeys(page: { before: string | undefined; limit: number }): Tx<Key[]> {
  const views: Key[] = []
  for (const row of yield* keys.listKeys(page)) views.push(yield* viewKey(row))
  return views
}

function* viewKey(row: keys.KeyRow): Tx<Key> {
  const time = (ms: number | null) => (ms === null ? null : isoTime(ms))
  return {
    id: row.id,
    name: row.name,
    principal: yield* principals.principalById(row.principal_id),
    roles: row.roles === null ? null : JSON.parse(row.roles),
    scopes: row.scopes === null ? null : JSON.parse(row.scopes),
    createdBy: row.created_by === null ? null : yield* principals.principalById(row.created_by),
    createdAt: isoTime(row.created_at),
    expiresAt: time(row.expires_at),
    lastUsedAt: time(row.last_used_at),
    revokedAt: time(row.revoked_at),
  }
}
