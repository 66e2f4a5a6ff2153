import { expect, test } from 'vitest'
import { openTestDatabase } from '../../testing/test-database.ts'
import { runFetches } from './run-fetches.ts'

// A small part of `npm run test:campaign -- --only fetches`.
test('every approved action is carried out once while the answers to job fetches are cut off', async () => {
  await using database = await openTestDatabase()
  const report = await runFetches({ databaseUrl: database.url, seed: 1, actions: 150, processes: 2, endsAt: Number.POSITIVE_INFINITY })
  expect(report.violations).toEqual([])
  expect(report.approved).toBe(150)
  expect(report.cut).toBeGreaterThan(3)
})
