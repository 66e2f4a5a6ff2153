import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { runOn } from '../../../../verification/testing/postgres.ts'
import { openTempPostgres, openTempSqlite, raw } from '../../../../verification/testing/temp-store.ts'
import { openTestDatabase } from '../../../../verification/testing/test-database.ts'
import { openPostgres } from './postgres/postgres.ts'
import { namesInSchema } from './whole-schema.ts'

const SQLITE = sql<{ name: string }>`select name from sqlite_schema where type in ('table', 'index') and name not like 'sqlite%'`
const POSTGRES = sql<{ name: string }>`select relname as name from pg_class where relkind in ('r', 'i')
  and relnamespace = current_schema()::regnamespace and oid not in (select conindid from pg_constraint)`

for (const { database, open, query } of [
  { database: 'sqlite', open: () => openTempSqlite(), query: SQLITE },
  { database: 'postgres', open: () => openTempPostgres(), query: POSTGRES },
] as const) {
  test(`${database}: the names that a database has to have are those of every table and index of a new one`, async () => {
    await using temp = await open()
    const names = (await temp.store.read(() => raw(query))).map(({ name }) => name)
    // The first migration writes into `migration`, which is there before it.
    expect([...namesInSchema(database), 'migration'].sort()).toEqual(names.sort())
  })
}

for (const { what, statement, name } of [
  { what: 'an index', statement: 'drop index run_open', name: 'run_open' },
  { what: 'the primary key of a table', statement: 'alter table vote drop constraint vote_pkey', name: 'vote' },
]) {
  test(`Postgres: a database that has lost ${what}, as by a restore with errors, is refused with the name of it`, async () => {
    await using database = await openTestDatabase()
    await runOn(database.url, statement)
    const opening = openPostgres({ url: database.url, onCommitted: () => undefined })
    await expect(opening).rejects.toThrow(`it has no ${name}`)
    await expect(opening).rejects.toThrow('countersign restore FILE --database-url URL')
  })
}
