import { expect, test } from 'vitest'
import { runTalks } from './run-talks.ts'

test('what drawn conversations of the AI SDK are sent is what its own parser, schema and reader prescribe, also when it is cut at any byte', async () => {
  const { violations, aiSdk } = await runTalks({ seed: 2, talks: 6, isOver: () => false, say: () => undefined })
  expect(violations).toEqual([])
  expect(aiSdk.streams).toBeGreaterThan(15)
  expect(aiSdk.cuts).toBeGreaterThan(10_000)
})
