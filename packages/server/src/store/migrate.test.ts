import { once } from 'node:events'
import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { makeDevelopmentTables, writeDevelopmentDatabase } from '../../../../verification/testing/development-database.ts'
import { openTempSqlite, raw } from '../../../../verification/testing/temp-store.ts'
import { openTestDatabase, type TestDatabase } from '../../../../verification/testing/test-database.ts'
import { temporaryFolder } from '../../../../verification/testing/test-server.ts'
import { listMigrations, migrate, textOf } from './migrate.ts'
import { openPostgres } from './postgres/postgres.ts'

const open = ({ url }: TestDatabase) => openPostgres({ url, onCommitted: () => undefined })

async function connect({ url }: TestDatabase): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: url })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

test('eight processes that start at once on an empty database migrate it once', async () => {
  await using database = await openTestDatabase({ isEmpty: true })
  const stores = await Promise.all(Array.from({ length: 8 }, () => open(database)))
  for (const store of stores) await store.close()
  await using client = await connect(database)
  const { rows } = await client.query('select number, count(*)::int as times from migration group by number order by number')
  expect(rows.length).toBeGreaterThan(0)
  expect(rows.map(({ times }) => times)).toEqual(rows.map(() => 1))
})

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
  await (await open(whole)).close()
  await using fresh = await connect(whole)
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
      await (await open(database)).close()
      await using client = await connect(database)
      expect(await catalogOf(client), `${migration.name}, killed after statement ${at + 1}`).toEqual(all)
    }
  }
})

/** The migrations that were added last: each kill takes a database of its own. */
const FIRST_KILLED = 15

test('a Postgres database of a newer version is refused by the name of its migration', async () => {
  await using database = await openTestDatabase()
  await using client = await connect(database)
  await client.query(`insert into migration values (9000, '9000_time_travel.pg.sql', 1)`)
  for (let attempt = 0; attempt < 2; attempt++) {
    await expect(open(database)).rejects.toThrow('newer than this version: it has migration 9000_time_travel.pg.sql')
  }
  await client.query('delete from migration where number = 9000')
  await (await open(database)).close()
})

test('a migration that fails leaves nothing of itself, and is told by its name', async () => {
  await using database = await openTestDatabase({ isEmpty: true })
  await using client = await connect(database)
  await client.query('create table vote (in_the_way text)')
  await expect(open(database)).rejects.toThrow('migration 0001_schema.sql failed: relation "vote" already exists')
  const { rows } = await client.query(`select (select count(*)::int from migration) as done, to_regclass('session') as session`)
  expect(rows).toEqual([{ done: 0, session: null }])
  await client.query('drop table vote')
  await (await open(database)).close()
})

test('processes that start at once on a database of the last development version upgrade it once', async () => {
  await using database = await openTestDatabase({ isEmpty: true })
  await using client = await connect(database)
  await makeDevelopmentTables(client)
  const stores = await Promise.all(Array.from({ length: 4 }, () => open(database)))
  for (const store of stores) await store.close()
  const { rows } = await client.query('select name, count(*)::int as times from migration group by name order by name')
  expect(rows).toEqual(readdirSync(new URL('./migrations/', import.meta.url)).map((name) => ({ name, times: 1 })))
})

test('a webhook whose secret was rotated before the upgrade goes on signing with the earlier one', () => {
  using db = new DatabaseSync(':memory:')
  db.exec('create table migration (number integer primary key, name text not null, applied_at integer not null) strict')
  for (const migration of listMigrations().filter(({ number }) => number < 19)) {
    db.exec(textOf(migration, 'sqlite'))
    db.prepare('insert into migration values (?, ?, 1)').run(migration.number, migration.name)
  }
  const insert =
    db.prepare(`insert into webhook (id, url, description, events, secret, earlier_secret, earlier_until, created_by, created_at)
    values (?, 'https://a.example', '', '[]', 'whsec_new', ?, ?, 'prn_ana', 1)`)
  insert.run('whk_rotated', 'whsec_old', 99)
  insert.run('whk_plain', null, null)
  migrate(db)
  expect(db.prepare('select webhook_id, secret, until from webhook_earlier_secret').all()).toEqual([
    { webhook_id: 'whk_rotated', secret: 'whsec_old', until: 99 },
  ])
})

test('a database of an earlier development version is refused with what to do', async () => {
  await using database = await openTestDatabase({ isEmpty: true })
  await using client = await connect(database)
  await makeDevelopmentTables(client)
  await client.query('delete from migration where number = 29')
  await expect(open(database)).rejects.toThrow('start the last development version (migration 29) on it once, then this one')
})

test('an upgraded Postgres database has the tables, columns and indexes of a new one', async () => {
  await using made = await openTestDatabase({ isEmpty: true })
  await using upgraded = await openTestDatabase({ isEmpty: true })
  await using client = await connect(upgraded)
  await makeDevelopmentTables(client)
  for (const database of [made, upgraded]) await (await open(database)).close()
  await using fresh = await connect(made)
  const [now, before] = [await catalogOf(fresh), await catalogOf(client)]
  expect(now.length).toBeGreaterThan(300)
  expect(before).toEqual(now)
})

test('an upgraded SQLite database has the tables, columns and indexes of a new one', async () => {
  using folder = temporaryFolder()
  writeDevelopmentDatabase(folder.path)
  using upgraded = new DatabaseSync(join(folder.path, 'countersign.db'))
  using fresh = new DatabaseSync(':memory:')
  for (const db of [upgraded, fresh]) migrate(db)
  const catalog = (db: DatabaseSync) =>
    db
      .prepare(
        `select m.name || '.' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || coalesce(c.dflt_value, '') || ' ' || c.pk as what
        from sqlite_schema m, pragma_table_info(m.name) c where m.type = 'table' and m.name not like 'sqlite_%'
        union all select m.tbl_name || ' ' || replace(m.sql, 'CREATE', 'create') from sqlite_schema m where m.type = 'index' and m.sql is not null`,
      )
      .all()
      .map(({ what }) => String(what).replace('UNIQUE INDEX', 'unique index').replace('create INDEX', 'create index'))
      // SQLite cannot drop a column with a foreign key, or change a default; neither is read or written.
      .filter((what) => !/^session\.approve_all_by|^audit_head\.format/.test(what))
      .sort()
  expect(catalog(fresh).length).toBeGreaterThan(300)
  expect(catalog(upgraded)).toEqual(catalog(fresh))
})

test('both databases come to the same tables and columns', async () => {
  await using database = await openTestDatabase()
  await using client = await connect(database)
  await using temp = await openTempSqlite()
  const { rows } = await client.query(
    `select table_name || '.' || column_name as name from information_schema.columns where table_schema = 'public'`,
  )
  const sqlite = await temp.store.read(() =>
    raw<{ name: string }>(sql`select m.name || '.' || c.name as name from sqlite_schema m, pragma_table_info(m.name) c
      where m.type = 'table' and m.name not like 'sqlite_%'`),
  )
  const names = (found: { name: string }[]) =>
    found
      .map(({ name }) => name)
      .filter((name) => !ONLY_POSTGRES.test(name))
      .sort()
  expect(names(rows)).toEqual(names(sqlite))
})

/** Processes of one database know of each other; on SQLite there is one. */
const ONLY_POSTGRES = /^(process\.|run\.(runner|claimed)$)/

/** Every column and index, without the width of integers and the collation of texts, which early columns lack. */
async function catalogOf(client: Client): Promise<string[]> {
  const { rows } = await client.query(`
    select c.relname || '.' || a.attname || ' ' || replace(format_type(a.atttypid, a.atttypmod), 'bigint', 'integer') || ' ' || a.attnotnull
      || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '') as what
    from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not attisdropped
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
      where connamespace = 'public'::regnamespace and contype <> 'n'
    union all select pg_get_functiondef(oid) from pg_proc where pronamespace in ('public'::regnamespace, 'countersign_quiet'::regnamespace)`)
  return rows.map(({ what }) => what.replace(/ COLLATE "C"/g, '')).sort()
}

test('every migration has a number of its own', () => {
  const numbers = listMigrations().map(({ number }) => number)
  expect(numbers).toEqual(numbers.map((_, at) => at + 1))
})
