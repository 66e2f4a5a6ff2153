import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import type { Database } from '../../packages/server/src/store/index.ts'

/**
 * Every row of every table of a server's database, for comparing before with after. Reads beside the running server. Without what changes
 * by itself: the signatures of the record and, on Postgres, the processes' signs of life. Nor what the record says of refused requests:
 * that nothing else came of them is what such a comparison shows.
 */
export const dumpDatabase = async (database: Database): Promise<Record<string, unknown[]>> =>
  database.kind === 'sqlite' ? dumpSqlite(database.dataDir) : dumpPostgres(database.url)

const besidesRefusals = (table: string): string => (table === 'audit' ? ` where kind <> 'refused'` : '')

function dumpSqlite(dataDir: string): Record<string, unknown[]> {
  const db = new DatabaseSync(join(dataDir, 'countersign.db'), { readOnly: true })
  try {
    const tables = db.prepare("select name from sqlite_schema where type = 'table' and name <> 'audit_head' order by name").all()
    return Object.fromEntries(
      tables.map(({ name }) => [String(name), db.prepare(`select * from "${name}"${besidesRefusals(String(name))}`).all()]),
    )
  } finally {
    db.close()
  }
}

async function dumpPostgres(url: string): Promise<Record<string, unknown[]>> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows: tables } = await client.query(
      "select tablename as name from pg_tables where schemaname = 'public' and tablename not in ('process', 'audit_head') order by name",
    )
    const dump: Record<string, unknown[]> = {}
    for (const { name } of tables) dump[name] = (await client.query(`select * from "${name}" as t${besidesRefusals(name)} order by t`)).rows
    return dump
  } finally {
    await client.end()
  }
}
