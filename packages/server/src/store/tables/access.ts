import { sql } from 'kysely'
import { ask, type Tx } from '../query.ts'
import type { Outbox } from '../store.ts'

/** Announces in a transaction that a principal has fewer or other rights: their open connections are checked again. */
export function tellAccess(outbox: Outbox, principalId: string): void {
  outbox.access ??= new Set()
  outbox.access.add(principalId)
}

/** On SQLite, a number that changes once another connection has written. */
export function* writesOfOthers(): Tx<number> {
  const [row] = yield* ask((db) => ({ compile: () => sql<{ data_version: number }>`pragma data_version`.compile(db) }))
  return row?.data_version ?? 0
}
