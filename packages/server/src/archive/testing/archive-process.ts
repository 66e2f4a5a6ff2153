// Archives, in its own process, everything settled in the database of its first argument (JSON) into the folder of its second.
import { openForArchive } from '../../store/index.ts'
import { runArchive } from '../run-archive.ts'

const [, , database = '', folder = ''] = process.argv
const store = await openForArchive(JSON.parse(database))
await runArchive({ store, folder, before: Date.now(), nowMs: Date.now, onFile: () => undefined })
await store.close()
