import type { OnMigrate } from './migrate.ts'
import { openPostgres } from './postgres/index.ts'
import type { Tx } from './query.ts'
import { openSqliteBeside } from './sqlite/sqlite.ts'
import type { Database, Outbox, Store } from './store.ts'
import { tellToLookAgain } from './tables/notices.ts'

/**
 * Opens (and migrates) a database for a command that may run beside its servers. It writes only data that servers read afresh each time: keys.
 * @param onMigrate Is told before each migration of a database that has data. Default: none.
 * @throws Error when it cannot be opened, or a server of another version is running on it.
 */
export const openBeside = async (database: Database, onMigrate?: OnMigrate): Promise<Store> =>
  database.kind === 'sqlite'
    ? openSqliteBeside(database.dataDir, onMigrate)
    : openPostgres({ ...database, onCommitted: () => undefined, enqueue: tellOfAccess, onMigrate })

/** Servers on SQLite detect such writes by themselves: see `writesOfOthers`. */
function* tellOfAccess({ access }: Outbox): Tx<void> {
  if (access) yield* tellToLookAgain()
}
