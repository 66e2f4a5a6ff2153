import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { manualClock } from '../../../../verification/testing/manual-clock.ts'
import { createTimers } from './timers.ts'

const DAY_MS = 86_400_000

/** Timers whose work returns the given answers: in how many ms to look again, or an error. */
function open(...answers: (number | undefined | Error | Promise<number | undefined>)[]) {
  const clock = manualClock()
  const firedAt: number[] = []
  const failures: unknown[] = []
  const signals: AbortSignal[] = []
  const startMs = clock.nowMs()
  const timers = createTimers({ clock, background: (work) => void work.catch((error) => failures.push(error)) })
  const start = () =>
    timers.start({
      doWhatIsDue: async (signal) => {
        signals.push(signal)
        firedAt.push(clock.nowMs() - startMs)
        const answer = await answers.shift()
        if (answer instanceof Error) throw answer
        return answer
      },
    })
  return { clock, timers, firedAt, failures, signals, start, at: (ms: number) => startMs + ms }
}

test('a start looks at once at what became due while no process ran, then when the work says', async () => {
  const { clock, firedAt, start } = open(1_500, undefined)
  start()
  await turn()
  expect(firedAt).toEqual([0])
  clock.pass(1_499)
  expect(firedAt).toEqual([0])
  clock.pass(1)
  await turn()
  expect(firedAt).toEqual([0, 1_500])
  expect(clock.waits).toEqual([])
})

test('one timer is armed, for the earliest time that was named; nothing due arms none', async () => {
  const { clock, timers, firedAt, start, at } = open()
  start()
  await turn()
  expect(clock.waits).toEqual([])
  for (const ms of [9_000, 3_000, 5_000]) timers.arm(at(ms))
  expect(clock.waits).toEqual([3_000])
  clock.pass(3_000)
  await turn()
  expect(firedAt).toEqual([0, 3_000])
})

test('what was due long ago fires at once', () => {
  const { clock, timers, firedAt, start, at } = open()
  start()
  timers.arm(at(-DAY_MS))
  clock.pass(0)
  expect(firedAt).toHaveLength(1)
  expect(clock.waits).toEqual([])
})

test('months ahead is looked at every minute and never early: no wait is longer than a timer can hold', async () => {
  const { clock, timers, start, at } = open(undefined, 90 * DAY_MS - 60_000)
  start()
  await turn()
  timers.arm(at(90 * DAY_MS))
  expect(clock.waits).toEqual([60_000])
  clock.pass(60_000)
  await turn()
  expect(clock.waits).toEqual([60_000])
})

test('a clock that is set ahead, or a machine that slept, is noticed within a minute', async () => {
  const { clock, timers, firedAt, start, at } = open()
  start()
  await turn()
  timers.arm(at(DAY_MS))
  clock.set(at(2 * DAY_MS))
  clock.pass(60_000)
  await turn()
  expect(firedAt).toEqual([0, 2 * DAY_MS + 60_000])
})

test('a time that is named while a firing is under way is not lost, and firings never overlap', async () => {
  const slow = Promise.withResolvers<number | undefined>()
  const { clock, timers, firedAt, start, at } = open(slow.promise, undefined, undefined)
  start()
  await turn()
  timers.arm(at(100))
  timers.rearm()
  clock.pass(100)
  await turn()
  expect(firedAt).toEqual([0])
  slow.resolve(undefined)
  await turn()
  expect(firedAt).toEqual([0, 100])
})

test('a failure is told and tried again', async () => {
  const { clock, firedAt, failures, start } = open(new Error('the database is away'), undefined)
  start()
  await turn()
  expect(failures).toMatchObject([{ message: 'the database is away' }])
  clock.pass(5_000)
  await turn()
  expect(firedAt).toEqual([0, 5_000])
})

test('after stop nothing fires, and the firing under way is told to end', async () => {
  const { clock, timers, firedAt, signals, start, at } = open(1)
  start()
  expect(signals[0]?.aborted).toBe(false)
  timers.stop()
  expect(signals[0]?.aborted).toBe(true)
  await turn()
  timers.arm(at(0))
  timers.rearm()
  clock.pass(DAY_MS)
  await turn()
  expect(firedAt).toEqual([0])
  expect(clock.waits).toEqual([])
})
