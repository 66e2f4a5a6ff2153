import { expect, test } from 'vitest'
import { readUntil } from './read-until.ts'

test('a change between the first reading and the listening is not missed', async () => {
  let value = 'waiting'
  const answer = await readUntil({
    // A reader that read before this has the old value, and gets no further notice.
    listen: async () => {
      value = 'decided'
      return () => {}
    },
    read: async () => value,
    isEnough: (read) => read === 'decided',
    // It first returns what it has read.
    giveUp: AbortSignal.abort(),
  })
  expect(answer).toBe('decided')
})
