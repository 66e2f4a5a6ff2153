import { pg } from './postgres/driver.ts'
import { openPostgres } from './postgres/index.ts'
import { ArchiveInProgress, openSqliteForArchive } from './sqlite/sqlite.ts'
import type { Database, Store } from './store.ts'

/** Any number that nothing else uses in the database. */
const ARCHIVE_LOCK = 4_319_002

/** The lock of a run that was killed stays until the database notices that its connection is closed. */
const RELEASED_WITHIN_MS = 5_000
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Opens a database for the archive, which works beside its servers. One run at a time.
 * @throws ArchiveInProgress; Error when it cannot be opened.
 */
export async function openForArchive(database: Database): Promise<Store> {
  if (database.kind === 'sqlite') return openSqliteForArchive(database.dataDir)
  const { url, directUrl } = database
  // A connection of its own holds the lock: the database releases it when this process ends, for any reason.
  const holder = new (pg().Client)({
    connectionString: directUrl ?? url,
    application_name: 'countersign archive',
    connectionTimeoutMillis: 5_000,
  })
  holder.on('error', () => undefined)
  await holder.connect()
  try {
    await holder.query(`set lock_timeout = ${RELEASED_WITHIN_MS}`)
    await holder.query('select pg_advisory_lock($1)', [ARCHIVE_LOCK]).catch((error: { code?: string }) => {
      if (error.code !== LOCK_NOT_AVAILABLE) throw error
      throw new ArchiveInProgress('this database')
    })
    const store = await openPostgres({ url, directUrl, onCommitted: () => undefined })
    return {
      ...store,
      close: async () => {
        await store.close()
        await holder.end()
      },
    }
  } catch (error) {
    await holder.end()
    throw error
  }
}
