import { assert, type Principal, personOf } from '@countersign/core'
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { ask, lit, question, type Tx } from '../query.ts'
import type { PrincipalRow } from './principal-rows.ts'
import type { Schema } from './schema.ts'

const upsertPrincipal = question<
  Pick<PrincipalRow, 'id' | 'kind' | 'name' | 'roles' | 'person_id' | 'agent' | 'host_id'> & { now: number }
>((db, p) =>
  db
    .insertInto('principal')
    .values({
      id: p.id,
      kind: p.kind,
      name: p.name,
      roles: p.roles,
      person_id: p.person_id,
      disabled_at: null,
      disabled_by: null,
      provided_roles: null,
      agent: p.agent,
      host_id: p.host_id,
      created_at: p.now,
    } satisfies Schema['principal'])
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ name: p.name, roles: p.roles })),
)

/** Stores a principal, or changes the name and roles of a known one. */
export const savePrincipal = (principal: Principal, now: number): Tx<void> => {
  const { id, kind, name, roles, agent = null, host = null } = principal
  return upsertPrincipal.run({ id, kind, name, roles: JSON.stringify(roles), person_id: personOf(principal), agent, host_id: host, now })
}

/** Many principals have the same few lists. Each caller gets one of its own. */
const lists = new LRUCache<string, readonly string[]>({ max: 1_000 })

function readRoles(text: string): string[] {
  const known: readonly string[] = lists.get(text) ?? JSON.parse(text)
  lists.set(text, known)
  return [...known]
}

export const readPrincipal = ({
  id,
  kind,
  name,
  roles,
  person_id,
  agent,
  host_id,
}: Pick<PrincipalRow, 'id' | 'kind' | 'name' | 'roles' | 'person_id'> & { agent?: string | null; host_id?: string | null }): Principal => ({
  id,
  kind,
  name,
  roles: readRoles(roles),
  ...(kind !== 'person' && person_id !== null && { personId: person_id }),
  ...(kind === 'agent' && agent != null && { agent }),
  ...(host_id != null && { host: host_id }),
})

/** Gives an agent from before names were stored the name that its keys prove from now on. No row changes when it has a name. */
export const nameAgent = question<{ id: string; agent: string }>((db, p) =>
  db.updateTable('principal').set({ agent: p.agent }).where('id', '=', p.id).where('kind', '=', lit('agent')).where('agent', 'is', null),
)

/** The roles of every principal, as lists in JSON, each list once. */
export const listRoles = question<Record<string, never>, { roles: string }>((db) =>
  db.selectFrom('principal').select('roles').distinct().limit(lit(10_000)),
)

/** How many people, without those who are disabled, have which roles: lists in JSON, each list once. */
export const countByRoles = question<Record<string, never>, { roles: string; people: number }>((db) =>
  db
    .selectFrom('principal')
    .select((eb) => ['roles', eb.fn.countAll<number>().as('people')])
    .where('kind', '=', lit('person'))
    .where('disabled_at', 'is', null)
    .groupBy('roles')
    .limit(lit(10_000)),
)

export const findPrincipal = question<{ id: string }, PrincipalRow>(
  (db, p) => db.selectFrom('principal').selectAll().where('id', '=', p.id),
  { remembered: 'principal' },
)

/** Disables a person. No row changes when they were disabled. */
export const disablePerson = question<{ id: string; by: string | null; now: number }>((db, p) =>
  db.updateTable('principal').set({ disabled_at: p.now, disabled_by: p.by }).where('id', '=', p.id).where('disabled_at', 'is', null),
)

/** Enables a person. No row changes when they were not disabled. */
export const enablePerson = question<{ id: string }>((db, p) =>
  db.updateTable('principal').set({ disabled_at: null, disabled_by: null }).where('id', '=', p.id).where('disabled_at', 'is not', null),
)

/** Stores all roles of a person, and which of them the sign-in service gave. */
export const setRoles = question<{ id: string; roles: string; provided_roles: string | null }>((db, p) =>
  db.updateTable('principal').set({ roles: p.roles, provided_roles: p.provided_roles }).where('id', '=', p.id),
)

/** A person and the agents and services that they own, the oldest first. */
export const principalsOfPerson = question<{ id: string }, PrincipalRow>((db, p) =>
  db
    .selectFrom('principal')
    .selectAll()
    .where((eb) => eb.or([eb('id', '=', p.id), eb('person_id', '=', p.id)]))
    .orderBy('id')
    .limit(lit(10_000)),
)

/** People by name. @param page `text` is a part of the id or name; only people after `after`; disabled people only on request. */
export const listPeople = (page: {
  text: string | undefined
  after: { name: string; id: string } | undefined
  withDisabled: boolean
  limit: number
}): Tx<Pick<PrincipalRow, 'id' | 'name' | 'roles' | 'disabled_at'>[]> =>
  ask((db, dialect) => {
    const { text, after, withDisabled, limit } = page
    let query = db
      .selectFrom('principal')
      .select(['id', 'name', 'roles', 'disabled_at'])
      .where('kind', '=', lit('person'))
      .orderBy('name')
      .orderBy('id')
      .limit(limit)
    if (!withDisabled) query = query.where('disabled_at', 'is', null)
    if (after !== undefined) query = query.where(sql<boolean>`(name, id) > (${after.name}, ${after.id})`)
    if (text !== undefined) query = query.where(sql<boolean>`(${dialect.hasText('name', text)} or ${dialect.hasText('id', text)})`)
    return query
  })

/** The person behind a principal, if that person is disabled: for an agent or a service, its owner. */
export function* disabledPersonOf(id: string): Tx<PrincipalRow | undefined> {
  const row = yield* findPrincipal.first({ id })
  const person = row && row.person_id !== null && row.person_id !== row.id ? yield* findPrincipal.first({ id: row.person_id }) : row
  return person && person.disabled_at !== null ? person : undefined
}

/** Returns a principal that another row refers to. */
export function* principalById(id: string): Tx<Principal> {
  const row = yield* findPrincipal.first({ id })
  assert(row, `principal ${id} is in the table that refers to it`)
  return readPrincipal(row)
}
