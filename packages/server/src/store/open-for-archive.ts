import { pg } from './postgres/driver.ts'
import { openPostgres } from './postgres/index.ts'
import { openSqliteForArchive } from './sqlite/sqlite.ts'
import type { Database, Store } from './store.ts'

/** Any number that nothing else uses in the database. */
const ARCHIVE_LOCK = 4_319_002

/**
 * Opens a database for the archive, which works beside its servers. One run at a time.
 * @throws Error when it cannot be opened or another run is in progress.
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
    const { rows } = await holder.query('select pg_try_advisory_lock($1) as held', [ARCHIVE_LOCK])
    if (!rows[0]?.held) throw new Error('this database is being archived already; wait for that to end')
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
