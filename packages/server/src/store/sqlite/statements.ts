import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type Dialect, SQLITE } from '../dialect.ts'
import {
  type Bindable,
  type BoundQuery,
  type Definition,
  type PreparedQuery,
  prepareForSqlite,
  type Request,
  type Row,
  type Tx,
} from '../query.ts'
import type { SessionMemory } from '../session-memory.ts'
import { ANY_TABLE, tableWrittenBy } from '../written-table.ts'

interface Prepared extends PreparedQuery {
  statement: StatementSync
  columns: readonly string[]
  /** The table that it writes to; `?` when that is unknown, undefined for a statement that only reads. */
  writes: string | undefined
}

const NO_ROWS: Row[] = []

/** Statements belong to their connection and are prepared once for it. */
const ofConnection = new WeakMap<DatabaseSync, WeakMap<object, Prepared>>()

/**
 * Returns a function that runs one query of a transaction on a connection, always in the same dialect.
 * @param onWrite Called with each table before it is written to, without a table when that is unknown; and by which statement.
 */
export function queryRunner(
  db: DatabaseSync,
  dialect: Dialect = SQLITE,
  onWrite: (table: string | undefined, by: Definition) => void = () => undefined,
): (query: BoundQuery) => Row[] {
  const prepared = ofConnection.get(db) ?? new WeakMap<object, Prepared>()
  ofConnection.set(db, prepared)

  return (query) => {
    let use = prepared.get(query.definition)
    if (!use) {
      const compiled = prepareForSqlite(query, dialect)
      const statement = db.prepare(compiled.sql)
      // Rows are read as arrays and made into objects here: node:sqlite's own row objects are dictionaries, slow to create and slower to
      // read.
      statement.setReturnArrays(true)
      use = { ...compiled, statement, columns: statement.columns().map((column) => column.name), writes: tableWrittenBy(compiled.sql) }
      prepared.set(query.definition, use)
    }
    const values: Bindable[] = use.bind(query.values)
    if (use.writes !== undefined) onWrite(use.writes === ANY_TABLE ? undefined : use.writes, query.definition)
    if (query.want === 'change' || query.want === 'expected change') return [{ changes: Number(use.statement.run(...values).changes) }]
    if (query.want === 'nothing') {
      use.statement.run(...values)
      return NO_ROWS
    }
    const { columns } = use
    if (query.want === 'rows') return use.statement.all(...values).map((list) => toRow(columns, list))
    const list = use.statement.get(...values)
    return list === undefined ? NO_ROWS : [toRow(columns, list)]
  }
}

/**
 * Runs a transaction's queries one after another, without a pause.
 * @param takePlaces Reserves the next places in the log and returns the last of them.
 * @param memory What the process remembers of sessions. Default: nothing.
 */
export function drive<T>(
  tx: Tx<T>,
  runQuery: (query: BoundQuery) => Row[],
  takePlaces: (count: number) => number,
  memory?: SessionMemory,
): T {
  let next = tx.next([])
  while (!next.done) next = tx.next(answer(next.value, runQuery, takePlaces, memory))
  return next.value
}

function answer(
  request: Request,
  runQuery: (query: BoundQuery) => Row[],
  takePlaces: (count: number) => number,
  memory: SessionMemory | undefined,
): Row[] {
  if ('definition' in request) return runQuery(request)
  if ('recall' in request) return memory ? [{ value: request.recall(memory) }] : NO_ROWS
  if ('places' in request) return [{ last: takePlaces(request.places) }]
  if ('together' in request) return [{ answers: request.together.map(runQuery) }]
  // Nothing waits for an answer here, and no other transaction is open.
  return NO_ROWS
}

function toRow(columns: readonly string[], list: unknown): Row {
  const values = list as unknown[]
  const row: Row = {}
  for (const [i, column] of columns.entries()) row[column] = values[i]
  return row
}
