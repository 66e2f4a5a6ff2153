import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openFaultProxy, throughProxy } from '../../../../../verification/testing/fault-proxy.ts'
import { openTestDatabase } from '../../../../../verification/testing/test-database.ts'
import { createLog } from '../../log.ts'
import { processes, thisMachine } from '../../store/index.ts'
import { GRACE_MS, RETURN_MS } from './failure-detector.ts'
import { openProcesses, type Processes, type ProcessWork } from './processes.ts'

/** A database and processes on it that end with the test. `sql` stands for an operator with psql. */
async function openDesk() {
  const database = await openTestDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const psql = new Client({ connectionString: database.url })
  await psql.connect()
  onTestFinished(() => psql.end())
  return {
    url: database.url,
    async start(work: Partial<ProcessWork> = {}, url = database.url, machine = thisMachine): Promise<Processes> {
      const one = await openProcesses({ url, name: 'test', version: '1', machine, log: createLog('silent') })
      onTestFinished(() => one.leave(true))
      one.start({ takeOver: async () => {}, beginAnew: () => {}, ...work })
      return one
    },
    async sql(text: string, values: unknown[] = []) {
      return (await psql.query(text, values)).rows
    },
  }
}

/** This machine, except that its clocks advance only when a test advances them: no timeout passes however busy the machine is. */
function stillMachine() {
  let nowMs = thisMachine.steadyMs()
  let aheadMs = thisMachine.clock.nowMs() - nowMs
  return {
    machine: { ...thisMachine, steadyMs: () => nowMs, clock: { ...thisMachine.clock, nowMs: () => nowMs + aheadMs } },
    /** The machine is suspended for so long: the steady clock of Linux does not count that. */
    suspend: (ms: number) => {
      aheadMs += ms
    },
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

/** Records the processes that were taken over; `next` resolves with the next one. */
function taker() {
  const taken: string[] = []
  let wake = Promise.withResolvers<void>()
  return {
    taken,
    takeOver: async ({ id }: { id: string }) => {
      taken.push(id)
      wake.resolve()
    },
    async next(): Promise<void> {
      await wake.promise
      wake = Promise.withResolvers()
    },
  }
}

const GHOST = `insert into process (id, name, version, pools, backend, started_at, seen_at)
  values ($1, 'ghost', '1', '["pool-1"]', 0, 0, extract(epoch from clock_timestamp()) * 1000)`

/** Resolves when `one` has looked at the others again: two beats, because the first may have begun before. */
async function looksAgain(desk: Awaited<ReturnType<typeof openDesk>>, one: Processes): Promise<void> {
  const seen = async () => (await desk.sql('select seen_at from process where id = $1', [one.id]))[0]?.seen_at
  for (let beats = 0; beats < 2; beats++) {
    const before = await seen()
    await expect.poll(seen).not.toBe(before)
  }
}

/** The way of one process to the database. */
async function openProxy(databaseUrl: string) {
  const { hostname: host, port } = new URL(databaseUrl)
  const proxy = await openFaultProxy({ host, port: Number(port) })
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  return proxy
}

test('a process that lost its connection has the same id when it is back in time, and nobody took it over', async () => {
  const desk = await openDesk()
  const { taken, takeOver } = taker()
  const { machine, pass } = stillMachine()
  const [one, other] = await Promise.all([desk.start(), desk.start({ takeOver }, undefined, machine)])
  const { id } = one
  await desk.sql('select pg_terminate_backend(backend, 5000) from process where id = $1', [id])
  pass(GRACE_MS - 1)
  const ofThisDatabase = `locktype = 'advisory' and classid = $1 and database = (select oid from pg_database where datname = current_database())`
  const held = () => desk.sql(`select count(*)::int as held from pg_locks where ${ofThisDatabase}`, [0x4353])
  // The end of the connection and the reconnect are noticed at different times: until then, only the other's lock is held.
  await expect.poll(held).toEqual([{ held: 2 }])
  await looksAgain(desk, other)
  expect(one.id).toBe(id)
  expect(taken).toEqual([])
})

test('after a time without the database, whoever is back first takes over from nobody who comes back, too', async () => {
  const desk = await openDesk()
  const { taken, takeOver } = taker()
  const proxies = [await openProxy(desk.url), await openProxy(desk.url)] as const
  const { machine, pass } = stillMachine()
  const [first, second] = [
    await desk.start({ takeOver }, throughProxy(desk.url, proxies[0]), machine),
    await desk.start({}, throughProxy(desk.url, proxies[1])),
  ]
  const ids = [first.id, second.id]
  for (const proxy of proxies) {
    proxy.refuse(true)
    proxy.cutAll()
  }
  for (const one of [first, second]) await expect.poll(() => one.isAlive).toBe(false)
  await desk.sql('update process set seen_at = seen_at - 60000')
  proxies[0].refuse(false)
  await expect.poll(() => first.isAlive).toBe(true)
  // Longer than the usual grace period, and shorter than the one that applies now.
  pass(RETURN_MS - 1)
  await looksAgain(desk, first)
  expect(taken).toEqual([])
  proxies[1].refuse(false)
  await expect.poll(() => second.isAlive).toBe(true)
  await looksAgain(desk, first)
  expect([first.id, second.id]).toEqual(ids)
  expect(taken).toEqual([])
})

test('when the database moves to another machine, a process that waits for the old address is not taken over', async () => {
  const desk = await openDesk()
  const { taken, takeOver } = taker()
  const proxies = [await openProxy(desk.url), await openProxy(desk.url)] as const
  const { machine, pass } = stillMachine()
  const first = await desk.start({ takeOver }, throughProxy(desk.url, proxies[0]), machine)
  const second = await desk.start({}, throughProxy(desk.url, proxies[1]))
  const { id } = second
  const hangs = Promise.withResolvers<void>()
  proxies[1].onRequest = () => {
    hangs.resolve()
    return 'hold'
  }
  proxies[1].cutAll()
  await hangs.promise
  // The next connections are served, and the first process is the one that notices.
  proxies[1].onRequest = () => 'pass'
  proxies[0].refuse(true)
  proxies[0].cutAll()
  await expect.poll(() => first.isAlive).toBe(false)
  proxies[0].refuse(false)
  await expect.poll(() => first.isAlive).toBe(true)
  await looksAgain(desk, first)
  // The attempt ends after 5 s, and the next one begins half a second later.
  pass(5_500)
  await looksAgain(desk, first)
  expect(taken).toEqual([])
  await expect.poll(() => second.isAlive).toBe(true)
  await looksAgain(desk, first)
  expect([second.id, taken]).toEqual([id, []])
})

test('a process that is gone is taken over by exactly one of several, and forgotten', async () => {
  const desk = await openDesk()
  const takers = [taker(), taker(), taker()]
  await Promise.all(takers.map(({ takeOver }) => desk.start({ takeOver })))
  await desk.sql(GHOST, ['prc_ghost'])
  await Promise.race(takers.map(({ next }) => next()))
  await expect.poll(() => desk.sql(`select id from process where name = 'ghost'`)).toEqual([])
  expect(takers.flatMap(({ taken }) => taken)).toEqual(['prc_ghost'])
})

test('who fails at taking over tries again; who dies at it is itself taken over, and the first one too', async () => {
  const desk = await openDesk()
  let failures = 0
  const second = taker()
  const stuck = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const one = await desk.start({
    async takeOver() {
      if (++failures === 1) throw new Error('the database hiccups')
      begun.resolve()
      await stuck.promise
    },
  })
  await desk.sql(GHOST, ['prc_ghost'])
  await begun.promise
  expect(failures).toBe(2)

  await desk.start({ takeOver: second.takeOver })
  await one.leave(false)
  await expect.poll(() => second.taken.toSorted()).toEqual(['prc_ghost', one.id].toSorted())
  stuck.resolve()
})

test('a frozen process, whose connection lives, is ended and taken over', async () => {
  const desk = await openDesk()
  const { takeOver, next, taken } = taker()
  await desk.start({ takeOver })
  // Registered like any other process, but it never reports again.
  const frozen = new Client({ connectionString: desk.url })
  const ended = Promise.withResolvers<void>()
  frozen.on('error', () => {}).on('end', ended.resolve)
  await frozen.connect()
  await processes.registerProcess(frozen, { id: 'prc_frozen', name: 'frozen', version: '1', pools: [] })
  await desk.sql('update process set seen_at = seen_at - 60000 where id = $1', ['prc_frozen'])
  await next()
  await ended.promise
  expect(taken).toEqual(['prc_frozen'])
})

test('a process that was taken over meanwhile goes on under a new id and says so', async () => {
  const desk = await openDesk()
  const anew = Promise.withResolvers<string>()
  const one = await desk.start({ beginAnew: anew.resolve })
  const { id } = one
  await desk.sql('delete from process where id = $1', [id])
  expect(await anew.promise).toBe(id)
  await one.whenAlive()
  expect(one.id).not.toBe(id)
  expect(await desk.sql('select id from process')).toEqual([{ id: one.id }])
})

test('nothing counts as alive while the connection is down or nobody answered for long', async () => {
  const desk = await openDesk()
  const one = await desk.start()
  await one.whenAlive()
  expect(one.isAlive).toBe(true)
  await one.leave(true)
  expect(one.isAlive).toBe(false)
  expect(await desk.sql('select id from process')).toEqual([])
})

test('a process whose machine was suspended is not alive until the database has answered it again', async () => {
  const desk = await openDesk()
  const { machine, suspend } = stillMachine()
  const { taken, takeOver } = taker()
  const one = await desk.start({ takeOver }, undefined, machine)
  await one.whenAlive()
  expect(one.isAlive).toBe(true)
  suspend(3_600_000)
  expect(one.isAlive).toBe(false)
  await one.whenAlive()
  expect([one.isAlive, taken]).toEqual([true, []])
})

test('the clock is the database’s', async () => {
  const desk = await openDesk()
  const databaseMs = async () => (await desk.sql('select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now'))[0]?.now
  // The machine's own clock is an hour fast.
  const { machine } = stillMachine()
  const clock = { ...machine.clock, nowMs: () => machine.clock.nowMs() + 3_600_000 }
  const before = await databaseMs()
  const one = await desk.start({}, desk.url, { ...machine, clock })
  await one.whenAlive()
  expect(one.clock.nowMs()).toBeGreaterThanOrEqual(before)
  expect(one.clock.nowMs()).toBeLessThanOrEqual(await databaseMs())
})
