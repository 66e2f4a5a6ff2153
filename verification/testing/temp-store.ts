import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kysely, RawBuilder } from 'kysely'
import { openPostgres } from '../../packages/server/src/store/postgres/postgres.ts'
import { ask } from '../../packages/server/src/store/query.ts'
import { openSqlite, type SqliteOptions } from '../../packages/server/src/store/sqlite/sqlite.ts'
import type { Outbox, Store } from '../../packages/server/src/store/store.ts'
import type { Schema } from '../../packages/server/src/store/tables/schema.ts'
import { copyNewSqlite } from './new-sqlite.ts'
import { openTestDatabase } from './test-database.ts'

/** A store with data of its own, and what its commits asked for. */
export interface TempStore extends AsyncDisposable {
  store: Store
  committed: Outbox[]
}

/** @param dataDir A folder that stays; default: a new one that goes with the store. */
export async function openTempSqlite(
  dataDir?: string,
  options: Partial<Pick<SqliteOptions, 'acceptLoss' | 'onDamage'>> = {},
): Promise<TempStore & { dataDir: string }> {
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'countersign-store-')))
  if (dataDir === undefined) await copyNewSqlite(folder)
  const committed: Outbox[] = []
  const store = openSqlite({ dataDir: folder, onCommitted: (outbox) => committed.push(outbox), ...options })
  return {
    store,
    dataDir: folder,
    committed,
    async [Symbol.asyncDispose]() {
      await store.close()
      if (dataDir === undefined) await rm(folder, { recursive: true })
    },
  }
}

/** @param databaseUrl A database that stays; default: a new one that goes with the store. */
export async function openTempPostgres(databaseUrl?: string): Promise<TempStore & { url: string }> {
  const database = databaseUrl === undefined ? await openTestDatabase() : undefined
  const url = databaseUrl ?? database?.url ?? ''
  const committed: Outbox[] = []
  const store = await openPostgres({ url, onCommitted: (outbox) => committed.push(outbox) })
  return {
    store,
    url,
    committed,
    async [Symbol.asyncDispose]() {
      await store.close()
      await database?.[Symbol.asyncDispose]()
    },
  }
}

/** The stores against which every promise of the store is tested. */
export const STORES: readonly { database: string; open(): Promise<TempStore> }[] = [
  { database: 'sqlite', open: () => openTempSqlite() },
  { database: 'postgres', open: () => openTempPostgres() },
]

/** Plain SQL on the store's own connection. */
export const raw = <R>(query: RawBuilder<R>) => ask<R>((db: Kysely<Schema>) => ({ compile: () => query.compile(db) }))
