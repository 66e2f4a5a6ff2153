// A process that owns the data folder of its first argument, writes one setting and then does nothing until it is killed.

import { openSqlite } from '../sqlite/sqlite.ts'
import { insertSetting } from '../tables/settings.ts'

const store = openSqlite({ dataDir: process.argv[2] ?? '', onCommitted: () => undefined })
await store.transact(() => insertSetting.run({ name: 'written-by', value: 'the first process' }))
process.stdout.write('ready\n')
setInterval(() => undefined, 60_000)
