import type { PoolClient, QueryConfig, QueryResult } from 'pg'
import type { Fetches } from './fetches.ts'

/**
 * How graphile-worker names the statement that locks and returns jobs; the number is how many jobs it asks for, and its absence means one.
 */
const FETCH = /^get_job(\d*)F?N?\//

type Query = (query: unknown, ...rest: unknown[]) => unknown

/** Reports each job fetch that graphile-worker sends over this connection, and its answer, to `fetches`. */
export function watchFetches(client: PoolClient, fetches: Fetches): void {
  const query = client.query.bind(client) as Query
  const watched: Query = (text, ...rest) => {
    const fetch = readFetch(text)
    if (!fetch) return query(text, ...rest)
    const end = fetches.begin(fetch.pool, fetch.size)
    const answer = query(text, ...rest) as Promise<QueryResult<{ id: string; locked_at: Date }>>
    answer.then(
      ({ rows }) => end(rows.map(({ id, locked_at }) => ({ id, lockedAtMs: locked_at.getTime() }))),
      () => end(undefined),
    )
    return answer
  }
  client.query = watched as typeof client.query
}

/** Returns the pool that fetches and its maximum number of jobs; undefined for any other statement. */
function readFetch(query: unknown): { pool: string; size: number } | undefined {
  const { name, values } = (typeof query === 'object' && query !== null ? query : {}) as Partial<QueryConfig>
  const size = FETCH.exec(name ?? '')?.[1]
  return size === undefined ? undefined : { pool: String(values?.[0]), size: Number(size || 1) }
}
