import { type Principal, personOf } from '@countersign/core'
import { question, type Tx } from './query.ts'
import type { ApiKeyRow, PrincipalRow } from './schema.ts'

const upsertPrincipal = question<Pick<PrincipalRow, 'id' | 'kind' | 'name' | 'roles' | 'person_id'> & { now: number }>((db, p) =>
  db
    .insertInto('principal')
    .values({ id: p.id, kind: p.kind, name: p.name, roles: p.roles, person_id: p.person_id, created_at: p.now })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ name: p.name, roles: p.roles })),
)

/** Makes a principal known, or changes the name and roles of one that is. */
export const savePrincipal = (principal: Principal, now: number): Tx<void> => {
  const { id, kind, name, roles } = principal
  return upsertPrincipal.run({ id, kind, name, roles: JSON.stringify(roles), person_id: personOf(principal), now })
}

export const readPrincipal = ({ id, kind, name, roles, person_id }: PrincipalRow): Principal => ({
  id,
  kind,
  name,
  roles: JSON.parse(roles),
  ...(kind !== 'person' && person_id !== null && { personId: person_id }),
})

export const findPrincipal = question<{ id: string }, PrincipalRow>((db, p) =>
  db.selectFrom('principal').selectAll().where('id', '=', p.id),
)

export const insertKey = question<
  Pick<ApiKeyRow, 'id' | 'principal_id' | 'name' | 'hash' | 'created_by' | 'roles' | 'scopes' | 'expires_at'> & { now: number }
>((db, p) =>
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

export const principalOfKey = question<{ hash: string }, PrincipalRow>((db, p) =>
  db
    .selectFrom('api_key')
    .innerJoin('principal', 'principal.id', 'api_key.principal_id')
    .selectAll('principal')
    .where('api_key.hash', '=', p.hash),
)
