import type { Action } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { startTestServer } from '../testing/test-server.ts'

const refund = (declineReasons?: string[]) =>
  defineTool({
    name: 'refund',
    description: 'Refunds an order.',
    input: z.object({ orderId: z.string() }),
    effect: 'write',
    ...(declineReasons && { declineReasons }),
    execute: () => null,
  })

const proposed = async (own: string[] | undefined, ofRule: string[] | undefined) => {
  const rule = { name: 'refunds', match: {}, verdict: 'ask' as const, ...(ofRule && { declineReasons: ofRule }) }
  await using server = await startTestServer({
    config: { tools: { shop: { tools: [refund(own)], prefix: false } }, policy: { rules: [rule] } },
  })
  const action: Action = await server.admin.post('/api/actions', { tool: 'refund', arguments: { orderId: 'A-1' } })
  const listed = await server.admin.get('/api/actions')
  return { action, listed: listed.items[0], declined: await server.admin.post(`/api/actions/${action.id}/decision`, decline(action)) }
}
const decline = ({ revision, digest }: Action) => ({ verdict: 'decline', revision, digest, reason: 'Something else' })

test('an action offers the reasons for a decline of its rule, else of its tool, and takes any other', async () => {
  const both = await proposed(['Wrong order'], ['Ask finance first'])
  expect(both.action.declineReasons).toEqual(['Ask finance first'])
  expect(both.listed.declineReasons).toEqual(['Ask finance first'])
  expect(both.declined).toMatchObject({ state: 'declined', votes: [{ reason: 'Something else' }] })
  expect((await proposed(['Wrong order'], undefined)).action.declineReasons).toEqual(['Wrong order'])
  expect((await proposed(undefined, undefined)).action).not.toHaveProperty('declineReasons')
})

test('a tool with reasons that no card could show is refused when it is defined', () => {
  expect(() => refund(['x'.repeat(81)])).toThrow(/^tool refund: declineReasons: /)
  expect(() => refund([])).toThrow(/declineReasons/)
})
