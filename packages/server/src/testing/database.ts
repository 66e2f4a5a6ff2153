import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Every row of every table of a server's database, for comparing before with after. Reads beside the running server. */
export function dumpDatabase(dataDir: string): Record<string, unknown[]> {
  const db = new DatabaseSync(join(dataDir, 'countersign.db'), { readOnly: true })
  try {
    const tables = db.prepare("select name from sqlite_schema where type = 'table' order by name").all()
    return Object.fromEntries(tables.map(({ name }) => [String(name), db.prepare(`select * from "${name}"`).all()]))
  } finally {
    db.close()
  }
}
