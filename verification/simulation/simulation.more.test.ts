import { expect, test } from 'vitest'
import { runSimulation } from './run.ts'

/** A failure names the seed; `npm run test:campaign -- --world SEED` prints what happened in it. */
test('whatever fails and whoever dies: nothing runs unapproved or twice, nothing is lost, nobody is told what is not so', async () => {
  const { violations, seeds, ms } = await runSimulation({ seeds: 100 })
  console.log(`simulation: ${seeds} worlds, ${Math.round((seeds / ms) * 1_000)} a second`)
  expect(violations).toEqual([])
})

test('the same seed lives the same world, on whichever thread', async () => {
  const worlds = { seeds: 30, withDigests: true }
  const [one, two] = [await runSimulation({ ...worlds, threads: 2 }), await runSimulation({ ...worlds, threads: 1 })]
  expect(one.digests.size).toBe(30)
  expect([...one.digests].sort(([a], [b]) => a - b)).toEqual([...two.digests].sort(([a], [b]) => a - b))
})

test.each([
  ['the database refuses a commit while a hold ends: the work that was left begins all the same', 45_100_750_142],
  ['the same with a queued message', 235_500_290],
])('%s', async (_name, firstSeed) => {
  const { violations } = await runSimulation({ seeds: 1, firstSeed })
  expect(violations).toEqual([])
})
