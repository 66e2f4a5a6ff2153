import { expect, test } from 'vitest'
import { judgeCard } from './judge-card.ts'
import { runWorld } from './run-world.ts'

test('over drawn services nothing approved is asked again, and no card says what is not so or keeps a change back', async () => {
  const run = await runWorld({ documents: 12, calls: 8, seed: 12 })
  expect(run).toEqual({ documents: 12, calls: 96, violations: [] })
})

test('the judge of cards finds what is shown as removed and stays, what has no old value, and what is kept back', () => {
  const truth = {
    before: { name: 'a', note: 'b', amount: 1 },
    after: { name: 'a', note: 'c', amount: 2 },
    sent: { note: 'c', amount: 2 },
    counters: [],
  }
  const good = [
    { field: 'amount', oldValue: 1, newValue: 2 },
    { field: 'note', oldValue: 'b', newValue: 'c' },
  ]
  expect(judgeCard(good, truth)).toEqual([])
  expect(judgeCard([...good, { field: 'name', oldValue: 'a' }], truth)).toEqual(['name is shown as removed and stays'])
  expect(judgeCard([{ field: 'amount', newValue: 2 }], truth)).toEqual([
    'amount has no old value',
    'note changes and is not shown',
    'note is sent and not shown',
  ])
})
