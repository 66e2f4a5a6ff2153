import { Client } from 'pg'
import { expect, test } from 'vitest'
import { openTestDatabase } from '../../../../../verification/testing/test-database.ts'
import { systemClock } from '../../clock.ts'
import { openPostgres } from './postgres.ts'

async function openLockable() {
  const stack = new AsyncDisposableStack()
  const { url } = stack.use(await openTestDatabase())
  let nowMs = 0
  const store = await openPostgres({ url, onCommitted: () => undefined, clock: { nowMs: () => nowMs, after: systemClock.after } })
  stack.defer(() => store.close())
  const connect = async () => {
    const client = new Client({ connectionString: url })
    await client.connect()
    stack.defer(() => client.end())
    const [pid] = (await client.query('select pg_backend_pid() as pid')).rows
    return { client, pid: pid.pid as number }
  }
  return {
    connect,
    look: () => store.health.requireRoom(),
    later: () => {
      nowMs += 2_000
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

test('a table that decisions write and that a session keeps locked is named with the session, until the lock ends', async () => {
  await using db = await openLockable()
  const { client, pid } = await db.connect()
  for (const [table, mode] of [
    ['audit', 'share'],
    ['action', 'access exclusive'],
    ['vote', 'share row exclusive'],
  ]) {
    await client.query('begin')
    await client.query(`lock table ${table} in ${mode} mode`)
    // It may be a lock in passing.
    await db.look()
    db.later()
    const named = { code: 'not_ready', message: expect.stringContaining(`the database session ${pid} locks the table ${table};`) }
    await expect(db.look()).rejects.toMatchObject(named)
    await expect(db.look()).rejects.toMatchObject(named)
    await client.query('rollback')
    await db.look()
  }
})

test('a session that waits for a lock on a table is named as well: the writes of decisions queue behind it', async () => {
  await using db = await openLockable()
  const [writer, waiter] = [await db.connect(), await db.connect()]
  await writer.client.query('begin; lock table action in row exclusive mode')
  const waiting = waiter.client.query('begin; lock table action in access exclusive mode')
  const isWaiting = async () => (await writer.client.query('select 1 from pg_locks where not granted and pid = $1', [waiter.pid])).rowCount
  await expect.poll(isWaiting).toBe(1)
  await db.look()
  db.later()
  await expect(db.look()).rejects.toMatchObject({ message: expect.stringContaining(`the database session ${waiter.pid} locks`) })
  await writer.client.query('commit')
  await waiting
})

test('locks under which decisions can be written are none to be named: of writers, of readers, and of vacuum and analyze', async () => {
  await using db = await openLockable()
  const { client } = await db.connect()
  await client.query('begin')
  for (const mode of ['access share', 'row share', 'row exclusive', 'share update exclusive'])
    await client.query(`lock table action, audit, event in ${mode} mode`)
  // A table that no decision writes.
  await client.query('lock table preference in access exclusive mode')
  await db.look()
  db.later()
  await db.look()
})
