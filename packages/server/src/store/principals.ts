import { question } from './query.ts'
import type { Schema } from './schema.ts'

type PrincipalRow = Schema['principal']

export const upsertPrincipal = question<{ id: string; kind: PrincipalRow['kind']; name: string; roles: string; now: number }>((db, p) =>
  db
    .insertInto('principal')
    .values({ id: p.id, kind: p.kind, name: p.name, roles: p.roles, created_at: p.now })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ name: p.name, roles: p.roles })),
)

export const findPrincipal = question<{ id: string }, PrincipalRow>((db, p) =>
  db.selectFrom('principal').selectAll().where('id', '=', p.id),
)

export const insertKey = question<{ id: string; principal_id: string; hash: string; now: number }>((db, p) =>
  db.insertInto('api_key').values({ id: p.id, principal_id: p.principal_id, hash: p.hash, created_at: p.now }),
)

export const principalOfKey = question<{ hash: string }, PrincipalRow>((db, p) =>
  db
    .selectFrom('api_key')
    .innerJoin('principal', 'principal.id', 'api_key.principal_id')
    .selectAll('principal')
    .where('api_key.hash', '=', p.hash),
)
