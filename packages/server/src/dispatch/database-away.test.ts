import { expect, test } from 'vitest'
import { manualClock } from '../../../../verification/testing/manual-clock.ts'
import { unlessDatabaseIsAway } from './database-away.ts'

function stop() {
  const clock = manualClock()
  const warned: string[] = []
  const work = Promise.withResolvers<void>()
  const database = { silentMs: 0 }
  const log = { warn: (_fields: unknown, name?: string) => void warned.push(String(name)) }
  const isWhole = unlessDatabaseIsAway(work.promise, { clock, silentMs: () => database.silentMs, log })
  return { clock, warned, work, database, isWhole }
}

test('a stop ends within three seconds when the database does not answer, and what fails later is logged', async () => {
  const it = stop()
  it.database.silentMs = 60_000
  it.clock.pass(3_000)
  expect(await it.isWhole).toBe(false)
  expect(it.clock.waits).toEqual([])
  it.work.reject(new Error('not_ready'))
  await expect.poll(() => it.warned).toEqual(['server.stopped_without_database', 'server.stop_failed'])
})

test('a stop waits for its work as long as the database answers, whatever it takes', async () => {
  const it = stop()
  it.clock.pass(600_000)
  it.work.resolve()
  expect([await it.isWhole, it.warned, it.clock.waits]).toEqual([true, [], []])
})

test('a database that comes back in time is waited for anew', async () => {
  const it = stop()
  for (let n = 0; n < 3; n++) {
    it.database.silentMs = 5_000
    it.clock.pass(2_000)
    it.database.silentMs = 0
    it.clock.pass(500)
  }
  it.work.resolve()
  expect([await it.isWhole, it.warned]).toEqual([true, []])
})

test('a stop that fails while the database answers throws what went wrong', async () => {
  const it = stop()
  it.work.reject(new Error('a bug'))
  await expect(it.isWhole).rejects.toThrow('a bug')
  expect(it.clock.waits).toEqual([])
})
