import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { listMigrations, textOf } from '../../packages/server/src/store/migrate.ts'
import type { ServerDatabase } from './test-database.ts'
import { openTestDatabase } from './test-database.ts'

/** Each start writes its own: processes, and the instance, which says in which folder the server wrote last. */
const LEFT_OUT = ['migration', 'instance', 'process']

type Rows = Record<string, unknown[]>

interface OlderOptions {
  /** The newest migration that it has. */
  migration: number
  /** The rows of a database of this version: what the older version had no column for is left out. */
  rows: Rows
  /** Where a server of it keeps its data. */
  dataDir: string
  kind: 'sqlite' | 'postgres'
}

/** Makes a database as an earlier version left it. Answers the variables that name it. */
export async function openOlderDatabase({
  migration,
  rows,
  dataDir,
  kind,
}: OlderOptions): Promise<Pick<ServerDatabase, 'environment'> & AsyncDisposable> {
  if (kind === 'sqlite') {
    fillSqlite(dataDir, migration, rows)
    return { environment: {}, [Symbol.asyncDispose]: async () => undefined }
  }
  const { url, ...rest } = await openTestDatabase({ isEmpty: true })
  await fillPostgres(url, migration, rows)
  return { environment: { DATABASE_URL: url }, ...rest }
}

function fillSqlite(dataDir: string, migration: number, rows: Rows): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const db = new DatabaseSync(join(dataDir, 'countersign.db'), { enableForeignKeyConstraints: false })
  try {
    db.exec('create table migration (number integer primary key, name text not null, applied_at integer not null) strict')
    for (const one of upTo('sqlite', migration)) {
      db.prepare('insert into migration (number, name, applied_at) values (?, ?, 1)').run(one.number, one.name)
      db.exec(textOf(one))
    }
    for (const [table, list] of kept(rows)) {
      const columns = db
        .prepare('select name from pragma_table_info(?)')
        .all(table)
        .map(({ name }) => String(name))
      for (const { text, values } of inserts(table, columns, list)) db.prepare(text(() => '?')).run(...(values as string[]))
    }
  } finally {
    db.close()
  }
}

async function fillPostgres(url: string, migration: number, rows: Rows): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('create table migration (number bigint primary key, name text not null, applied_at bigint not null)')
    for (const one of upTo('pg', migration)) {
      await client.query('insert into migration values ($1, $2, 1)', [one.number, one.name])
      await client.query(textOf(one))
    }
    // Rows come in no order that their references would like.
    await client.query("set session_replication_role = 'replica'")
    for (const [table, list] of kept(rows)) {
      const { rows: found } = await client.query('select column_name as name from information_schema.columns where table_name = $1', [
        table,
      ])
      const columns = found.map(({ name }) => String(name))
      // A migration may have written a row of its own.
      if (columns.length > 0) await client.query(`delete from "${table}"`)
      for (const { text, values } of inserts(table, columns, list))
        await client.query(
          text((n) => `$${n}`),
          values,
        )
    }
  } finally {
    await client.end()
  }
}

const upTo = (database: 'sqlite' | 'pg', newest: number) => listMigrations(database).filter(({ number }) => number <= newest)

const kept = (rows: Rows) => Object.entries(rows).filter(([table]) => !LEFT_OUT.includes(table))

/** The inserts of a table's rows, as far as there are columns for them. */
function* inserts(table: string, columns: readonly string[], list: readonly unknown[]) {
  for (const row of list as Record<string, unknown>[]) {
    const names = Object.keys(row).filter((name) => columns.includes(name))
    if (names.length === 0) continue
    yield {
      text: (place: (n: number) => string) =>
        `insert into "${table}" (${names.join(', ')}) values (${names.map((_, i) => place(i + 1)).join(', ')})`,
      values: names.map((name) => row[name]),
    }
  }
}
