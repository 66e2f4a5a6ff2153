import { sql } from 'kysely'
import { ask, type Tx } from '../query.ts'
import type { Outbox } from '../store.ts'

/** Says in a transaction that a principal may do less than before, or something else: whatever they have open is judged again. */
export function tellAccess(outbox: Outbox, principalId: string): void {
  outbox.access ??= new Set()
  outbox.access.add(principalId)
}

/** On SQLite, a number that is another once somebody else than this connection has written. */
export function* writesOfOthers(): Tx<number> {
  const [row] = yield* ask((db) => ({ compile: () => sql<{ data_version: number }>`pragma data_version`.compile(db) }))
  return row?.data_version ?? 0
}
