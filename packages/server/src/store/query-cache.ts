import type { BoundQuery, CountUpTo, Row } from './query.ts'

/** Most answers kept per query; beyond that the query's cache starts empty again. */
const MOST = 1_000

/** Runs queries and answers some of them from memory. */
export interface QueryCache {
  /** Runs a query. A write that selects from an empty table is left out. */
  run(query: BoundQuery): Row[]
  /**
   * Drops the answers read from `table`; without one, all answers. Call it without one after a rollback or a write by another process.
   * @param rows How many rows are written, where that is known: then counts up to a limit are kept, and the rows are added to them.
   */
  forget(table?: string, rows?: number): void
}

/** A count, and how many rows had been written to its table by then. */
interface Counted {
  count: number
  written: number
}

/**
 * Caches the answers of queries that are marked `remembered` (a principal, the policy in force) until their table is written to: seven
 * statements of a hundred in a gated cycle. The connection must be told of every write.
 * @param isEmpty Says whether a table has no rows.
 */
export function cacheQueries(runQuery: (query: BoundQuery) => Row[], isEmpty: (table: string) => boolean): QueryCache {
  const kept = new Map<BoundQuery['definition'], Map<string, Row[]>>()
  const emptiness = new Map<string, boolean>()
  const counts = new Map<BoundQuery['definition'], Map<string, Counted>>()
  const written = new Map<string, number>()
  function isKnownEmpty(table: string): boolean {
    const known = emptiness.get(table) ?? isEmpty(table)
    emptiness.set(table, known)
    return known
  }
  function count(query: BoundQuery, { table, column, limit }: CountUpTo): Row[] {
    const { definition } = query
    const key = keyOf(query)
    const now = written.get(table) ?? 0
    const known = counts.get(definition)?.get(key)
    const atMost = known ? known.count + now - known.written : limit
    if (atMost < limit) return [{ [column]: atMost }]
    const rows = runQuery(query)
    const before = counts.get(definition)
    const answers = before && before.size < MOST ? before : new Map<string, Counted>()
    counts.set(definition, answers.set(key, { count: Number(rows[0]?.[column]), written: now }))
    return rows
  }
  return {
    run(query) {
      const { definition, want } = query
      if (definition.countUpTo) return count(query, definition.countUpTo)
      if (definition.from !== undefined && isKnownEmpty(definition.from)) return want === 'nothing' ? [] : [{ changes: 0 }]
      if (definition.remembered === undefined) return runQuery(query)
      const known = kept.get(definition)
      const answers = known && known.size < MOST ? known : new Map<string, Row[]>()
      kept.set(definition, answers)
      const key = keyOf(query)
      let rows = answers.get(key)
      if (!rows) {
        rows = runQuery(query)
        // All callers share one answer, so none of them may change it.
        for (const row of rows) Object.freeze(row)
        answers.set(key, rows)
      }
      return rows
    },
    forget(table, rows) {
      if (table === undefined) {
        emptiness.clear()
        counts.clear()
        return kept.clear()
      }
      emptiness.delete(table)
      for (const definition of kept.keys()) if (definition.remembered === table) kept.delete(definition)
      if (rows !== undefined) written.set(table, (written.get(table) ?? 0) + rows)
      else for (const definition of counts.keys()) if (definition.countUpTo?.table === table) counts.delete(definition)
    },
  }
}

/** A text for the values of one query and what is wanted of it, without making JSON. */
export function keyOf({ want, values }: Pick<BoundQuery, 'want' | 'values'>): string {
  let key: string = want
  for (const name in values) {
    const text = String(values[name])
    key += ` ${typeof values[name]} ${text.length} ${text}`
  }
  return key
}
