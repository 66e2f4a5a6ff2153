import { expect, test } from 'vitest'
import { manualClock } from '../../../../verification/testing/manual-clock.ts'
import { createConcurrencyLimiter } from './concurrency-limiter.ts'

/** Work that records the order in which it began, and ends when the test ends it. */
function openWork(count: number) {
  const limiter = createConcurrencyLimiter(count)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  let inFlight = 0
  let most = 0
  const run = (kind: string, name: string) =>
    limiter.run(kind, async () => {
      begun.push(name)
      most = Math.max(most, ++inFlight)
      await new Promise<void>((resolve) => ends.set(name, resolve))
      inFlight--
    })
  /** Ends a piece of work, and lets the next of its kind begin. */
  const end = async (name: string) => {
    ends.get(name)?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { limiter, run, end, begun, most: () => most }
}

test('no more than the slots at the same time, the others first come first served', async () => {
  const { run, end, begun, most } = openWork(4)
  const names = Array.from({ length: 10 }, (_, i) => `${i}`)
  const all = names.map((name) => run(name, name))
  expect(begun).toEqual(['0', '1', '2', '3'])
  await end('2')
  expect(begun).toEqual(['0', '1', '2', '3', '4'])
  for (const name of ['4', '0', '1', '3', '5', '6', '7', '8', '9']) await end(name)
  await Promise.all(all)
  expect(begun).toEqual(names)
  expect(most()).toBe(4)
})

test('one kind takes half of the slots, so that a slow tool keeps no other from its turn', async () => {
  const { run, end, begun } = openWork(4)
  const slow = ['s1', 's2', 's3', 's4'].map((name) => run('slow', name))
  const quick = ['q1', 'q2', 'q3'].map((name) => run(`tool of ${name}`, name))
  expect(begun).toEqual(['s1', 's2', 'q1', 'q2'])
  await end('q1')
  expect(begun.at(-1)).toBe('q3')
  await end('q2')
  expect(begun).toHaveLength(5)
  await end('s2')
  expect(begun.at(-1)).toBe('s3')
  for (const name of ['s1', 's3', 's4', 'q3']) await end(name)
  await Promise.all([...slow, ...quick])
  expect(begun).toHaveLength(7)
})

test('work that fails gives its slot back', async () => {
  const limiter = createConcurrencyLimiter(1)
  await expect(limiter.run('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  let ran = false
  await limiter.run('a', async () => {
    ran = true
  })
  expect(ran).toBe(true)
})

test('a closed limiter sends waiting work away and lets running work end', async () => {
  const { limiter, run, end, begun } = openWork(1)
  const first = run('a', 'first')
  const second = run('a', 'second')
  limiter.close()
  await second
  await run('a', 'third')
  await end('first')
  await first
  expect(begun).toEqual(['first'])
})

test('work whose wait ends does not begin and leaves its turn to the next', async () => {
  const clock = manualClock()
  const limiter = createConcurrencyLimiter(1)
  const first = Promise.withResolvers<void>()
  const running = limiter.run('a', () => first.promise)
  const begun: string[] = []
  const short = limiter.run('a', async () => void begun.push('short'), { clock, ms: 1_000 })
  const long = limiter.run('a', async () => void begun.push('long'), { clock, ms: 2_000 })
  expect(limiter.waiting).toBe(2)
  clock.pass(1_000)
  expect(await short).toBe(false)
  first.resolve()
  expect([await running, await long]).toEqual([true, true])
  clock.pass(1_000)
  expect(begun).toEqual(['long'])
})

test('the room is what neither runs nor waits', async () => {
  const limiter = createConcurrencyLimiter(3, 3)
  const end = Promise.withResolvers<void>()
  expect(limiter.room).toBe(3)
  const all = [1, 2, 3, 4].map(() => limiter.run('a', () => end.promise))
  expect([limiter.room, limiter.waiting]).toEqual([0, 1])
  end.resolve()
  await Promise.all(all)
  expect(limiter.room).toBe(3)
})
