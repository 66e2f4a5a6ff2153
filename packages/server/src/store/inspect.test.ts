import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { openTestDatabase } from '../../../../verification/testing/test-database.ts'
import { lookAtDatabase } from './index.ts'
import { listMigrations } from './migrate.ts'

const look = (url: string, signal = new AbortController().signal) => lookAtDatabase({ kind: 'postgres', url }, signal)

async function run(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

test('a look at a Postgres database says whether it is there, what it lacks and which roles people have, and changes nothing', async () => {
  await using empty = await openTestDatabase({ isEmpty: true })
  expect(await look(empty.url)).toEqual({ isThere: false, pending: [], roles: undefined })
  expect(await run(empty.url, "select tablename from pg_tables where schemaname = 'public'")).toEqual([])

  await using database = await openTestDatabase()
  const { url } = database
  expect(await look(url)).toEqual({ isThere: true, pending: [], roles: [] })
  const person = (id: string, kind: string, roles: string) =>
    `insert into principal (id, kind, name, roles, created_at) values ('${id}', '${kind}', '${id}', '${roles}', 0)`
  await run(
    url,
    [person('prn_a', 'person', '["finance"]'), person('prn_b', 'person', '["finance"]'), person('prn_c', 'agent', '["x"]')].join(';'),
  )
  expect(await look(url)).toMatchObject({ roles: ['["finance"]'] })

  const versions = "(1, '{}', 'of-file', 'file', 'first', null, 0), (2, '{}', 'saved', 'api', 'second', 'force', 0)"
  await run(url, `insert into policy_version (number, document, digest, source, reason, in_use, created_at) values ${versions}`)
  expect((await look(url)).policy).toMatchObject({ document: '{}', digest: 'saved', digest_of_file: 'of-file' })

  const last = listMigrations().at(-1)
  if (!last) throw new Error('there are no migrations')
  await run(url, `delete from migration where number = ${last.number}`)
  expect(await look(url)).toEqual({ isThere: true, pending: [last.name], roles: undefined })
  await run(url, `insert into migration (number, name, applied_at) values (9999, '9999-of-tomorrow', 0)`)
  await expect(look(url)).rejects.toThrow('the database is newer than this version: it has migration 9999-of-tomorrow')
})

test('a Postgres that is not there, has no such database or hangs is told, without its password', async () => {
  await using database = await openTestDatabase({ isEmpty: true })
  const wrong = new URL(database.url)
  wrong.pathname = '/no_such_database'
  await expect(look(wrong.href)).rejects.toThrow('database "no_such_database" does not exist')
  const away = look('postgres://doctor:hidden-password@127.0.0.1:9/countersign')
  await expect(away).rejects.toThrow(/^(?!.*hidden).*ECONNREFUSED/)

  const hung = createServer().listen(0, '127.0.0.1')
  await once(hung, 'listening')
  const stop = new AbortController()
  const { port } = hung.address() as AddressInfo
  const waiting = look(`postgres://doctor:hidden-password@127.0.0.1:${port}/countersign`, stop.signal)
  const [socket] = await once(hung, 'connection')
  stop.abort(new Error('too late'))
  await expect(waiting).rejects.toThrow('too late')
  socket.destroy()
  hung.close()
})
