import { expect, test } from 'vitest'
import { runAgUiTalks } from './ag-ui/talks.ts'
import { runAiSdkTalks } from './ai-sdk-talks.ts'

const run = { seed: 2, talks: 6, isOver: () => false, say: () => undefined }

// Without a free core this took 380 s.
test('what drawn conversations of the AI SDK are sent is what its own parser, schema and reader prescribe, also when it is cut at any byte', {
  timeout: 900_000,
}, async () => {
  const { violations, figures } = await runAiSdkTalks(run)
  expect(violations).toEqual([])
  expect(figures.streams).toBeGreaterThan(15)
  expect(figures.cuts).toBeGreaterThan(10_000)
})

test('what drawn conversations of AG-UI are sent is what its own schemas and verifier prescribe, a page that is cut at any event is told the rest, and a broken stream is refused', async () => {
  const { violations, missing, figures } = await runAgUiTalks({ ...run, talks: 3 })
  expect(violations).toEqual([])
  expect(missing).toEqual([])
  expect(figures.cuts).toBeGreaterThan(50)
  expect(figures.broken).toBeGreaterThan(200)
})
