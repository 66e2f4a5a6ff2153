import type { InsertObject } from 'kysely'
import { type Bindable, type Definition, type Joined, type Params, question } from '../query.ts'
import type { Schema } from './schema.ts'

type RowOf<T extends keyof Schema> = { [K in keyof Schema[T]]: Extract<Schema[T][K], Bindable> }

type Options = NonNullable<Parameters<typeof question>[1]>

/**
 * Creates an insert of whole rows. A list that forgets a column of the table does not compile: otherwise the database would store NULL
 * there.
 * @param columns Every column of the table, in the order in which the statement names them.
 * @param options As for `question`.
 * @example
 * const insertSetting = insertInto('setting', { name: true, value: true })
 * yield* insertSetting.run({ name: 'colour', value: 'red' })
 */
export function insertInto<T extends keyof Schema>(table: T, columns: { readonly [K in keyof Schema[T]]: true }, options: Options = {}) {
  return question<RowOf<T>>((db, p) => db.insertInto(table).values(rowOf<T>(columns, p)), options)
}

const rowOf = <T extends keyof Schema>(columns: object, values: Params, nameOf = (name: string) => name): InsertObject<Schema, T> =>
  Object.fromEntries(Object.keys(columns).map((name) => [name, values[nameOf(name)]])) as InsertObject<Schema, T>

/** The same for rows that the writer of their session is told of. */
export const insertNoted: typeof insertInto = (table, columns, options) => insertInto(table, columns, { ...options, isNoted: true })

/** The same for rows that no foreign key refers to: those of one transaction may be written together. */
export const insertJoined: typeof insertInto = (table, columns, options) =>
  insertInto(table, columns, { ...options, joins: joinsOf(table, columns, options) })

function joinsOf<T extends keyof Schema>(table: T, columns: object, options: Options = {}): Joined {
  const names = Object.keys(columns)
  const made = new Map<number, Definition>()
  function insertOf(count: number): Definition {
    const known = made.get(count)
    if (known) return known
    const places = Array.from({ length: count }, (_, at) => at * names.length)
    const build: Definition['build'] = (db, p) =>
      db.insertInto(table).values(places.map((first) => rowOf<T>(columns, p, (name) => String(first + names.indexOf(name)))))
    const definition = { ...options, build, isFixed: true, rows: count }
    made.set(count, definition)
    return definition
  }
  return {
    table,
    query: (rows) => ({ definition: insertOf(rows.length), values: inOrder(names, rows), want: 'nothing' }),
  }
}

/**
 * Returns the values of the rows in the order of the statement's parameters, which are named 0, 1, 2 …: a list is read by such names as an
 * object is, and an object with a name for each value took 4 % of a gated cycle.
 */
function inOrder(names: readonly string[], rows: readonly Params[]): Params {
  const values: (Bindable | undefined)[] = []
  for (const row of rows) for (const name of names) values.push(row[name])
  return values as unknown as Params
}
