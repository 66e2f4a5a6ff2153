import type { Principal } from '@countersign/core'
import { sql } from 'kysely'
import { ask, lit, question, type Tx } from '../query.ts'
import type { ApiKeyRow, PrincipalRow } from './principal-rows.ts'
import { readPrincipal } from './principals.ts'
import type { Schema } from './schema.ts'

export type KeyRow = ApiKeyRow

type NewKey = Pick<
  ApiKeyRow,
  'id' | 'principal_id' | 'name' | 'hash' | 'created_by' | 'roles' | 'scopes' | 'expires_at' | 'accepted_at' | 'embed_roles'
>

export const insertKey = question<NewKey & { now: number }>((db, p) =>
  db.insertInto('api_key').values({
    id: p.id,
    principal_id: p.principal_id,
    name: p.name,
    hash: p.hash,
    created_by: p.created_by,
    roles: p.roles,
    scopes: p.scopes,
    expires_at: p.expires_at,
    revoked_at: null,
    revoked_by: null,
    last_used_at: null,
    accepted_at: p.accepted_at,
    embed_roles: p.embed_roles,
    created_at: p.now,
  } satisfies Schema['api_key']),
)

/** The limits of a key as they are stored: its roles, its scopes, and whether its person has accepted it. */
export interface KeyLimits {
  key_roles: string | null
  scopes: string | null
  accepted_at: number | null
  embed_roles: string | null
}

/** The limits of a key, beside the principal that it belongs to. */
export type KeyHolder = PrincipalRow &
  KeyLimits & {
    key_id: string
    last_used_at: number | null
    expires_at: number | null
  }

/** Returns the principal of a key, with the limits of the key. */
export function principalOf({ key_roles, scopes, accepted_at, embed_roles, ...row }: PrincipalRow & KeyLimits): Principal {
  const principal = readPrincipal(row)
  const isUnaccepted = accepted_at === null && (row.kind === 'person' || embed_roles !== null)
  const carried: string[] | null = key_roles === null ? null : JSON.parse(key_roles)
  return {
    ...principal,
    ...(carried && { roles: principal.roles.filter((role) => carried.includes(role)) }),
    ...(scopes !== null && { scopes: JSON.parse(scopes) }),
    ...(isUnaccepted && { scopes: [], unaccepted: true as const }),
  }
}

/** Returns the holder of a key, while it is neither revoked nor expired and neither the holder nor their owner is disabled. */
export const holderOfKey = question<{ hash: string; now: number }, KeyHolder>((db, p, dialect) =>
  db
    .selectFrom('api_key')
    .innerJoin('principal', 'principal.id', 'api_key.principal_id')
    .leftJoin('principal as owner', 'owner.id', 'principal.person_id')
    .selectAll('principal')
    .select(['api_key.id as key_id', 'api_key.roles as key_roles', 'api_key.scopes', 'api_key.last_used_at', 'api_key.expires_at'])
    .select(['api_key.accepted_at', 'api_key.embed_roles'])
    .where('principal.disabled_at', 'is', null)
    .where('owner.disabled_at', 'is', null)
    .where('api_key.hash', '=', p.hash)
    .where('api_key.revoked_at', 'is', null)
    .where(sql<boolean>`(api_key.expires_at is null or api_key.expires_at > ${dialect.nowMs(p.now)})`),
)

/** Returns when a key expired that was not revoked. */
export const expiredKey = question<{ hash: string; now: number }, { expires_at: number | null }>((db, p, dialect) =>
  db
    .selectFrom('api_key')
    .select('expires_at')
    .where('hash', '=', p.hash)
    .where('revoked_at', 'is', null)
    .where(sql<boolean>`expires_at <= ${dialect.nowMs(p.now)}`),
)

/** Records the use of a key. No row changes when a use was recorded since `before`. */
export const touchKey = question<{ id: string; before: number; now: number }>((db, p) =>
  db
    .updateTable('api_key')
    .set({ last_used_at: p.now })
    .where('id', '=', p.id)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', p.before)])),
)

/** Accepts a key. No row changes when it was accepted or revoked. */
export const acceptKey = question<{ id: string; now: number }>((db, p) =>
  db
    .updateTable('api_key')
    .set({ accepted_at: p.now })
    .where('id', '=', p.id)
    .where('accepted_at', 'is', null)
    .where('revoked_at', 'is', null),
)

export const findKey = question<{ id: string }, ApiKeyRow>((db, p) => db.selectFrom('api_key').selectAll().where('id', '=', p.id))

/** Revokes a key for good. No row changes when it does not exist, or was revoked already. */
export const revokeKey = question<{ id: string; revoked_by: string | null; now: number }>((db, p) =>
  db.updateTable('api_key').set({ revoked_at: p.now, revoked_by: p.revoked_by }).where('id', '=', p.id).where('revoked_at', 'is', null),
)

/** The keys of a person, and of the agents and services that they own, that were not revoked, newest first. */
export const keysOfPerson = question<{ person_id: string }, ApiKeyRow>((db, p) =>
  db
    .selectFrom('api_key')
    .innerJoin('principal', 'principal.id', 'api_key.principal_id')
    .selectAll('api_key')
    .where((eb) => eb.or([eb('principal.id', '=', p.person_id), eb('principal.person_id', '=', p.person_id)]))
    .where('api_key.revoked_at', 'is', null)
    .orderBy('api_key.id', 'desc')
    .limit(lit(10_000)),
)

/** Keys, newest first: those of `principalId`, or with undefined all. */
export const listKeys = (page: { principalId?: string | undefined; before: string | undefined; limit: number }): Tx<ApiKeyRow[]> =>
  ask((db) => {
    const { principalId, before, limit } = page
    let query = db.selectFrom('api_key').selectAll().orderBy('id', 'desc').limit(limit)
    if (principalId !== undefined) query = query.where('principal_id', '=', principalId)
    if (before !== undefined) query = query.where('id', '<', before)
    return query
  })
