import { openPostgres } from './postgres/index.ts'
import type { Tx } from './query.ts'
import { openSqliteBeside } from './sqlite/sqlite.ts'
import type { Database, Outbox, Store } from './store.ts'
import { tellToLookAgain } from './tables/notices.ts'

/**
 * Opens a database for a command that may run beside its servers. It writes only data that servers read afresh each time: keys.
 * @throws Error when it cannot be opened, or a server of another version is running on it.
 */
export const openBeside = async (database: Database): Promise<Store> =>
  database.kind === 'sqlite'
    ? openSqliteBeside(database.dataDir)
    : openPostgres({ ...database, onCommitted: () => undefined, enqueue: tellOfAccess })

/** Servers on SQLite detect such writes by themselves: see `writesOfOthers`. */
function* tellOfAccess({ access }: Outbox): Tx<void> {
  if (access) yield* tellToLookAgain()
}
