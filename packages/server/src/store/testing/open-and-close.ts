// A process that opens the data folder of its first argument as a server does, and closes it again.

import { openSqlite } from '../sqlite/sqlite.ts'

await openSqlite({ dataDir: process.argv[2] ?? '', onCommitted: () => undefined }).close()
