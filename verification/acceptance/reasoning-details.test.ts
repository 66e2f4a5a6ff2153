import { expect, test } from 'vitest'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { speak } from '../../packages/server/src/models/testing/speak.ts'
import { providerEnvironment } from '../testing/providers.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

test('the signed reasoning of a gateway goes back to it after a restart and an approval, and with every later message', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 8 } }))
  await using providers = await startReplayServer()
  const { baseUrl, requests } = providers.play([
    speak('openai-chat', {
      text: 'I will.',
      calls: [{ id: 'call_1', name: 'keyed', argumentsText: '{"what":"x"}' }],
      signature: 'c2lnbmVk',
    }),
    speak('openai-chat', { text: 'Done.' }),
    speak('openai-chat', { text: 'Anything else?' }),
  ])
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'openai-compatible/m', tools: ['*'] } }, tools: toolsOf(target) },
    environment: providerEnvironment(baseUrl),
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  await server.restart()
  using after = await server.admin.stream(`/api/sessions/${sessionId}/events`)
  await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await after.next('message', (data) => data.message.content === 'Done.')
  await after.next('done')
  using again = await server.admin.stream('/api/chat', { body: { sessionId, message: 'thanks' } })
  await again.ended()

  expect(requests).toHaveLength(3)
  const details = [{ type: 'reasoning.text', text: 'I think', signature: 'c2lnbmVk', index: 0 }]
  for (const { body } of requests.slice(1)) {
    const { messages } = body as { messages: { role: string; reasoning_details?: unknown; tool_calls?: unknown }[] }
    expect(messages.find(({ role }) => role === 'assistant')).toMatchObject({ content: 'I will.', reasoning_details: details })
  }
  expect(target.writes).toHaveLength(1)
})
