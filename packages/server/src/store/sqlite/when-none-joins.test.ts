import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { whenNoneJoins } from './when-none-joins.ts'

function open() {
  const commits: number[] = []
  let size = 1
  let turn = 0
  whenNoneJoins(
    () => commits.push(turn),
    () => size,
  )
  return {
    commits,
    /** More transactions begin, and the turn ends. */
    async join(count: number) {
      size += count
      await nextTurn()
      turn++
    },
  }
}

test('a transaction that nobody joins is committed at the end of its turn', async () => {
  const it = open()
  await it.join(0)
  expect(it.commits).toEqual([0])
})

test('while turns bring more transactions a commit waits for them, two turns at most, and is made once', async () => {
  const joined = open()
  for (const count of [3, 1, 0, 0]) await joined.join(count)
  expect(joined.commits).toEqual([2])
  const endless = open()
  for (const count of [1, 1, 1, 1, 1]) await endless.join(count)
  expect(endless.commits).toEqual([2])
})
