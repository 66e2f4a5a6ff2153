import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { makeDevelopmentTables, writeDevelopmentDatabase } from '../../../../verification/testing/development-database.ts'
import { manualClock } from '../../../../verification/testing/manual-clock.ts'
import { catalogOf, connectTo, openMigrated } from '../../../../verification/testing/migrated.ts'
import { openTempSqlite, raw } from '../../../../verification/testing/temp-store.ts'
import { openTestDatabase } from '../../../../verification/testing/test-database.ts'
import { temporaryFolder } from '../../../../verification/testing/test-server.ts'
import { listMigrations, migrate, textOf } from './migrate.ts'
import { findNewer, inMigrationLock, migratePostgres } from './postgres/migrate.ts'
import { registerProcess } from './tables/processes.ts'

test('eight processes that start at once on an empty database migrate it once', async () => {
  await using database = await openTestDatabase({ isEmpty: true })
  const stores = await Promise.all(Array.from({ length: 8 }, () => openMigrated(database)))
  for (const store of stores) await store.close()
  await using client = await connectTo(database)
  const { rows } = await client.query('select number, count(*)::int as times from migration group by number order by number')
  expect(rows.length).toBeGreaterThan(0)
  expect(rows.map(({ times }) => times)).toEqual(rows.map(() => 1))
})

test('a Postgres database of a newer version is refused by the name of its migration', async () => {
  await using database = await openTestDatabase()
  await using client = await connectTo(database)
  await client.query(`insert into migration values (9000, '9000_time_travel.pg.sql', 1)`)
  for (let attempt = 0; attempt < 2; attempt++) {
    await expect(openMigrated(database)).rejects.toThrow('newer than this version: it has migration 9000_time_travel.pg.sql')
  }
  await client.query('delete from migration where number = 9000')
  await (await openMigrated(database)).close()
})

test('a Postgres database is not migrated while a server of an older version runs on it', async () => {
  await using database = await openTestDatabase({ isEmpty: true })
  await using client = await connectTo(database)
  await client.query('create table migration (number bigint primary key, name text not null, applied_at bigint not null)')
  for (const migration of listMigrations().slice(0, -1)) {
    await client.query(textOf(migration, 'postgres'))
    await client.query('insert into migration values ($1, $2, 1)', [migration.number, migration.name])
  }
  const before = await catalogOf(client)
  const older = await connectTo(database)
  await registerProcess(older, { id: 'prc_1', name: 'desk-1', version: '0.0.9', pools: [] })
  await expect(openMigrated(database)).rejects.toThrow(
    'a server of an older version (desk-1) is running on this database: stop all of them, then start this one',
  )
  expect(await catalogOf(client)).toEqual(before)
  await older.end()
  const [first, second] = await Promise.all([openMigrated(database), openMigrated(database)])
  await first.close()
  await second.close()
  expect(await catalogOf(client)).not.toEqual(before)
})

test('a server that comes back while a newer version migrates the database waits for the end of it, and knows', async () => {
  await using database = await openTestDatabase()
  await using newer = await connectTo(database)
  await using back = await connectTo(database)
  const clock = manualClock()
  const { rows } = await newer.query('select pg_backend_pid() as pid')
  expect(await findNewer(back, clock)).toBe(undefined)
  const waits = Promise.withResolvers<void>()
  const migrated = inMigrationLock(newer, async () => {
    await newer.query(`insert into migration values (9000, '9000_time_travel.sql', 1)`)
    await waits.promise
  })
  await expect
    .poll(async () => (await back.query(`select 1 from pg_locks where locktype = 'advisory' and granted and pid = $1`, [rows[0].pid])).rows)
    .toHaveLength(1)
  const found = findNewer(back, clock)
  await expect.poll(() => clock.waits).toHaveLength(1)
  waits.resolve()
  await migrated
  clock.pass(60_000)
  expect(await found).toContain('newer than this version: it has migration 9000_time_travel.sql')
})

test('a migration that fails leaves nothing of itself, and is told by its name', async () => {
  await using database = await openTestDatabase({ isEmpty: true })
  await using client = await connectTo(database)
  await client.query('create table vote (in_the_way text)')
  await expect(openMigrated(database)).rejects.toThrow('migration 0001_schema.sql failed: relation "vote" already exists')
  const { rows } = await client.query(`select (select count(*)::int from migration) as done, to_regclass('session') as session`)
  expect(rows).toEqual([{ done: 0, session: null }])
  await client.query('drop table vote')
  await (await openMigrated(database)).close()
})

test('processes that start at once on a database of the last development version upgrade it once', async () => {
  await using database = await openTestDatabase({ isEmpty: true })
  await using client = await connectTo(database)
  await makeDevelopmentTables(client)
  const stores = await Promise.all(Array.from({ length: 4 }, () => openMigrated(database)))
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

test('each migration of a database with data is told before it runs, with how many are left; a new database tells nothing', async () => {
  const told: [string, number][] = []
  const onMigrate = (name: string, left: number) => void told.push([name, left])
  using fresh = new DatabaseSync(':memory:')
  migrate(fresh, onMigrate)
  await using database = await openTestDatabase({ isEmpty: true })
  await using client = await connectTo(database)
  await migratePostgres(client, onMigrate)
  expect(told).toEqual([])

  const before = listMigrations().length - 2
  const names = listMigrations()
    .slice(before)
    .map(({ name }) => name)
  using db = new DatabaseSync(':memory:')
  db.exec('create table migration (number integer primary key, name text not null, applied_at integer not null) strict')
  for (const migration of listMigrations().slice(0, before)) {
    db.exec(textOf(migration, 'sqlite'))
    db.prepare('insert into migration values (?, ?, 1)').run(migration.number, migration.name)
  }
  migrate(db, onMigrate)
  expect(told.splice(0)).toEqual([
    [names[0], 2],
    [names[1], 1],
  ])

  await using older = await openTestDatabase({ isEmpty: true })
  await using session = await connectTo(older)
  await session.query('create table migration (number bigint primary key, name text not null, applied_at bigint not null)')
  for (const migration of listMigrations().slice(0, before)) {
    await session.query(textOf(migration, 'postgres'))
    await session.query('insert into migration values ($1, $2, 1)', [migration.number, migration.name])
  }
  await migratePostgres(session, onMigrate)
  expect(told).toEqual([
    [names[0], 2],
    [names[1], 1],
  ])
})

test('a database of an earlier development version is refused with what to do', async () => {
  await using database = await openTestDatabase({ isEmpty: true })
  await using client = await connectTo(database)
  await makeDevelopmentTables(client)
  await client.query('delete from migration where number = 29')
  await expect(openMigrated(database)).rejects.toThrow('start the last development version (migration 29) on it once, then this one')
})

test('an upgraded Postgres database has the tables, columns and indexes of a new one', async () => {
  await using made = await openTestDatabase({ isEmpty: true })
  await using upgraded = await openTestDatabase({ isEmpty: true })
  await using client = await connectTo(upgraded)
  await makeDevelopmentTables(client)
  for (const database of [made, upgraded]) await (await openMigrated(database)).close()
  await using fresh = await connectTo(made)
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
  await using client = await connectTo(database)
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

test('the migrations of a database wait for the disk once, at the last of them', () => {
  using folder = temporaryFolder()
  const waits: boolean[] = []
  const synchronousOf = (db: DatabaseSync) => Number(db.prepare('PRAGMA synchronous').get()?.synchronous)
  class Watched extends DatabaseSync {
    override exec(text: string): void {
      if (text === 'COMMIT') waits.push(synchronousOf(this) === FULL)
      super.exec(text)
    }
  }
  using db = new Watched(join(folder.path, 'new.db'))
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  migrate(db)
  expect(waits).toEqual(listMigrations().map((_, at, all) => at === all.length - 1))
  expect(synchronousOf(db)).toBe(FULL)

  // Without a log, each of them has to.
  waits.length = 0
  using other = new Watched(join(folder.path, 'other.db'))
  migrate(other)
  expect(waits).toEqual(listMigrations().map(() => true))
})

/** SQLite's number for it. */
const FULL = 2

test('every migration has a number of its own', () => {
  const numbers = listMigrations().map(({ number }) => number)
  expect(numbers).toEqual(numbers.map((_, at) => at + 1))
})
