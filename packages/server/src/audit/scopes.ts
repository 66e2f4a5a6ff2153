import type { ExportedRow } from './line.ts'

type Link = Pick<ExportedRow, 'id' | 'seq' | 'prev' | 'hash' | 'follows'>

interface Chain {
  first: Link
  last: Link
  /** Rows that arrived before their predecessors: transactions may commit in another order than they are numbered in. */
  early: Map<number, Link>
}

/** Follows the chains of all scopes at once, as their rows arrive. */
export interface Scopes {
  readonly count: number
  /** Returns why a row does not fit in its chain; undefined when it does. */
  take(row: ExportedRow): string | undefined
  /** Returns what a chain lacks at the end of the input. @param isWhole True for a record that has every chain from its first row on. */
  missing(isWhole: boolean): string | undefined
}

export function createScopes(): Scopes {
  const chains = new Map<string, Chain>()

  function extend(chain: Chain, row: Link): string | undefined {
    if (row.prev !== chain.last.hash) return 'does not follow the row before it'
    if (row.follows !== undefined && row.follows !== chain.last.id) return 'names another row as the one before it'
    chain.last = row
    const next = chain.early.get(row.seq + 1)
    if (!next) return undefined
    chain.early.delete(next.seq)
    return extend(chain, next)
  }

  return {
    get count() {
      return chains.size
    },
    take({ scope, id, seq, prev, hash, follows }) {
      const row = { id, seq, prev, hash, follows }
      if (follows !== undefined && (follows === null) !== (seq === 1)) return 'names another row as the one before it'
      const chain = chains.get(scope)
      if (!chain) {
        chains.set(scope, { first: row, last: row, early: new Map() })
        return undefined
      }
      const { first, last, early } = chain
      if (seq === last.seq + 1) return extend(chain, row)
      if (seq > last.seq && !early.has(seq)) {
        early.set(seq, row)
        return undefined
      }
      if (seq !== first.seq - 1) return 'is duplicated'
      if (hash !== first.prev) return 'is not the one that the row behind it follows'
      if (first.follows !== undefined && first.follows !== id) return 'is not the one that the row behind it names'
      chain.first = row
      return undefined
    },
    missing(isWhole) {
      for (const [scope, { first, last, early }] of chains) {
        if (early.size > 0) return `row ${last.seq + 1} of ${scope} is missing`
        if (first.seq === 1 ? first.prev !== '' : isWhole) return `row ${first.seq === 1 ? 0 : first.seq - 1} of ${scope} is missing`
      }
      return undefined
    },
  }
}
