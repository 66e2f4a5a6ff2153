import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kysely, RawBuilder } from 'kysely'
import { ask } from '../query.ts'
import type { Schema } from '../schema.ts'
import { openSqlite } from '../sqlite.ts'
import type { Outbox, Store } from '../store.ts'

/** A store on a folder of its own, with what its commits asked for. */
export interface TempStore extends AsyncDisposable {
  store: Store
  dataDir: string
  committed: Outbox[]
}

/** @param dataDir A folder that stays; default: a new one that goes with the store. */
export async function openTempStore(dataDir?: string): Promise<TempStore> {
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), 'countersign-store-')))
  const committed: Outbox[] = []
  const store = openSqlite({ dataDir: folder, onCommitted: (outbox) => committed.push(outbox) })
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

/** Plain SQL on the store's own connection. */
export const raw = <R>(query: RawBuilder<R>) => ask<R>((db: Kysely<Schema>) => ({ compile: () => query.compile(db) }))
