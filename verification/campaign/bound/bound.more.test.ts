import { expect, test } from 'vitest'
import { CHANGES, ENDS, HARMLESS } from './changes.ts'
import { runMutations } from './mutations.ts'
import { runTargets } from './targets.ts'

// Small parts of `npm run test:campaign -- --only bound`.
test('whatever one thing is otherwise between the decision and the start, it is not sent; what is the same is sent', async () => {
  const report = await runMutations({ mutations: 600, seed: 1, endsAt: Number.POSITIVE_INFINITY })
  expect(report.violations).toEqual([])
  expect(Object.keys(report.byChange).sort()).toEqual(Object.keys(CHANGES).sort())
  expect(report.harmless).toBeGreaterThan(Object.keys(HARMLESS).length)
  expect(Object.keys(report.endings)).toEqual(expect.arrayContaining([...new Set(Object.values(ENDS))]))
})

test('no write finds a service otherwise than its approver was shown, whenever it changes; each is asked again with the values of now', async () => {
  const report = await runTargets({ changes: 60, seed: 1, endsAt: Number.POSITIVE_INFINITY })
  expect(report.violations).toEqual([])
  expect(report.askedAgain).toBeGreaterThan(50)
})
