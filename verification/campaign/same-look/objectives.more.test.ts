import type { Action, JsonObject, Objective } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import { seededRandom } from '../../simulation/random.ts'
import { startTestServer } from '../../testing/test-server.ts'
import { ASK_ALL, everyToolLooksTheSame } from './looks-the-same.ts'

const MEASURE = { metric: 'Accounts', unit: '%', start: 10, target: 40 }
const OBJECTIVE = { title: 'Grow', description: 'Why', owner: 'Ana', period: '2026-H2', keyResults: [{ title: 'Activation', ...MEASURE }] }

/** Calls about the objectives `open` and `closed`. A tool that takes nothing that is drawn from its schema needs one here. */
const examplesOf = (open: Objective, closed: Objective): Record<string, JsonObject> => {
  const keyResult = open.keyResults[0]?.id ?? ''
  return {
    listObjectives: { owner: 'Ana' },
    getObjective: { objective: open.id },
    keyResultHistory: { keyResult },
    createObjective: { ...OBJECTIVE, title: 'Another' },
    updateObjective: { objective: open.id, title: 'Grow more', description: '', owner: 'Ben', period: '2027' },
    closeObjective: { objective: open.id, outcome: 'achieved' },
    reopenObjective: { objective: closed.id },
    addKeyResult: { objective: open.id, title: 'Retention', ...MEASURE, current: 12 },
    recordProgress: { keyResult, current: 12.5, note: 'Counted' },
    updateKeyResult: { keyResult, title: 'Activated', metric: 'People', unit: '', start: 5, target: 50 },
    removeKeyResult: { keyResult },
  }
}

test('objectives: permuting the arguments of any tool, and what happens to another objective, changes no card and asks nobody again', async () => {
  const seed = inject('propertySeed')
  await using server = await startTestServer({ config: { tools: { goals: { objectives: {} } }, policy: ASK_ALL } })
  const runAttempt = async (tool: string, args: JsonObject): Promise<Objective> => {
    const { id, revision, digest }: Action = await server.admin.post('/api/actions', { tool: `goals.${tool}`, arguments: args })
    await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
    await server.settle()
    const { result }: Action = await server.admin.get(`/api/actions/${id}`)
    return (result as unknown as { objective: Objective }).objective
  }
  const other = await runAttempt('createObjective', OBJECTIVE)
  let current = 10
  const run = await everyToolLooksTheSame(
    {
      server,
      agent: await server.as({ name: 'bot', kind: 'agent' }),
      random: seededRandom(seed),
      async drift() {
        await runAttempt('recordProgress', { keyResult: other.keyResults[0]?.id ?? '', current: ++current })
      },
      async changes() {
        const { objective_change: changes = [] } = await server.dump()
        return changes.map((change) => {
          const { kind, action_id: actionId } = change as { kind: string; action_id: string }
          return `${kind} by ${actionId}`
        })
      },
    },
    {
      group: 'goals',
      seed,
      async renew() {
        const [open, closed] = [await runAttempt('createObjective', OBJECTIVE), await runAttempt('createObjective', OBJECTIVE)]
        return examplesOf(open, await runAttempt('closeObjective', { objective: closed.id, outcome: 'missed' }))
      },
    },
  )
  expect(run.tools).toBeGreaterThanOrEqual(12)
  expect(run.calls).toBeGreaterThan(run.tools)
})
