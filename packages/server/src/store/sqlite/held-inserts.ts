import { type BoundQuery, type Definition, type Params, prepareForSqlite, type Row } from '../query.ts'

/** A statement of so many rows has far fewer values than SQLite takes. */
const MOST_ROWS = 100
const NO_ROWS: Row[] = []

/** The tables that were looked for in the text of a query, and whether each is there. */
const mentions = new WeakMap<Definition, Map<string, boolean>>()

/**
 * Keeps the rows of a transaction that are inserted into tables marked `joins`, and writes those of a table in one statement: before the
 * next statement that names the table, or at the end.
 */
export function holdInserts(runQuery: (query: BoundQuery) => Row[]) {
  const held = new Map<Definition, Params[]>()

  function write(insert: Definition): void {
    const rows = held.get(insert) ?? []
    held.delete(insert)
    for (let at = 0; at < rows.length; at += MOST_ROWS) {
      const some = rows.slice(at, at + MOST_ROWS)
      const query = insert.joins?.query(some)
      if (query) runQuery(query)
    }
  }

  return {
    run(query: BoundQuery): Row[] {
      const { definition, values, want } = query
      if (definition.joins && want === 'nothing') {
        const rows = held.get(definition)
        if (rows) rows.push(values)
        else held.set(definition, [values])
        return NO_ROWS
      }
      for (const insert of held.keys()) if (insert.joins && isNamed(insert.joins.table, query)) write(insert)
      return runQuery(query)
    },
    /** Writes what is held: to be called when the transaction has said everything. */
    writeAll(): void {
      for (const insert of held.keys()) write(insert)
    },
    /** Forgets what is held: to be called when the transaction failed. */
    drop(): void {
      held.clear()
    },
  }
}

/** True for a query whose text names the table, as one to read or to write, and for every query whose text varies. */
function isNamed(table: string, query: BoundQuery): boolean {
  if (!query.definition.isFixed) return true
  const known = mentions.get(query.definition) ?? new Map<string, boolean>()
  mentions.set(query.definition, known)
  let answer = known.get(table)
  if (answer === undefined) {
    answer = new RegExp(`\\b${table}\\b`).test(prepareForSqlite(query).sql)
    known.set(table, answer)
  }
  return answer
}
