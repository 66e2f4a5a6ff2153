import type { ToolView } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import { startStandIn } from '../../../examples/linear/stand-in/server.ts'
import { EVERY_CALL, idsFilled } from '../../../packages/tools-linear/src/testing/every-tool.ts'
import { API_KEY, exampleSchema, NOW_MS } from '../../../packages/tools-linear/src/testing/open-workspace.ts'
import { seededRandom } from '../../simulation/random.ts'
import { startTestServer } from '../../testing/test-server.ts'
import { ASK_ALL, looksTheSame } from './looks-the-same.ts'
import { startShuffler } from './shuffler.ts'

const ROUNDS = 2

test('Linear: permuting the arguments of any tool or Linear’s answers, and what changes by itself, changes no card and asks nobody again', async () => {
  const seed = inject('propertySeed')
  const random = seededRandom(seed)
  await using shuffler = await startShuffler(random)
  await using server = await startTestServer({
    config: { tools: { plan: { linear: { apiKey: API_KEY, baseUrl: `${shuffler.url}/graphql` } } }, policy: ASK_ALL },
  })
  const { items }: { items: ToolView[] } = await server.admin.get('/api/tools')
  const called = new Set(EVERY_CALL.map(([name]) => `plan.${name}`))
  const without = items.flatMap(({ name }) =>
    called.has(name) ? [] : [`${name} has no call in EVERY_CALL (tools/linear/testing/every-tool.ts)`],
  )
  expect(without).toEqual([])

  const agent = await server.as({ name: 'bot', kind: 'agent' })
  for (let round = 0; round < ROUNDS; round++) {
    await using standIn = await startStandIn({ schema: exampleSchema, apiKey: API_KEY, nowMs: NOW_MS })
    shuffler.upstream = new URL(standIn.url).origin
    const changes = () =>
      standIn.sent.flatMap(({ query, variables }) => (query.startsWith('mutation') ? [`${query} ${JSON.stringify(variables)}`] : []))
    for (const [name, given] of EVERY_CALL) {
      const args = idsFilled({ standIn }, given)
      const { refused, action, made } = await looksTheSame({ server, agent, random, drift: shuffler.drift, changes }, `plan.${name}`, args)
      expect([name, refused, action?.error ?? null, action?.state]).toEqual([name, undefined, null, 'succeeded'])
      expect([name, made?.length]).toEqual([name, action?.effect === 'write' ? 1 : 0])
    }
  }
})
