import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { catalogOf, connectTo, openMigrated } from '../../../../verification/testing/migrated.ts'
import { openTestDatabase } from '../../../../verification/testing/test-database.ts'
import { temporaryFolder } from '../../../../verification/testing/test-server.ts'
import { listMigrations, migrate, textOf } from './migrate.ts'

/** The migrations that were added last: each kill takes a database of its own. */
const FIRST_KILLED = 15

test('a process that is killed at any statement of any migration leaves a SQLite database that the next start brings to the same tables', () => {
  using folder = temporaryFolder()
  using whole = new DatabaseSync(':memory:')
  migrate(whole)
  const schemaOf = (db: DatabaseSync) => db.prepare('select name, sql from sqlite_schema order by name').all()
  const path = join(folder.path, 'killed.db')
  using db = new DatabaseSync(path)
  // With room for one page in memory, what is not committed is in the file as well.
  db.exec(
    'pragma journal_mode = wal; pragma cache_size = 1; create table migration (number integer primary key, name text not null, applied_at integer not null) strict',
  )
  let kills = 0
  for (const migration of listMigrations()) {
    const statements = textOf(migration, 'sqlite').split(/(?<=;)\n/)
    db.exec('begin immediate')
    db.prepare('insert into migration values (?, ?, 1)').run(migration.number, migration.name)
    for (const statement of statements) {
      db.exec(statement)
      // The files as the killed process leaves them.
      const left = join(folder.path, `left-${++kills}.db`)
      for (const end of ['', '-wal']) copyFileSync(path + end, left + end)
      using again = new DatabaseSync(left)
      const { newest } = again.prepare('select coalesce(max(number), 0) as newest from migration').get() as { newest: number }
      expect(newest).toBe(migration.number - 1)
      migrate(again)
      expect(schemaOf(again), `${migration.name}, killed after: ${statement}`).toEqual(schemaOf(whole))
    }
    db.exec('commit')
  }
  expect(kills).toBeGreaterThan(listMigrations().length)
})

test('a process that is killed at any statement of a migration of Postgres leaves nothing of it, and the next start ends it', async () => {
  await using whole = await openTestDatabase({ isEmpty: true })
  await (await openMigrated(whole)).close()
  await using fresh = await connectTo(whole)
  const all = await catalogOf(fresh)
  const migrations = listMigrations()
  for (const migration of migrations.slice(FIRST_KILLED - 1)) {
    const statements = textOf(migration, 'postgres').split(/(?<=;)\n/)
    for (const [at] of statements.entries()) {
      await using database = await openTestDatabase({ isEmpty: true })
      const killed = new Client({ connectionString: database.url })
      await killed.connect()
      await killed.query('create table migration (number bigint primary key, name text not null, applied_at bigint not null)')
      for (const before of migrations.slice(0, migration.number - 1)) {
        await killed.query(textOf(before, 'postgres'))
        await killed.query('insert into migration values ($1, $2, 1)', [before.number, before.name])
      }
      await killed.query('begin')
      await killed.query('insert into migration values ($1, $2, 1)', [migration.number, migration.name])
      for (const statement of statements.slice(0, at + 1)) await killed.query(statement)
      const ended = once(killed, 'error')
      killed.connection.stream.destroy()
      await ended
      await (await openMigrated(database)).close()
      await using client = await connectTo(database)
      expect(await catalogOf(client), `${migration.name}, killed after statement ${at + 1}`).toEqual(all)
    }
  }
})
