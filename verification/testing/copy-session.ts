import { DatabaseSync } from 'node:sqlite'

/** The columns that have to differ in a copy, by table. Each copy ends with its number. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  session: ['id'],
  run: ['session_id'],
  message: ['session_id'],
  action: ['id', 'session_id', 'idempotency_key'],
}

/** Copies a session with its runs, messages and actions in the database of a stopped server. Its record is not copied. */
export function copySession(file: string, sessionId: string, times: number): void {
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: false })
  try {
    db.exec('begin')
    for (const [table, keys] of Object.entries(KEYS)) {
      const columns = db
        .prepare('select name from pragma_table_info(?)')
        .all(table)
        .map(({ name }) => String(name))
      const values = columns.map((name) => (keys.includes(name) ? `"${name}" || n` : `"${name}"`))
      db.exec(`with recursive copy(n) as (select 1000000 union all select n + 1 from copy where n < ${1_000_000 + times - 1})
        insert into "${table}" (${columns.map((name) => `"${name}"`)}) select ${values} from "${table}", copy
        where "${table === 'session' ? 'id' : 'session_id'}" = '${sessionId}'`)
    }
    db.exec('commit')
  } finally {
    db.close()
  }
}
