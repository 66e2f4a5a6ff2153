import { expect, test } from 'vitest'
import { readUntil } from './read-until.ts'

test('a change between the first reading and the listening is not missed', async () => {
  let value = 'waiting'
  const answer = await readUntil({
    // Who has read before this has read the old value, and is told of nothing more.
    listen: async () => {
      value = 'decided'
      return () => {}
    },
    read: async () => value,
    isEnough: (read) => read === 'decided',
    // It answers with what it has read first.
    giveUp: AbortSignal.abort(),
  })
  expect(answer).toBe('decided')
})
