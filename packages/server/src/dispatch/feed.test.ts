import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { manualClock } from '../../../../verification/testing/manual-clock.ts'
import { createFeed } from './feed.ts'

/** A feed on a log whose length the test sets; `read` holds its answer until the test releases it. */
function open() {
  const clock = manualClock()
  const begin = Promise.withResolvers<number>()
  const log = { length: 0, againMs: undefined as number | undefined, failure: undefined as Error | undefined }
  const handed: number[] = []
  const failures: unknown[] = []
  let gate: PromiseWithResolvers<void> | undefined
  const feed = createFeed({
    clock,
    begin: () => begin.promise,
    async read(place) {
      const { length, againMs, failure } = log
      await gate?.promise
      if (failure) throw failure
      for (let at = place + 1; at <= length; at++) handed.push(at)
      return { place: length, againMs }
    },
    onFailure: (error) => failures.push(error),
  })
  const hold = () => {
    gate = Promise.withResolvers()
    return gate.resolve
  }
  return { clock, begin, log, handed, failures, feed, hold }
}

test('what is told of while the feed is being put in place is read when it is', async () => {
  const { begin, log, handed, feed } = open()
  log.length = 3
  feed.wake()
  await turn()
  expect(handed).toEqual([])
  begin.resolve(1)
  await feed.ready
  await turn()
  expect(handed).toEqual([2, 3])
  expect(feed.restsAt).toBe(3)
})

test('what is told of during a reading is read after it, by one reading', async () => {
  const { begin, log, handed, feed, hold } = open()
  begin.resolve(0)
  await feed.ready
  const letGo = hold()
  log.length = 1
  feed.wake()
  log.length = 3
  for (let told = 0; told < 3; told++) feed.wake()
  expect(feed.restsAt).toBeUndefined()
  letGo()
  await turn()
  expect(handed).toEqual([1, 2, 3])
  expect(feed.restsAt).toBe(3)
})

test('a reading that fails is tried again by itself, from the same place', async () => {
  const { clock, begin, log, handed, failures, feed } = open()
  begin.resolve(0)
  await feed.ready
  log.length = 2
  log.failure = new Error('the database is away')
  feed.wake()
  await turn()
  expect(failures).toEqual([log.failure])
  log.failure = undefined
  clock.pass(1_000)
  await turn()
  expect(handed).toEqual([1, 2])
})

test('it looks again unasked when the log says so, and no more once it is closed', async () => {
  const { clock, begin, log, handed, feed } = open()
  begin.resolve(0)
  await feed.ready
  log.againMs = 50
  feed.wake()
  await turn()
  log.length = 1
  clock.pass(60)
  await turn()
  expect(handed).toEqual([1])
  feed.close()
  log.length = 2
  clock.pass(60)
  feed.wake()
  await turn()
  expect(handed).toEqual([1])
})

test('what was handed over otherwise is not read again', async () => {
  const { begin, log, handed, feed } = open()
  begin.resolve(0)
  await feed.ready
  feed.skipTo(2)
  log.length = 3
  feed.wake()
  await turn()
  expect(handed).toEqual([3])
})
