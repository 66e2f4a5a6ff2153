import { expect, test } from 'vitest'
import { newestRead } from './newest-read.ts'

test('an answer that comes late does not bring back what a later read no longer found', async () => {
  const answers: PromiseWithResolvers<string>[] = []
  const shown: string[] = []
  const reload = newestRead(
    () => {
      const answer = Promise.withResolvers<string>()
      answers.push(answer)
      return answer.promise
    },
    (value) => shown.push(value),
  )
  const reads = [reload(), reload(), reload()]
  answers[1]?.resolve('one waits')
  await reads[1]
  answers[0]?.resolve('two wait')
  await reads[0]
  answers[2]?.resolve('nothing waits')
  await reads[2]
  expect(shown).toEqual(['one waits', 'nothing waits'])
})

test('a read that fails says so, and hinders no other', async () => {
  const shown: number[] = []
  let count = 0
  const reload = newestRead(
    async () => {
      if (++count === 2) throw new Error('away')
      return count
    },
    (value) => shown.push(value),
  )
  await reload()
  await expect(reload()).rejects.toThrow('away')
  await reload()
  expect(shown).toEqual([1, 3])
})
