import type { InsertObject } from 'kysely'
import { type Bindable, question } from '../query.ts'
import type { Schema } from './schema.ts'

type RowOf<T extends keyof Schema> = { [K in keyof Schema[T]]: Extract<Schema[T][K], Bindable> }

/**
 * Creates an insert of whole rows. A list that forgets a column of the table does not compile: otherwise the database would store NULL
 * there.
 * @param columns Every column of the table, in the order in which the statement names them.
 * @param options As for `question`.
 * @example
 * const insertSetting = insertInto('setting', { name: true, value: true })
 * yield* insertSetting.run({ name: 'colour', value: 'red' })
 */
export function insertInto<T extends keyof Schema>(
  table: T,
  columns: { readonly [K in keyof Schema[T]]: true },
  options: Parameters<typeof question>[1] = {},
) {
  const names = Object.keys(columns)
  return question<RowOf<T>>((db, p) => {
    const values: Record<string, Bindable> = p
    return db.insertInto(table).values(Object.fromEntries(names.map((name) => [name, values[name]])) as InsertObject<Schema, T>)
  }, options)
}

/** The same for rows that the writer of their session is told of. */
export const insertNoted: typeof insertInto = (table, columns) => insertInto(table, columns, { isNoted: true })
