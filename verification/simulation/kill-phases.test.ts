import { expect, test } from 'vitest'
import { PLANTED_BUGS } from './planted.ts'
import { runSimulation } from './run.ts'

/**
 * A point of the code in each phase of a chat and its actions. All are outside transactions: a process that dies inside one loses it as a
 * whole.
 */
const PHASES = [
  ...['message.after_store', 'run.after_start', 'step.before_model', 'step.after_model', 'step.before_store', 'step.after_store'],
  ...['decide.before_store', 'decide.after_store', 'execute.before_start', 'execute.started', 'execute.before_send', 'execute.answered'],
  ...['settle.before_store', 'settle.after_store'],
]

/** World n has its one kill in phase n, in turn. */
const ONE_KILL_EACH = { seeds: 10 * PHASES.length, killsAt: PHASES }

test('a process that is killed in any phase loses nothing and does nothing twice', async () => {
  const { violations, counts } = await runSimulation(ONE_KILL_EACH)
  expect(violations.map(({ seed, texts }) => ({ seed, killedAt: PHASES[seed % PHASES.length], texts }))).toEqual([])
  expect(PHASES.filter((phase) => !counts.has(`killed: ${phase}`))).toEqual([])
})

test('such a kill is noticed where nobody takes over what a dead process was carrying out', async () => {
  const bug = PLANTED_BUGS.find(({ name }) => name === 'nobody takes over what a dead process was carrying out')
  const { violations } = await runSimulation({ ...ONE_KILL_EACH, mutants: bug?.mutants ?? [], stopsAtViolation: true })
  expect(violations.length).toBeGreaterThan(0)
})
