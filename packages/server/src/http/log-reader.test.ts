import { expect, test } from 'vitest'
import type { Tx } from '../store/index.ts'
import { createLogReader } from './log-reader.ts'

/** Reads that the test completes, and the list of those that have begun. */
function openReads() {
  const begun: { answer(value: unknown): void; fail(error: Error): void }[] = []
  const logs = createLogReader({
    read: <T>() => new Promise<T>((answer, fail) => begun.push({ answer: answer as (value: unknown) => void, fail })),
  })
  // biome-ignore lint/correctness/useYield: what is read does not matter here
  const nothing = function* (): Tx<unknown> {
    return undefined
  }
  return { begun, read: (what: string) => logs.read(nothing, what) }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('two readings at a time, the others in their turn, also behind one that fails', async () => {
  const { begun, read } = openReads()
  const answers = ['a', 'b', 'c', 'd'].map(read)
  await settled()
  expect(begun).toHaveLength(2)
  begun[0]?.answer(1)
  await settled()
  expect(begun).toHaveLength(3)
  begun[1]?.fail(new Error('the database is away'))
  await expect(answers[1]).rejects.toThrow('the database is away')
  await settled()
  expect(begun).toHaveLength(4)
  for (const [i, one] of begun.entries()) one.answer(i)
  expect(await Promise.all([answers[0], answers[2], answers[3]])).toEqual([1, 2, 3])
})

test('readings of the same that wait are one; one that has begun is not shared: it may be older than what its reader has heard', async () => {
  const { begun, read } = openReads()
  const early = read('page')
  const other = read('another')
  await settled()
  const waiting = Array.from({ length: 100 }, () => read('page'))
  begun[0]?.answer('old')
  begun[1]?.answer('other')
  await settled()
  expect(begun).toHaveLength(3)
  begun[2]?.answer('new')
  expect([await early, await other]).toEqual(['old', 'other'])
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['new']))
})
