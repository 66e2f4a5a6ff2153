import { sql } from 'kysely'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { COMMIT, type FaultProxy, openFaultProxy, throughProxy, type Verdict } from '../../../../../verification/testing/fault-proxy.ts'
import { raw } from '../../../../../verification/testing/temp-store.ts'
import { openTestDatabase, takeCircles } from '../../../../../verification/testing/test-database.ts'
import { systemClock } from '../../clock.ts'
import { lock } from '../query.ts'
import type { Outbox, Store } from '../store.ts'
import { findSetting, insertSetting } from '../tables/settings.ts'
import { openPostgres } from './postgres.ts'

/** A store that reaches its database through a proxy, and a direct connection to the database. */
interface Reached extends AsyncDisposable {
  url: string
  store: Store
  proxy: FaultProxy
  committed: Outbox[]
  directly(text: string): Promise<Record<string, unknown>[]>
}

/** Runs timeouts a thousand times as fast. */
const hurriedClock = {
  nowMs: () => Date.now() * 1_000,
  after: systemClock.after,
}

async function openReached(clock = systemClock): Promise<Reached> {
  const stack = new AsyncDisposableStack()
  const { url } = stack.use(await openTestDatabase())
  const { hostname, port } = new URL(url)
  const proxy = stack.use(await openFaultProxy({ host: hostname, port: Number(port) }))
  const committed: Outbox[] = []
  const onCommitted = (outbox: Outbox) => committed.push(outbox)
  const store = await openPostgres({ url: throughProxy(url, proxy), onCommitted, clock })
  stack.defer(() => store.close())
  const client = new Client({ connectionString: url })
  await client.connect()
  stack.defer(() => client.end())
  const directly = async (text: string) => (await client.query(text)).rows
  return { url, store, proxy, committed, directly, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** Counts its own runs in the data that it writes. */
function openCounted(store: Store) {
  let runs = 0
  const count = () =>
    store.transact(function* (outbox) {
      runs++
      outbox.sessions.add(`run ${runs}`)
      yield* raw(sql`insert into setting values (${`run ${runs}`}, 'x')`)
      return runs
    })
  return { count, runs: () => runs }
}

const WRITTEN = `select name from setting where name like 'run %'`

/** Returns a verdict about the first packet that contains a text; all others pass. */
function once(text: string, verdict: Verdict, onMeeting = () => {}) {
  let isOver = false
  return (bytes: Buffer): Verdict => {
    if (isOver || !bytes.includes(text)) return 'pass'
    isOver = true
    onMeeting()
    return verdict
  }
}

test('a COMMIT whose answer is lost counts once: it is looked up, not done again', async () => {
  await using db = await openReached()
  const { count, runs } = openCounted(db.store)
  db.proxy.onAnswer = once(COMMIT, 'cut-before')
  expect(await count()).toBe(1)
  expect(runs()).toBe(1)
  expect(await db.directly(WRITTEN)).toEqual([{ name: 'run 1' }])
  expect(db.committed.map(({ sessions }) => [...sessions])).toEqual([['run 1']])
})

test('so does one whose answer is lost together with those of the writes before it, for which nobody waits', async () => {
  await using db = await openReached()
  let runs = 0
  const write = () =>
    db.store.transact(function* () {
      runs++
      yield* lock('ses_one')
      yield* findSetting.first({ name: 'one' })
      yield* insertSetting.run({ name: `run ${runs}`, value: 'x' })
      return runs
    })
  let isSent = false
  db.proxy.onRequest = once(COMMIT, 'pass', () => {
    isSent = true
  })
  db.proxy.onAnswer = () => (isSent ? 'hold' : 'pass')
  const written = write()
  await expect.poll(() => db.directly(WRITTEN), { interval: 5 }).toEqual([{ name: 'run 1' }])
  isSent = false
  db.proxy.cutAll()
  expect(await written).toBe(1)
  expect(runs).toBe(1)
  expect(await db.directly(WRITTEN)).toEqual([{ name: 'run 1' }])
})

test('a COMMIT that never arrived is found out, and the work done again from its start', async () => {
  await using db = await openReached()
  const { count } = openCounted(db.store)
  db.proxy.onRequest = once(COMMIT, 'cut-before')
  expect(await count()).toBe(2)
  expect(await db.directly(WRITTEN)).toEqual([{ name: 'run 2' }])
  expect(db.committed.map(({ sessions }) => [...sessions])).toEqual([['run 2']])
})

test('a COMMIT that is still under way when its sender is cut off is waited for', async () => {
  await using db = await openReached()
  const { count, runs } = openCounted(db.store)
  const sent = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  db.proxy.onRequest = once(COMMIT, 'lose', sent.resolve)
  const counted = count()
  await sent.promise
  db.proxy.onRequest = once('pg_xact_status', 'pass', asked.resolve)
  await asked.promise
  expect(await db.directly(WRITTEN)).toEqual([])
  db.proxy.release()
  expect(await counted).toBe(1)
  expect(runs()).toBe(1)
  expect(await db.directly(WRITTEN)).toEqual([{ name: 'run 1' }])
})

/** The message of a pooler that has lost the server behind it. */
function saidByPooler(code: string, words: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${words}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

test('a COMMIT that a pooler answers with an error of its own counts once: it is looked up, not done again', async () => {
  await using db = await openReached()
  const { count, runs } = openCounted(db.store)
  db.proxy.onAnswer = once(COMMIT, { instead: saidByPooler('08P01', 'server conn crashed?') })
  expect(await count()).toBe(1)
  expect(runs()).toBe(1)
  expect(await db.directly(WRITTEN)).toEqual([{ name: 'run 1' }])
  expect(await count()).toBe(2)
})

test('a connection that breaks before the COMMIT costs a caller nothing but time', async () => {
  await using db = await openReached()
  const { count } = openCounted(db.store)
  await count()
  db.proxy.cutAll()
  db.proxy.onRequest = once('insert into setting', 'cut-after')
  const last = await count()
  expect(last).toBeGreaterThan(2)
  expect(await db.store.read(() => raw(sql.raw(WRITTEN)))).toEqual([{ name: 'run 1' }, { name: `run ${last}` }])
})

test('while the database is away work waits; when it stays away a caller is told, nothing is written, and later all is well', async () => {
  let isHurried = true
  await using db = await openReached({ nowMs: () => (isHurried ? hurriedClock : systemClock).nowMs(), after: systemClock.after })
  const { count } = openCounted(db.store)
  db.proxy.refuse(true)
  db.proxy.cutAll()
  await expect(count()).rejects.toMatchObject({ code: 'not_ready' })
  await expect(db.store.read(() => findSetting.first({ name: 'x' }))).rejects.toMatchObject({ code: 'not_ready' })
  expect(await db.directly(WRITTEN)).toEqual([])
  expect(db.committed).toEqual([])
  db.proxy.refuse(false)
  isHurried = false
  expect(await count()).toBeGreaterThan(0)
})

test('a database that takes no writes is told as full storage, nothing is written, and reading goes on', async () => {
  let isHurried = false
  await using db = await openReached({ nowMs: () => (isHurried ? hurriedClock : systemClock).nowMs(), after: systemClock.after })
  const { count } = openCounted(db.store)
  const reading = () => db.store.read(() => findSetting.first({ name: 'x' }))
  const [database] = await db.directly('select current_database() as name')
  const readOnly = async (isOn: boolean) => {
    await db.directly(`set default_transaction_read_only = off`)
    await db.directly(`alter database "${database?.name}" set default_transaction_read_only = ${isOn ? 'on' : 'off'}`)
    db.proxy.cutAll()
    // Finds the connection broken and opens a new one, with the patience for that.
    await reading()
  }
  await readOnly(true)
  isHurried = true
  await expect(count()).rejects.toMatchObject({ code: 'storage_full', status: 507 })
  isHurried = false
  expect(await reading()).toBeUndefined()
  expect(db.committed).toEqual([])
  await readOnly(false)
  expect(await count()).toBeGreaterThan(1)
  expect(await db.directly(WRITTEN)).toHaveLength(1)
})

test('two transactions that wait for each other both succeed in the end', async () => {
  await using db = await openReached()
  await db.directly(`insert into setting values ('a', '0'), ('b', '0')`)
  const add = (name: string) => raw(sql`update setting set value = (value::int + 1)::text where name = ${name} returning value`)
  let tries = 0
  const both = (first: string, second: string) =>
    db.store.transact(function* () {
      yield* add(first)
      tries++
      while (tries < 2) yield* raw(sql`select pg_sleep(0.005)`)
      yield* add(second)
    })
  await Promise.all([both('a', 'b'), both('b', 'a')])
  expect(await db.directly(`select value from setting where name in ('a', 'b')`)).toEqual([{ value: '2' }, { value: '2' }])
  expect(db.committed).toHaveLength(2)
  expect(tries).toBeGreaterThan(2)
  // The one that is ended first may begin again before the other is awake, and then they wait for each other once more.
  const circles = await takeCircles(db.url)
  expect(new Set(circles.map((circle) => circle.includes('update setting set value')))).toEqual(new Set([true]))
})

test('who holds a lock keeps others off until the commit; other ids are no hindrance', async () => {
  await using db = await openReached()
  const order: string[] = []
  const hold = (id: string, name: string) =>
    db.store.transact(function* () {
      yield* lock(id)
      const seen = yield* raw<{ n: number }>(sql`select count(*) as n from setting where name like 'lock %'`)
      yield* raw(sql`select pg_sleep(0.02)`)
      yield* insertSetting.run({ name: `lock ${name}`, value: String(seen[0]?.n) })
      order.push(name)
    })
  await Promise.all(['1', '2', '3', '4'].map((name) => hold('ses_one', name)))
  const seen = await db.directly(`select value from setting where name like 'lock %' order by value`)
  expect(seen.map(({ value }) => value)).toEqual(['0', '1', '2', '3'])
  expect(order).toHaveLength(4)
})

test('what can be sent without waiting is: a transaction of two questions and three writes is three packets', async () => {
  await using db = await openReached()
  const write = (name: string) => insertSetting.run({ name, value: 'x' })
  const work = () =>
    db.store.transact(function* () {
      yield* lock('ses_one')
      const before = yield* findSetting.first({ name: 'one' })
      yield* write('one')
      yield* write('two')
      yield* write('three')
      return [before, yield* findSetting.first({ name: 'one' })]
    })
  await work()
  let packets = 0
  db.proxy.onRequest = () => {
    packets++
    return 'pass'
  }
  expect(await work()).toEqual([{ value: 'x' }, { value: 'x' }])
  expect(packets).toBe(3)
})

test('a database that cannot be opened is told by its name, without the password', async () => {
  await using database = await openTestDatabase()
  const open = (change: (url: URL) => void) => {
    const url = new URL(database.url)
    change(url)
    return openPostgres({ url: url.href, onCommitted: () => undefined })
  }
  await expect(open((url) => (url.port = '1'))).rejects.toThrow(
    /^the database test_\w+ at 127\.0\.0\.1:1 cannot be opened: connect ECONNREFUSED/,
  )
  await expect(open((url) => (url.pathname = '/nowhere'))).rejects.toThrow('the database nowhere at 127.0.0.1')
  await expect(open((url) => (url.password = 'guess'))).rejects.toThrow(/cannot be opened: password authentication failed(?!.*guess)/)
})

test('every transaction is bounded by the server, through a pooler in transaction mode as well', async () => {
  await using database = await openTestDatabase()
  for (const directUrl of [undefined, database.url]) {
    const store = await openPostgres({ url: database.url, directUrl, onCommitted: () => undefined })
    const limits = () =>
      raw(sql`select current_setting('statement_timeout') as a, current_setting('lock_timeout') as b,
        current_setting('idle_in_transaction_session_timeout') as c`)
    const bounds = [{ a: '30s', b: '20s', c: '10s' }]
    expect(await store.transact(limits)).toEqual(bounds)
    expect(await store.read(limits)).toEqual(bounds)
    await store.close()
  }
})

test('a reading of one question is one packet; one of several is of one moment, also the first time', async () => {
  await using db = await openReached()
  let packets = 0
  db.proxy.onRequest = () => {
    packets++
    return 'pass'
  }
  await db.store.read(() => findSetting.first({ name: 'one' }))
  packets = 0
  await db.store.read(() => findSetting.first({ name: 'one' }))
  expect(packets).toBe(1)
  // The same query, now the first of two; the second is answered after a concurrent write.
  for (let n = 0; n < 2; n++) {
    const asked = Promise.withResolvers<void>()
    db.proxy.onRequest = once('select 1 as later', 'hold', asked.resolve)
    const seen = db.store.read(function* () {
      const before = yield* findSetting.first({ name: `late ${n}` })
      yield* raw(sql`select 1 as later`)
      return [before, yield* findSetting.first({ name: `late ${n}` })]
    })
    await asked.promise
    await db.directly(`insert into setting values ('late ${n}', 'x')`)
    db.proxy.release()
    expect(await seen).toEqual([undefined, undefined])
  }
})
