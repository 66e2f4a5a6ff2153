import { Writable } from 'node:stream'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { manualClock } from '../../../../verification/testing/manual-clock.ts'
import { openTempSqlite, STORES } from '../../../../verification/testing/temp-store.ts'
import { openConfig } from '../config/index.ts'
import { findAnswer, keepAnswer, type Store } from '../store/index.ts'
import { startRetention } from './retention.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const sessionLimits = { idleMs: HOUR_MS, maxMs: 24 * HOUR_MS }

const onceOf = (key: string) => ({ scope: 'prn_ana', key, requestHash: 'h' })

const saveAnswer = (store: Store, key: string, atMs: number) => store.transact(() => keepAnswer(onceOf(key), atMs, true))

const isKept = async (store: Store, key: string) => (await store.read(() => findAnswer(onceOf(key)))) !== undefined

/** A log, and a promise of its next line of one event. */
function openLog() {
  const lines: { msg: string; rows?: string; deleted?: number }[] = []
  let heard = Promise.withResolvers<void>()
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)))
      heard.resolve()
      heard = Promise.withResolvers()
      done()
    },
  })
  return {
    lines,
    log: pino({ level: 'debug' }, sink),
    async until(count: number) {
      while (lines.length < count) await heard.promise
    },
  }
}

test.each(STORES)(
  'old rows are deleted a minute after the start and then every ten minutes, however many there are ($database)',
  async ({ open }) => {
    await using temp = await open()
    const { store } = temp
    const clock = manualClock()
    const { log, lines, until } = openLog()
    await Promise.all(Array.from({ length: 250 }, (_, i) => saveAnswer(store, `k${i}`, clock.nowMs() - 25 * HOUR_MS)))
    await saveAnswer(store, 'next', clock.nowMs() - 24 * HOUR_MS + 5 * MINUTE_MS)
    await using retention = startRetention({ store, clock, log, sessionLimits })
    expect(clock.waits).toEqual([MINUTE_MS])
    clock.pass(MINUTE_MS)
    await until(2)
    expect(lines[0]).toMatchObject({ msg: 'retention.deleted', rows: 'once', deleted: 250 })
    expect(await isKept(store, 'next')).toBe(true)
    expect(clock.waits).toEqual([10 * MINUTE_MS])
    clock.pass(10 * MINUTE_MS)
    await until(4)
    expect(lines[2]).toMatchObject({ msg: 'retention.deleted', rows: 'once', deleted: 1 })
    expect(await isKept(store, 'next')).toBe(false)
    await retention[Symbol.asyncDispose]()
    expect(clock.waits).toEqual([])
  },
)

test('a round that fails is logged and made again; the other tables are cleaned all the same', async () => {
  await using temp = await openTempSqlite()
  const clock = manualClock()
  const { log, lines, until } = openLog()
  await saveAnswer(temp.store, 'old', clock.nowMs() - 25 * HOUR_MS)
  let isAway = true
  // The database is unreachable for the first query of the first round.
  const store: Store = {
    ...temp.store,
    transact: (work) => {
      if (!isAway) return temp.store.transact(work)
      isAway = false
      return Promise.reject(new Error('the database is away'))
    },
  }
  await using _retention = startRetention({ store, clock, log, sessionLimits })
  clock.pass(MINUTE_MS)
  await until(2)
  expect(lines).toMatchObject([{ msg: 'retention.failed', rows: 'once' }, { msg: 'retention.round_ended' }])
  clock.pass(10 * MINUTE_MS)
  await until(3)
  expect(lines[2]).toMatchObject({ msg: 'retention.deleted', rows: 'once', deleted: 1 })
})

test('rows are kept for as long as the configuration says', async () => {
  await using temp = await openTempSqlite()
  const clock = manualClock()
  const { log, lines, until } = openLog()
  await saveAnswer(temp.store, 'three hours', clock.nowMs() - 3 * HOUR_MS)
  await saveAnswer(temp.store, 'one hour', clock.nowMs() - HOUR_MS)
  const { retention: limits } = await openConfig({ retention: { idempotencyKeys: 'PT2H' } }, { environment: {}, folder: '/' })
  await using _retention = startRetention({ store: temp.store, clock, log, limits, sessionLimits })
  clock.pass(MINUTE_MS)
  await until(2)
  expect(lines[0]).toMatchObject({ msg: 'retention.deleted', rows: 'once', deleted: 1 })
  expect([await isKept(temp.store, 'three hours'), await isKept(temp.store, 'one hour')]).toEqual([false, true])
})
