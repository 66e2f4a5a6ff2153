import { ask, question, type Tx } from '../query.ts'
import type { RegisteredToolRow, Schema } from './schema.ts'

/** The most tools of one owner, removed ones included: they keep their names. */
export const MOST_OF_ONE = 200
/** The most tools of all owners. */
export const MOST_OF_ALL = 5_000

export type OwnedTool = RegisteredToolRow & { owner_name: string }

export const findTool = question<{ name: string }, RegisteredToolRow>((db, p) =>
  db.selectFrom('registered_tool').selectAll().where('name', '=', p.name),
)

/** The tools that can be used: not removed, and neither their owner nor the person behind it is disabled. */
export const usableTools = (name?: string): Tx<OwnedTool[]> =>
  ask((db) => {
    const usable = db
      .selectFrom('registered_tool')
      .innerJoin('principal', 'principal.id', 'registered_tool.owner_id')
      .leftJoin('principal as person', 'person.id', 'principal.person_id')
      .selectAll('registered_tool')
      .select('principal.name as owner_name')
      .where('registered_tool.removed_at', 'is', null)
      .where('principal.disabled_at', 'is', null)
      .where('person.disabled_at', 'is', null)
      .orderBy('registered_tool.name')
      .limit(MOST_OF_ALL)
    return name === undefined ? usable : usable.where('registered_tool.name', '=', name)
  })

/** All names that were ever registered: a removed tool keeps its own. */
export const allNames = question<Record<never, never>, { name: string }>((db) =>
  db.selectFrom('registered_tool').select('name').limit(MOST_OF_ALL),
)

export const countAll = question<Record<never, never>, { count: number }>((db) =>
  db.selectFrom('registered_tool').select((eb) => eb.fn.countAll<number>().as('count')),
)

export const countOf = question<{ owner_id: string }, { count: number }>((db, p) =>
  db
    .selectFrom('registered_tool')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('owner_id', '=', p.owner_id),
)

/** Keeps an existing tool of the name. */
export const insertTool = question<Pick<RegisteredToolRow, 'name' | 'owner_id' | 'definition' | 'hash'> & { now: number }>((db, p) =>
  db
    .insertInto('registered_tool')
    .values({
      name: p.name,
      owner_id: p.owner_id,
      definition: p.definition,
      hash: p.hash,
      accepted: p.definition,
      accepted_hash: p.hash,
      removed_at: null,
      created_at: p.now,
      updated_at: p.now,
    } satisfies Schema['registered_tool'])
    .onConflict((conflict) => conflict.doNothing()),
)

/** Replaces the definition of a tool, which keeps the one that people accepted. */
export const changeTool = question<{ name: string; definition: string; hash: string; now: number }>((db, p) =>
  db
    .updateTable('registered_tool')
    .set({ definition: p.definition, hash: p.hash, removed_at: null, updated_at: p.now })
    .where('name', '=', p.name),
)

export const removeTool = question<{ name: string; now: number }>((db, p) =>
  db.updateTable('registered_tool').set({ removed_at: p.now, updated_at: p.now }).where('name', '=', p.name),
)

/** Accepts the definition of this hash, if the tool still has it. */
export const acceptDefinition = question<{ name: string; hash: string }>((db, p) =>
  db
    .updateTable('registered_tool')
    .set((eb) => ({ accepted: eb.ref('definition'), accepted_hash: eb.ref('hash') }))
    .where('name', '=', p.name)
    .where('hash', '=', p.hash),
)
