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
  /** Returns why a row, or one behind it that arrived earlier, does not fit in its chain; empty when they do. */
  take(row: ExportedRow): string[]
  /** Yields what the chains lack at the end of the input. @param isWhole True for a record that has every chain from its first row on. */
  missing(isWhole: boolean): Iterable<string>
}

export function createScopes(): Scopes {
  const chains = new Map<string, Chain>()

  const whyNotBehind = ({ last }: Chain, row: Link): string[] => {
    if (row.prev !== last.hash) return ['does not follow the row before it']
    return row.follows !== undefined && row.follows !== last.id ? ['names another row as the one before it'] : []
  }

  /** The chain goes on with a row that does not fit, so that each difference is found once. */
  function extend(chain: Chain, row: Link): string[] {
    const problems: string[] = []
    for (let next: Link | undefined = row; next; next = chain.early.get(next.seq + 1)) {
      chain.early.delete(next.seq)
      problems.push(...whyNotBehind(chain, next))
      chain.last = next
    }
    return problems
  }

  return {
    get count() {
      return chains.size
    },
    take({ scope, id, seq, prev, hash, follows }) {
      const row = { id, seq, prev, hash, follows }
      const problems = follows !== undefined && (follows === null) !== (seq === 1) ? ['names another row as the one before it'] : []
      const chain = chains.get(scope)
      if (!chain) {
        chains.set(scope, { first: row, last: row, early: new Map() })
        return problems
      }
      const { first, last, early } = chain
      if (seq === last.seq + 1) return [...new Set([...problems, ...extend(chain, row)])]
      if (seq > last.seq && !early.has(seq)) {
        early.set(seq, row)
        return problems
      }
      if (seq !== first.seq - 1) return [...problems, 'is duplicated']
      if (hash !== first.prev) problems.push('is not the one that the row behind it follows')
      else if (first.follows !== undefined && first.follows !== id) problems.push('is not the one that the row behind it names')
      chain.first = row
      return problems
    },
    *missing(isWhole) {
      for (const [scope, chain] of chains) {
        const { first, early } = chain
        if (first.seq === 1 ? first.prev !== '' : isWhole) yield `row ${first.seq === 1 ? 0 : first.seq - 1} of ${scope} is missing`
        for (const row of [...early.values()].sort((a, b) => a.seq - b.seq)) {
          const next = chain.last.seq + 1
          if (row.seq > next) yield `row ${next} of ${scope} is missing`
          else for (const problem of whyNotBehind(chain, row)) yield `row ${row.seq} of ${scope} ${problem}`
          chain.last = row
        }
      }
    },
  }
}
