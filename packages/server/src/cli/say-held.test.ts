import { expect, test } from 'vitest'
import { openInWords } from './say-held.ts'

const approved = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ state: 'approved' as const, tool: 'pay', description: `${n}` }))

test('the open actions of a copy are counted by what becomes of them, and ten of them are named', () => {
  const counts = { approved: 12, executing: 2, waiting: 1, outcomeUnknown: 3 }
  expect(openInWords({ counts, first: approved(10) })).toEqual([
    '12 approved actions, which may start:',
    ...approved(10).map(({ description }) => `  pay: ${description}`),
    '  and 2 more',
    '2 that were under way, and their outcome becomes unknown',
    '1 that waits for a decision',
    '3 whose outcome is unknown',
  ])
})

test('a copy without open actions says so, and a single action is one action', () => {
  const none = { approved: 0, executing: 0, waiting: 0, outcomeUnknown: 0 }
  expect(openInWords({ counts: none, first: [] })).toEqual(['no open actions'])
  expect(openInWords({ counts: { ...none, approved: 1 }, first: approved(1) })).toEqual(['1 approved action, which may start:', '  pay: 0'])
})
