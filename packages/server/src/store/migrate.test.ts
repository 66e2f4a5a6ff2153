import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { openTempSqlite, raw } from '../../../../verification/testing/temp-store.ts'
import { openTestDatabase, type TestDatabase } from '../../../../verification/testing/test-database.ts'
import { openPostgres } from './postgres/postgres.ts'

const open = ({ url }: TestDatabase) => openPostgres({ url, onCommitted: () => undefined })

async function connect({ url }: TestDatabase): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: url })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

const textOf = (name: string) => readFileSync(new URL(`./migrations/${name}`, import.meta.url), 'utf8')

test('eight processes that start at once on an empty database migrate it once', async () => {
  await using database = await openTestDatabase({ isEmpty: true })
  const stores = await Promise.all(Array.from({ length: 8 }, () => open(database)))
  for (const store of stores) await store.close()
  await using client = await connect(database)
  const { rows } = await client.query('select number, count(*)::int as times from migration group by number order by number')
  expect(rows.length).toBeGreaterThan(2)
  expect(rows.map(({ times }) => times)).toEqual(rows.map(() => 1))
})

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
  await expect(open(database)).rejects.toThrow('migration 0001_start.pg.sql failed: relation "vote" already exists')
  const { rows } = await client.query(`select (select count(*)::int from migration) as done, to_regclass('session') as session`)
  expect(rows).toEqual([{ done: 0, session: null }])
  await client.query('drop table vote')
  await (await open(database)).close()
})

test('a process of the first version goes on writing while this version migrates beside it', async () => {
  await using database = await openTestDatabase({ isEmpty: true })
  await using old = await connect(database)
  await old.query('create table migration (number bigint primary key, name text not null, applied_at bigint not null)')
  await old.query(`insert into migration values (1, '0001_start.pg.sql', 1)`)
  await old.query(textOf('0001_start.pg.sql'))
  await old.query(`insert into principal values ('prn_ana', 'person', 'Ana', '[]', 1)`)
  await old.query(`insert into session values ('ses_1', 'desk', '', 'idle', 'prn_ana', null, 0, 0, 1, 1)`)

  // The text that the first version wrote for each action.
  let written = 0
  const writeOne = async () => {
    const id = `act_${++written}`
    await old.query('begin')
    await old.query({ name: 'read', text: 'select id, status, last_seq from session where id = $1 for update', values: ['ses_1'] })
    await old.query({
      name: 'act',
      text: `insert into action (id, session_id, position, tool, effect, destination, definition_hash, arguments, digest, revision, description,
        risk, state, policy, requires, requested_by, executor, attempt, epoch, told, idempotency_key, created_at, updated_at)
        values ($1, 'ses_1', 0, 't', 'write', 'd', 'h', '{}', 'x', 1, 'D', '{}', 'proposed', '{}', '{}', 'prn_ana', 'server', 0, 0, 0, $1, 1, 1)`,
      values: [id],
    })
    await old.query({
      name: 'run',
      text: 'insert into run (session_id, number, id, state, created_at, updated_at) values ($1, $2, $3, $4, 1, 1)',
      values: ['ses_1', written, `run_${written}`, 'done'],
    })
    await old.query({ name: 'decide', text: `update action set state = 'approved' where id = $1 and state = 'proposed'`, values: [id] })
    await old.query('commit')
  }
  await writeOne()
  const before = written
  let isMigrated = false
  const migrated = open(database).finally(() => {
    isMigrated = true
  })
  while (!isMigrated) await writeOne()
  const store = await migrated
  for (let n = 0; n < 20; n++) await writeOne()
  expect(written).toBeGreaterThan(before + 20)

  const rows = await store.read(() =>
    raw(sql`select count(*) as n from action where state = 'approved' and due_at is null and archived_at is null`),
  )
  expect(rows).toEqual([{ n: written }])
  await store.close()
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
