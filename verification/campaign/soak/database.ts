import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Pool } from 'pg'
import { createDatabase, dropDatabase, startPostgres } from '../../testing/postgres.ts'

/** The database of a server under soak, seen from outside. */
export interface SoakDatabase extends AsyncDisposable {
  /** Environment variables that point the server at this database. */
  readonly environment: Record<string, string>
  /** Rows by table. */
  countRows(): Promise<Record<string, number>>
  /** Size of the write-ahead log of SQLite; undefined on Postgres, whose log belongs to the database server. */
  walBytes(): number | undefined
  databaseBytes(): Promise<number>
  /** Runs a statement beside the server. */
  run(text: string): Promise<void>
}

export const openSoakDatabase = (kind: 'sqlite' | 'postgres', dataDir: string): Promise<SoakDatabase> | SoakDatabase =>
  kind === 'sqlite' ? openFile(dataDir) : openServer()

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

function openFile(dataDir: string): SoakDatabase {
  const file = join(dataDir, 'countersign.db')
  // Opened for each use: a connection that stays would be a reader that the server's checkpoints wait for.
  const use = <T>(work: (db: DatabaseSync) => T): T => {
    const db = new DatabaseSync(file, { timeout: 5_000 })
    try {
      return work(db)
    } finally {
      db.close()
    }
  }
  return {
    environment: {},
    countRows: async () =>
      use((db) => {
        const names = db.prepare(`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'`).all()
        return Object.fromEntries(names.map(({ name }) => [name, Number(db.prepare(`select count(*) as n from "${name}"`).get()?.n)]))
      }),
    walBytes: () => sizeOf(`${file}-wal`),
    databaseBytes: async () => sizeOf(file),
    run: async (text) => use((db) => db.exec(text)),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

async function openServer(): Promise<SoakDatabase> {
  const stack = new AsyncDisposableStack()
  const cluster = stack.use(await startPostgres())
  const url = await createDatabase(cluster.url('postgres'))
  stack.defer(() => dropDatabase(url))
  const pool = new Pool({ connectionString: url, max: 1 })
  stack.defer(() => pool.end())
  return {
    environment: { DATABASE_URL: url },
    async countRows() {
      const { rows } = await pool.query<{ schema: string; name: string }>(
        `select table_schema as schema, table_name as name from information_schema.tables
         where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
      )
      const counts: Record<string, number> = {}
      for (const { schema, name } of rows) {
        const { rows: found } = await pool.query(`select count(*) as n from "${schema}"."${name}"`)
        counts[schema === 'public' ? name : `${schema}.${name}`] = Number(found[0]?.n)
      }
      return counts
    },
    walBytes: () => undefined,
    databaseBytes: async () => Number((await pool.query('select pg_database_size(current_database()) as bytes')).rows[0]?.bytes),
    run: async (text) => void (await pool.query(text)),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
