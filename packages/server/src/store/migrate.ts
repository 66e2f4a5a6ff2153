import { readdirSync, readFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { reach } from '../points.ts'

const folder = new URL('./migrations/', import.meta.url)

interface Migration {
  number: number
  name: string
}

const migrations: Migration[] = readdirSync(folder)
  .filter((file) => file.endsWith('.sqlite.sql'))
  .sort()
  .map((name) => ({ number: Number(name.slice(0, 4)), name }))

/**
 * Brings the database to this code's version, one transaction per migration.
 * @throws Error naming the migration when the database was written by a newer version.
 */
export function migrate(db: DatabaseSync): void {
  db.exec('create table if not exists migration (number integer primary key, name text not null, applied_at integer not null) strict')
  const applied = db.prepare('select number, name from migration order by number').all()
  const newest = migrations.at(-1)?.number ?? 0
  for (const row of applied) {
    if (Number(row.number) > newest)
      throw new Error(`the database is newer than this version: it has migration ${row.name}; upgrade Countersign`)
  }
  const done = new Set(applied.map((row) => Number(row.number)))
  for (const { number, name } of migrations) {
    if (done.has(number)) continue
    const sql = readFileSync(new URL(name, folder), 'utf8')
    db.exec('BEGIN IMMEDIATE')
    try {
      // The row first: a process that races us fails here and does not run the rest.
      db.prepare('insert into migration (number, name, applied_at) values (?, ?, ?)').run(number, name, Date.now())
      db.exec(sql)
      reach('migrate.before_commit')
      db.exec('COMMIT')
      reach('migrate.after_commit')
    } catch (error) {
      db.exec('ROLLBACK')
      throw new Error(`migration ${name} failed: ${error instanceof Error ? error.message : error}`, { cause: error })
    }
  }
}
