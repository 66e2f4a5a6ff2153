import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { Client } from 'pg'
import { openTestDatabase, type ServerDatabase } from './test-database.ts'

const file = (name: string): Buffer => readFileSync(new URL(`development/${name}`, import.meta.url))

/** The data that a server of the last development version wrote: keys of two people, and the ids of actions by what became of them. */
export const MADE: {
  keys: Record<'ana' | 'bot', string>
  actions: Record<'succeeded' | 'declined' | 'unknown' | 'granted' | 'waiting' | 'inSession', string>
  sessionId: string
} = JSON.parse(file('made.json').toString())

/** Each start writes its own: processes, and the instance, which says in which folder the server wrote last. */
const LEFT_OUT = ['migration', 'instance', 'process']

/** Puts the SQLite database of the last development version into a data folder. */
export function writeDevelopmentDatabase(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'countersign.db')
  writeFileSync(path, gunzipSync(file('countersign.db.gz')), { mode: 0o600 })
  const db = new DatabaseSync(path)
  // The folder that it was in had the other half.
  db.exec('update instance set bound_at = null')
  db.close()
}

/** Makes the tables of the last development version in an empty Postgres database. */
export async function makeDevelopmentTables(client: Client): Promise<void> {
  await client.query('create table migration (number bigint primary key, name text not null, applied_at bigint not null)')
  for (const number of [1, 29])
    await client.query('insert into migration values ($1, $2, 1)', [
      number,
      number === 1 ? '0001_start.pg.sql' : '0029_deleted_sessions.pg.sql',
    ])
  await client.query(file('schema.pg.sql').toString())
}

/** Opens the database of the last development version. Returns the variables that name it. */
export async function openDevelopmentDatabase(
  dataDir: string,
  kind: 'sqlite' | 'postgres',
): Promise<Pick<ServerDatabase, 'environment'> & AsyncDisposable> {
  writeDevelopmentDatabase(dataDir)
  if (kind === 'sqlite') return { environment: {}, [Symbol.asyncDispose]: async () => undefined }
  const { url, ...rest } = await openTestDatabase({ isEmpty: true })
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await makeDevelopmentTables(client)
    await copyRows(join(dataDir, 'countersign.db'), client)
  } finally {
    await client.end()
  }
  return { environment: { DATABASE_URL: url }, ...rest }
}

async function copyRows(path: string, client: Client): Promise<void> {
  const db = new DatabaseSync(path, { readOnly: true })
  // Rows come in no order that their references would like.
  await client.query("set session_replication_role = 'replica'")
  const tables = db.prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'").all()
  for (const { name } of tables) {
    const table = String(name)
    if (LEFT_OUT.includes(table)) continue
    for (const row of db.prepare(`select * from "${table}"`).all()) {
      const names = Object.keys(row)
      const places = names.map((_, index) => `$${index + 1}`)
      await client.query(
        `insert into "${table}" (${names.join(', ')}) values (${places.join(', ')}) on conflict do nothing`,
        Object.values(row),
      )
    }
  }
  db.close()
}
