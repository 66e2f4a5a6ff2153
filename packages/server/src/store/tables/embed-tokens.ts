import { sql } from 'kysely'
import { question } from '../query.ts'
import type { EmbedTokenRow, PrincipalRow } from './principal-rows.ts'
import type { Schema } from './schema.ts'

export const insertToken = question<Schema['embed_token'] & Record<string, string | number>>((db, p) =>
  db.insertInto('embed_token').values({
    id: p.id,
    hash: p.hash,
    key_id: p.key_id,
    principal_id: p.principal_id,
    roles: p.roles,
    created_at: p.created_at,
    expires_at: p.expires_at,
  }),
)

/** A token's roles and expiry, beside the person that it belongs to. */
export type TokenHolder = PrincipalRow & { token_roles: string; expires_at: number }

/**
 * Returns the person of a token, while it has not expired, the key that made it is neither revoked nor expired, and neither the person, the
 * service nor the service's owner is disabled.
 */
export const holderOfToken = question<{ hash: string; now: number }, TokenHolder>((db, p, dialect) =>
  db
    .selectFrom('embed_token')
    .innerJoin('principal', 'principal.id', 'embed_token.principal_id')
    .innerJoin('api_key', 'api_key.id', 'embed_token.key_id')
    .innerJoin('principal as service', 'service.id', 'api_key.principal_id')
    .leftJoin('principal as owner', 'owner.id', 'service.person_id')
    .selectAll('principal')
    .select(['embed_token.roles as token_roles', 'embed_token.expires_at'])
    .where('embed_token.hash', '=', p.hash)
    .where('principal.disabled_at', 'is', null)
    .where('service.disabled_at', 'is', null)
    .where('owner.disabled_at', 'is', null)
    .where('api_key.revoked_at', 'is', null)
    .where(sql<boolean>`(api_key.expires_at is null or api_key.expires_at > ${dialect.nowMs(p.now)})`)
    .where(sql<boolean>`embed_token.expires_at > ${dialect.nowMs(p.now)}`),
)

/** The people who have a token of a key. */
export const peopleOfKey = question<{ key_id: string }, Pick<EmbedTokenRow, 'principal_id'>>((db, p) =>
  db.selectFrom('embed_token').select('principal_id').distinct().where('key_id', '=', p.key_id).orderBy('principal_id'),
)

export const endTokensOfKey = question<{ key_id: string }>((db, p) => db.deleteFrom('embed_token').where('key_id', '=', p.key_id))

export const endTokensOfPerson = question<{ principal_id: string }>((db, p) =>
  db.deleteFrom('embed_token').where('principal_id', '=', p.principal_id),
)
