import { sql } from 'kysely'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { raw } from '../../../../../verification/testing/temp-store.ts'
import { openTestDatabase, type TestDatabase } from '../../../../../verification/testing/test-database.ts'
import { thisMachine } from '../machine.ts'
import { lock } from '../query.ts'
import { findSetting, insertSetting } from '../tables/settings.ts'
import { openLastingConnection } from './lasting-connection.ts'
import { openPostgres } from './postgres.ts'

// Settings that an administrator gave the database, its role or the server.

/** Gives a test database settings, as an administrator does. They hold for each later connection. */
async function setOf(database: TestDatabase, ...settings: string[]): Promise<void> {
  await using client = Object.assign(new Client({ connectionString: database.url }), {
    [Symbol.asyncDispose]: () => client.end(),
  })
  await client.connect()
  for (const setting of settings) await client.query(`alter database "${new URL(database.url).pathname.slice(1)}" set ${setting}`)
}

test.each(['serializable', 'repeatable read'])(
  'who waited for a lock sees what was committed meanwhile, also where the default is %s',
  async (level) => {
    await using database = await openTestDatabase()
    await setOf(database, `default_transaction_isolation = '${level}'`)
    const store = await openPostgres({ url: database.url, onCommitted: () => undefined })
    let runs = 0
    const goOn = Promise.withResolvers<void>()
    const isHeld = Promise.withResolvers<void>()
    const first = store.transact(function* () {
      yield* lock('ses_one')
      yield* raw(sql`select 1`)
      isHeld.resolve()
      yield* raw(sql`select pg_sleep(0.3)`)
      yield* insertSetting.run({ name: 'revoked', value: 'yes' })
    })
    await isHeld.promise
    const second = store.transact(function* () {
      runs++
      yield* lock('ses_one')
      goOn.resolve()
      return yield* findSetting.first({ name: 'revoked' })
    })
    await goOn.promise
    await first
    expect(await second).toEqual({ value: 'yes' })
    expect(runs).toBe(1)
    await store.close()
  },
)

test('no commit is forgotten where synchronous_commit was turned off after the start, through a pooler as well', async () => {
  await using database = await openTestDatabase()
  for (const directUrl of [undefined, database.url]) {
    await setOf(database, 'synchronous_commit = on')
    const store = await openPostgres({ url: database.url, directUrl, onCommitted: () => undefined })
    await setOf(database, 'synchronous_commit = off')
    const levels = () =>
      store.transact(() => raw<{ level: string }>(sql`select current_setting('synchronous_commit') as level, pg_sleep(0.05)`))
    const seen = await Promise.all(Array.from({ length: 8 }, levels))
    expect(seen.flat().map(({ level }) => level)).toEqual(Array(8).fill('on'))
    await setOf(database, 'synchronous_commit = remote_apply')
    await store.close()
  }
})

test('the connection that shows that a process lives is not ended by limits that an administrator sets for clients', async () => {
  await using database = await openTestDatabase()
  // By one connection: the next one is given a millisecond for each statement.
  await setOf(database, "idle_session_timeout = '1s'", "statement_timeout = '1ms'", "lock_timeout = '1ms'")
  await using connection = await openLastingConnection({
    url: database.url,
    name: 'lasts',
    machine: thisMachine,
    onOpen: async () => undefined,
  })
  const { rows } = await connection.query<{ setting: string }>({
    text: `select name, setting from pg_settings where name in ('idle_session_timeout', 'statement_timeout', 'lock_timeout') order by name`,
  })
  expect(rows.map(({ setting }) => setting)).toEqual(['0', '0', '5000'])
})

test('a database that takes no writes by its own setting is refused in words', async () => {
  await using database = await openTestDatabase()
  await setOf(database, 'default_transaction_read_only = on')
  await expect(openPostgres({ url: database.url, onCommitted: () => undefined })).rejects.toThrow('default_transaction_read_only = on')
})

test('a database in use is not taken for an empty one because its search_path changed', async () => {
  await using database = await openTestDatabase()
  await (await openPostgres({ url: database.url, onCommitted: () => undefined })).close()
  await using client = Object.assign(new Client({ connectionString: database.url }), { [Symbol.asyncDispose]: () => client.end() })
  await client.connect()
  await client.query('create schema other')
  for (const path of ['other', 'other, public', "''"]) {
    await setOf(database, `search_path = ${path}`)
    await expect(openPostgres({ url: database.url, onCommitted: () => undefined }), path).rejects.toThrow(/search_path/)
  }
  expect((await client.query(`select count(*)::int as n from pg_tables where schemaname = 'other'`)).rows).toEqual([{ n: 0 }])
  await setOf(database, 'search_path = public')
  await (await openPostgres({ url: database.url, onCommitted: () => undefined })).close()
})

test('a database that forgets commits is refused in words', async () => {
  await using database = await openTestDatabase()
  await setOf(database, 'synchronous_commit = off')
  await expect(openPostgres({ url: database.url, onCommitted: () => undefined })).rejects.toThrow('synchronous_commit = off')
})

test('a server that a failing machine makes forget commits is named at each start', async () => {
  await using database = await openTestDatabase()
  const told: string[] = []
  const store = await openPostgres({ url: database.url, onCommitted: () => undefined, warn: (sentence) => void told.push(sentence) })
  await store.close()
  // The tests' own server has this setting: a power failure does not matter there.
  expect(told.join()).toContain('fsync = off')
})
