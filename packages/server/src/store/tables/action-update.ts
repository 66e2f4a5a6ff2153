import type { Kysely, UpdateQueryBuilder, UpdateResult } from 'kysely'
import type { Dialect } from '../dialect.ts'
import { type Bindable, question, type Tx } from '../query.ts'
import type { ActionRow } from './action-rows.ts'
import type { Schema } from './schema.ts'

export type ActionUpdate = UpdateQueryBuilder<Schema, 'action', 'action', UpdateResult>

/** The values that a guard compares with, by name. */
type Given = Record<string, Bindable>

/** Only a transition writes a state: `action-moves.ts`. */
type Writable = Exclude<keyof ActionRow, 'state'>

/**
 * Creates an update of one action. The same patch makes the SQL and the returned row, so that the two cannot differ.
 * @param columns The columns that the patch writes.
 * @param guard Adds the conditions of the update, and columns that the database computes.
 * @param options `isNoted` when the writer of the session is told of the new row.
 * @returns A function that returns the updated action, or undefined when the guard did not hold and nothing changed.
 */
export function actionUpdate<C extends Writable, G extends Given = Record<never, never>>(
  columns: readonly C[],
  guard: (update: ActionUpdate, given: G, dialect: Dialect) => ActionUpdate,
  { isNoted = false } = {},
) {
  const update = question<Given>(
    (db: Kysely<Schema>, p, dialect) => {
      const set = Object.fromEntries(columns.map((column) => [column, p[`new_${column}`]]))
      return guard(
        db
          .updateTable('action')
          .set(set)
          .where('id', '=', p.id as string) as ActionUpdate,
        p as G,
        dialect,
      )
    },
    { isNoted },
  )
  return function* (row: ActionRow, patch: Pick<ActionRow, C>, given: G): Tx<ActionRow | undefined> {
    const values: Given = { ...given, id: row.id }
    const changed = { ...row }
    for (const column of columns) {
      values[`new_${column}`] = patch[column]
      changed[column] = patch[column]
    }
    return (yield* update.expectChange(values)) ? changed : undefined
  }
}

/** The same where the writer of the action's session is told of the new row. */
export const notedUpdate: typeof actionUpdate = (columns, guard) => actionUpdate(columns, guard, { isNoted: true })
