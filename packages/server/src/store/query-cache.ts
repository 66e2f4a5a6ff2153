import type { BoundQuery, Row } from './query.ts'

/** Answers kept of one question; when there are more they are all forgotten. */
const MOST = 1_000

/** Runs queries, and answers some of them from memory. */
export interface QueryCache {
  run(query: BoundQuery): Row[]
  /** To be called when a table is written to, or with none when what was written may have been undone or others may have written. */
  forget(table?: string): void
}

/**
 * Keeps the answers of questions that are marked `remembered` (who somebody is, which policy is in force) until their table is written to:
 * seven statements of a hundred in a gated cycle. Only for a connection that hears of every write.
 */
export function cacheQueries(runQuery: (query: BoundQuery) => Row[]): QueryCache {
  const kept = new Map<BoundQuery['definition'], Map<string, Row[]>>()
  return {
    run(query) {
      const { definition, values, want } = query
      if (definition.remembered === undefined) return runQuery(query)
      const known = kept.get(definition)
      const answers = known && known.size < MOST ? known : new Map<string, Row[]>()
      kept.set(definition, answers)
      const key = want + JSON.stringify(values)
      let rows = answers.get(key)
      if (!rows) {
        rows = runQuery(query)
        // One answer for all who ask: whoever changed it would change it for everybody.
        for (const row of rows) Object.freeze(row)
        answers.set(key, rows)
      }
      return rows
    },
    forget(table) {
      if (table === undefined) return kept.clear()
      for (const definition of kept.keys()) if (definition.remembered === table) kept.delete(definition)
    },
  }
}
