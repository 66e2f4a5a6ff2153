import { expect, test } from 'vitest'
import { CHECKPOINTS } from './checkpoints.ts'
import { runKills } from './kills.ts'

/** Where a mistake would cost most: around a decision, around a send, around a commit, on the way back. */
const DEADLIEST = [
  ...['decide.after_store', 'http.before_answer', 'batch.before_commit', 'batch.after_commit'],
  ...['execute.before_send', 'execute.answered', 'settle.before_store', 'step.before_store', 'recover.taken_over'],
]

// A small part of `npm run test:campaign -- --only kill`.
test('a server that is killed around a decision, a send or a commit loses nothing and does nothing twice', {
  timeout: 600_000,
}, async () => {
  const points = CHECKPOINTS.filter(({ name }) => DEADLIEST.includes(name))
  expect(points).toHaveLength(DEADLIEST.length)
  const report = await runKills({ database: 'sqlite', seed: 1, kills: 10, workers: 2, points, say: () => undefined })
  expect(report.violations).toEqual([])
  expect(report.kills).toBeGreaterThanOrEqual(10)
  expect(Object.keys(report.killsAt)).toEqual(expect.arrayContaining(DEADLIEST))
  expect(report.outcomes['approve acknowledged']).toBeGreaterThan(20)
})
