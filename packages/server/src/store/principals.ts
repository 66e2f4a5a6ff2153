import { assert, type Principal, personOf } from '@countersign/core'
import { sql } from 'kysely'
import { ask, lit, question, type Tx } from './query.ts'
import type { PrincipalRow } from './schema.ts'

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

export const readPrincipal = ({ id, kind, name, roles, person_id }: Omit<PrincipalRow, 'created_at'>): Principal => ({
  id,
  kind,
  name,
  roles: JSON.parse(roles),
  ...(kind !== 'person' && person_id !== null && { personId: person_id }),
})

/** The roles of every principal, as lists in JSON, each list once. */
export const listRoles = question<Record<string, never>, { roles: string }>((db) =>
  db.selectFrom('principal').select('roles').distinct().limit(lit(10_000)),
)

export const findPrincipal = question<{ id: string }, PrincipalRow>(
  (db, p) => db.selectFrom('principal').selectAll().where('id', '=', p.id),
  { remembered: 'principal' },
)

/** People by name. @param page `text` is what an id or a name has in it; only people behind `after`. */
export const listPeople = (page: {
  text: string | undefined
  after: { name: string; id: string } | undefined
  limit: number
}): Tx<Pick<PrincipalRow, 'id' | 'name'>[]> =>
  ask((db, dialect) => {
    const { text, after, limit } = page
    let query = db
      .selectFrom('principal')
      .select(['id', 'name'])
      .where('kind', '=', lit('person'))
      .orderBy('name')
      .orderBy('id')
      .limit(limit)
    if (after !== undefined) query = query.where(sql<boolean>`(name, id) > (${after.name}, ${after.id})`)
    if (text !== undefined) {
      const pattern = `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
      query = query.where(sql<boolean>`(name ${dialect.like} ${pattern} escape '\\' or id ${dialect.like} ${pattern} escape '\\')`)
    }
    return query
  })

/** Somebody whom another row refers to. */
export function* principalById(id: string): Tx<Principal> {
  const row = yield* findPrincipal.first({ id })
  assert(row, `principal ${id} is in the table that refers to it`)
  return readPrincipal(row)
}
