import { readFileSync } from 'node:fs'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { createDatabase, dropDatabase, startPostgres } from './postgres.ts'
import { openTestDatabase } from './test-database.ts'

async function ask(url: string, query: string): Promise<unknown> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(query)).rows[0]?.answer
  } finally {
    await client.end()
  }
}

test('every test has a Postgres database of its own, 15 or newer, empty, and with an order of text that is not byte order', async () => {
  await using one = await openTestDatabase({ isEmpty: true })
  await using two = await openTestDatabase({ isEmpty: true })
  expect(await ask(one.url, `select current_setting('server_version_num')::int >= 150000 as answer`)).toBe(true)
  expect(await ask(one.url, `select 'a' < 'B' as answer`)).toBe(true)
  await ask(one.url, 'create table thing (id text)')
  expect(await ask(one.url, `select to_regclass('thing') is not null as answer`)).toBe(true)
  expect(await ask(two.url, `select to_regclass('thing') is not null as answer`)).toBe(false)
})

test('a database can be the copy of another, and be dropped while somebody is connected', async () => {
  await using original = await openTestDatabase({ isEmpty: true })
  await ask(original.url, 'create table thing (id text)')
  const url = await createDatabase(original.url, { template: new URL(original.url).pathname.slice(1) })
  expect(await ask(url, `select to_regclass('thing') is not null as answer`)).toBe(true)
  const holder = new Client({ connectionString: url })
  holder.on('error', () => undefined)
  await holder.connect()
  await dropDatabase(url)
  await expect(ask(url, 'select 1')).rejects.toMatchObject({ code: '3D000' })
})

test('a server that is killed leaves no process behind, and starts again with what was committed', async () => {
  await using postgres = await startPostgres()
  const url = await createDatabase(postgres.url('postgres'))
  await ask(url, 'create table thing (id text)')
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_activity')
  await postgres.stop('kill')
  expect(rows.length).toBeGreaterThan(3)
  // A process that its parent has not waited for yet is dead, too.
  const stateOf = (pid: number) => {
    try {
      return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.charAt(0)
    } catch {
      return 'gone'
    }
  }
  await expect.poll(() => rows.map(({ pid }) => stateOf(pid)).filter((state) => state !== 'gone' && state !== 'Z')).toEqual([])
  await postgres.start()
  await expect.poll(() => ask(url, `select to_regclass('thing') is not null as answer`).catch(() => 'not yet')).toBe(true)
})
