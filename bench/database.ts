import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createDatabase, runOn, startPostgres } from '../verification/testing/postgres.ts'

/** A database for a server process of a benchmark. */
export interface BenchDatabase {
  /** The server's start options. */
  flags: string[]
  run(sql: string): Promise<void>
  columnsOf(table: string): Promise<string[]>
  /** A table of the numbers from 1 to `count`, in a column `i` of `n`. */
  numbers(count: number): string
  /** An expression: column `i` with leading zeros. */
  readonly padded: string
  close(): Promise<void>
}

export async function openSqliteForBench(folder: string): Promise<BenchDatabase> {
  const dataDir = join(folder, 'data')
  const use = <T>(work: (db: DatabaseSync) => T): T => {
    const db = new DatabaseSync(join(dataDir, 'countersign.db'), { timeout: 5_000 })
    try {
      return work(db)
    } finally {
      db.close()
    }
  }
  return {
    flags: ['--data', dataDir],
    run: async (sql) => use((db) => db.exec(sql)),
    columnsOf: async (table) =>
      use((db) =>
        db
          .prepare(`select * from ${table} limit 0`)
          .columns()
          .map(({ name }) => name),
      ),
    numbers: (count) => `(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count}) select i from n) as n`,
    padded: `printf('%026d', i)`,
    close: async () => {},
  }
}

/** A Postgres of its own. */
export async function openPostgresForBench(): Promise<BenchDatabase> {
  const postgres = await startPostgres()
  const url = await createDatabase(postgres.url('postgres'))
  return {
    flags: ['--database-url', url],
    run: async (sql) => void (await runOn(url, sql)),
    columnsOf: async (table) => {
      const columns = await runOn(url, `select column_name from information_schema.columns where table_name = '${table}'`)
      return columns.map((column) => String(column.column_name))
    },
    numbers: (count) => `generate_series(1, ${count}) as n(i)`,
    padded: `lpad(i::text, 26, '0')`,
    close: async () => postgres[Symbol.asyncDispose](),
  }
}

/**
 * Puts `count` copies of a waiting action into the database of a server that is stopped: one by one through the API would take an hour.
 * @param changed Expressions for columns that differ from copy to copy, by the number `i`.
 */
export async function copyActions(
  database: BenchDatabase,
  actionId: string,
  count: number,
  changed: Record<string, string> = {},
): Promise<void> {
  const id = `'act_' || ${database.padded}`
  await copyRows(database, 'action', `id = '${actionId}'`, count, { ...changed, id, idempotency_key: `${id} || '.1'` })
  await database.run('analyze')
}

/** Copies the rows of a table that match a condition, `count` times each. */
export async function copyRows(
  database: BenchDatabase,
  table: string,
  where: string,
  count: number,
  changed: Record<string, string>,
): Promise<void> {
  const columns = await database.columnsOf(table)
  const values = columns.map((column) => changed[column] ?? column)
  await database.run(
    `insert into ${table} (${columns.join(', ')}) select ${values.join(', ')} from ${database.numbers(count)}, ${table} where ${where}`,
  )
}
