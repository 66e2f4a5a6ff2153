import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, startPostgres } from '../../verification/testing/postgres.ts'
import type { Place } from './adapter.ts'
import type { SystemKey } from './systems.ts'

/** Folders and databases for the systems: one Postgres server for all of them, with a database for each place. */
export interface Places extends AsyncDisposable {
  make(system: SystemKey): Promise<Omit<Place, 'effect'>>
  /** Ends every process of the Postgres server with SIGKILL, and starts it again. Nobody else may need it meanwhile. */
  crashPostgres(): Promise<void>
}

export async function openPlaces(): Promise<Places> {
  const root = mkdtempSync(join(tmpdir(), 'countersign-peers-'))
  // Default settings: fsync and synchronous_commit are on.
  const postgres = await startPostgres()
  const serverUrl = postgres.url('postgres')
  return {
    async make({ key, database }) {
      const folder = mkdtempSync(join(root, `${key}-`))
      const url = database === 'postgres' ? await createDatabase(serverUrl) : ''
      return { database, folder, url }
    },
    async crashPostgres() {
      await postgres.stop('kill')
      await postgres.start()
    },
    async [Symbol.asyncDispose]() {
      await postgres[Symbol.asyncDispose]()
      rmSync(root, { recursive: true, force: true })
    },
  }
}
