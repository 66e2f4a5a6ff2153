import { expect, test } from 'vitest'
import { manualClock } from '../../../../../verification/testing/manual-clock.ts'
import type { RunRow } from '../../store/index.ts'
import { createClaimedSteps } from './claimed-steps.ts'

const at = (steps: number) => ({ session_id: 'ses_a', id: 'run_a', steps })
const runAt = (steps: number) => at(steps) as RunRow

test('a step is taken once, at once, and by the process that claimed it', () => {
  const clock = manualClock(0)
  const claimed = createClaimedSteps(clock)
  claimed.add({ ...at(0), runner: 'prc_a' })
  expect(claimed.take(runAt(1), 'prc_a'), 'another step').toBe(false)
  expect(claimed.take(runAt(0), 'prc_b'), 'the process was taken for dead and has a new id').toBe(false)
  expect(claimed.take(runAt(0), 'prc_a')).toBe(true)
  expect(claimed.take(runAt(0), 'prc_a')).toBe(false)
  expect(claimed.drop(at(0)), 'it was taken').toBe(false)
  claimed.add({ ...at(1), runner: 'prc_a' })
  clock.pass(1_000)
  expect(claimed.take(runAt(1), 'prc_a'), 'a second later').toBe(false)
  expect(claimed.drop(at(0))).toBe(false)
  expect(claimed.drop(at(1))).toBe(true)
})
