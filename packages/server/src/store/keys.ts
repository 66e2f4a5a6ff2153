import { sql } from 'kysely'
import { ask, question, type Tx } from './query.ts'
import type { ApiKeyRow, PrincipalRow } from './schema.ts'

export type KeyRow = ApiKeyRow

type NewKey = Pick<ApiKeyRow, 'id' | 'principal_id' | 'name' | 'hash' | 'created_by' | 'roles' | 'scopes' | 'expires_at'>

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
    created_at: p.now,
  }),
)

/** The limits of a key, beside the principal that it belongs to. */
export type KeyHolder = PrincipalRow & {
  key_id: string
  key_roles: string | null
  scopes: string | null
  last_used_at: number | null
  expires_at: number | null
}

/** Who a key belongs to, while it is neither revoked nor expired. */
export const holderOfKey = question<{ hash: string; now: number }, KeyHolder>((db, p, dialect) =>
  db
    .selectFrom('api_key')
    .innerJoin('principal', 'principal.id', 'api_key.principal_id')
    .selectAll('principal')
    .select(['api_key.id as key_id', 'api_key.roles as key_roles', 'api_key.scopes', 'api_key.last_used_at', 'api_key.expires_at'])
    .where('api_key.hash', '=', p.hash)
    .where('api_key.revoked_at', 'is', null)
    .where(sql<boolean>`(api_key.expires_at is null or api_key.expires_at > ${dialect.nowMs(p.now)})`),
)

/** Notes that a key was used. Nothing changed: somebody noted it since `before`. */
export const touchKey = question<{ id: string; before: number; now: number }>((db, p) =>
  db
    .updateTable('api_key')
    .set({ last_used_at: p.now })
    .where('id', '=', p.id)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', p.before)])),
)

export const findKey = question<{ id: string }, ApiKeyRow>((db, p) => db.selectFrom('api_key').selectAll().where('id', '=', p.id))

/** Ends a key for good. Nothing changed: there is none, or it was revoked already. */
export const revokeKey = question<{ id: string; revoked_by: string | null; now: number }>((db, p) =>
  db.updateTable('api_key').set({ revoked_at: p.now, revoked_by: p.revoked_by }).where('id', '=', p.id).where('revoked_at', 'is', null),
)

/** Keys, newest first. */
export const listKeys = (page: { before: string | undefined; limit: number }): Tx<ApiKeyRow[]> =>
  ask((db) => {
    const query = db.selectFrom('api_key').selectAll().orderBy('id', 'desc').limit(page.limit)
    return page.before === undefined ? query : query.where('id', '<', page.before)
  })
