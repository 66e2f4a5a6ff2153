import { expect, test } from 'vitest'
import type { ConfigInput } from '../config/index.ts'
import { startReplayServer } from '../models/testing/replay-server.ts'
import { brainSays } from '../testing/brain-says.ts'
import { startTestServer } from '../testing/test-server.ts'

const SECRET = 'brain-secret-0123456789'

const withBrain = (url: string): ConfigInput => ({
  agents: {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: variables of the configuration
    desk: { remote: { url, headers: { authorization: 'Bearer ${BRAIN_KEY}', 'x-team': 'orders' } } },
    open: { model: `remote/${url}` },
  },
})

test('D0.1 a remote brain gets its own headers, and hears the session, who wrote and which agent it is', async () => {
  await using brains = await startReplayServer()
  const replay = brains.play([brainSays({ text: 'Hello.' }), brainSays({ text: 'Hello again.' }), brainSays({ text: 'And you.' })])
  await using server = await startTestServer({ config: withBrain(replay.baseUrl), environment: { BRAIN_KEY: SECRET } })
  const ana = await server.as({ name: 'Ana', kind: 'person', roles: ['member'] })
  const { id } = await ana.post('/api/sessions', { agent: 'desk' })
  await ana.post(`/api/sessions/${id}/messages`, { content: 'Hi' })
  await server.settle()

  expect(replay.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${SECRET}`, 'x-team': 'orders' })
  expect(replay.requests[0]?.body).toMatchObject({
    session: { id },
    user: { id: ana.principal.id, name: 'Ana' },
    agent: { name: 'desk' },
  })

  // Whoever wrote last is the user of the step, not whoever began the session.
  const ben = await server.as({ name: 'Ben', kind: 'person', roles: ['member'] })
  await ana.post(`/api/sessions/${id}/participants`, { person: ben.principal.id })
  await ben.post(`/api/sessions/${id}/messages`, { content: 'Me too' })
  await server.settle()
  expect(replay.requests[1]?.body).toMatchObject({ session: { id }, user: { id: ben.principal.id, name: 'Ben' } })

  // The headers are this agent's alone: another agent at the same address sends none.
  const other = await ana.post('/api/sessions', { agent: 'open' })
  await ana.post(`/api/sessions/${other.id}/messages`, { content: 'Hi' })
  await server.settle()
  expect(replay.requests[2]?.body).toMatchObject({ session: { id: other.id }, agent: { name: 'open' } })
  expect(replay.requests[2]?.headers).not.toHaveProperty('authorization')
  expect(replay.requests[2]?.headers).not.toHaveProperty('x-team')
})

test('D0.1 the secret of a remote brain is in no row, no answer and no log, even when the brain repeats it', async () => {
  await using brains = await startReplayServer()
  const replay = brains.play([brainSays({ text: `You sent Bearer ${SECRET}, orders.` })])
  await using server = await startTestServer({ config: withBrain(replay.baseUrl), environment: { BRAIN_KEY: SECRET }, logLevel: 'trace' })
  const { id } = await server.admin.post('/api/sessions', { agent: 'desk' })
  await server.admin.post(`/api/sessions/${id}/messages`, { content: 'What did I send?' })
  await server.settle()
  expect(replay.requests).toHaveLength(1)
  const { items } = await server.admin.get(`/api/sessions/${id}/messages`)
  expect(items[0].content).toBe('You sent [redacted], orders.')
  expect(JSON.stringify([items, await server.admin.get('/api/agents'), await server.dump(), server.errors])).not.toContain(SECRET)
})
