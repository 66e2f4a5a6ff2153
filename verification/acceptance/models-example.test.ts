import { fileURLToPath } from 'node:url'
import type { Stats } from '@countersign/core'
import { expect, test } from 'vitest'
import { loadConfig } from '../../packages/server/src/config/index.ts'
import { startTestServer } from '../testing/test-server.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/models/countersign.config.ts', import.meta.url))

test('the example: the first model is overloaded, the second one answers, the invoice is sent once it is approved, and the numbers say so', async () => {
  await using server = await startTestServer({ config: await loadConfig(EXAMPLE, {}) })
  const { admin } = server
  using stream = await admin.stream('/api/chat', { body: { message: 'Which invoices are still to be sent?' } })
  const { proposal } = await stream.next('action_proposed', (data) => data.proposal.state === 'proposed')
  expect(proposal).toMatchObject({ tool: 'office.sendInvoice', description: 'Send the invoice INV-1' })
  await admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await stream.next('message', (data) => data.message.content === 'INV-1 is on its way.')
  const { usage } = await stream.next('done')
  expect(usage).toEqual({ inputTokens: 1_500, cachedInputTokens: 760, cacheWriteTokens: 0, outputTokens: 90 })
  const { models }: Stats = await admin.get('/api/stats')
  expect(models).toMatchObject([{ agent: 'desk', model: 'scripted/scripted/steady.ts', calls: 3, fallbacks: 3, inputTokens: 1_500 }])
})
