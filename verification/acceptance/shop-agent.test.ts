import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Action } from '@countersign/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Brain, createBrain, createShop, type Shop } from '../../examples/shop/src/index.ts'
import { loadConfig } from '../../packages/server/src/config/index.ts'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { brainHeard, brainSays, resultsHeard } from '../testing/brain-says.ts'
import { startTestServer, type TestServer, temporaryFolder } from '../testing/test-server.ts'

const CONFIG = fileURLToPath(new URL('../../examples/shop/countersign.yaml', import.meta.url))

let folder: ReturnType<typeof temporaryFolder>
let shop: Shop
let brain: Brain
let server: TestServer

beforeAll(async () => {
  folder = temporaryFolder()
  shop = await createShop({ databaseFile: join(folder.path, 'shop.db'), port: 0 })
  brain = await createBrain({ port: 0, wordDelayMs: 0 })
  server = await startTestServer({ config: await loadConfig(CONFIG, { SHOP_URL: shop.url, BRAIN_URL: brain.url }) })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await brain.close()
  await shop.close()
  folder[Symbol.dispose]()
})

const ofShop = async (path: string) => (await fetch(shop.url + path)).json()
const effectsOf = async (orderId: string) => (await ofShop(`/api/effects?orderId=${orderId}`)).items
const chat = (message: string, agent = 'desk') => server.admin.stream('/api/chat', { body: { message, agent } })
const decide = (actionId: string, body: object) => server.admin.post(`/api/actions/${actionId}/decision`, body)

/** Two routes of the shop, for a brain with scripted answers. */
const shopAgent = (baseUrl: string) => ({
  agents: { desk: { model: `remote/${baseUrl}`, tools: ['*'] } },
  tools: {
    shop: {
      prefix: false,
      routes: {
        baseUrl: shop.url,
        tools: {
          getOrder: { method: 'GET' as const, path: '/api/orders/{orderId}' },
          updateOrderStatus: {
            method: 'PATCH' as const,
            path: '/api/orders/{orderId}/status',
            body: { status: '{newStatus}' },
            idempotent: true,
          },
        },
      },
    },
  },
})

for (const [agent, words] of [
  ['desk', 'the scripted model'],
  ['brain', 'the remote brain'],
] as const) {
  test(`with ${words}, an approved change happens in the shop once and the agent reports it`, async () => {
    const orderId = agent === 'desk' ? 'ORD-001' : 'ORD-003'
    using stream = await chat(`mark ${orderId} as processing`, agent)
    const { proposal } = await stream.next('action_proposed')
    expect(proposal).toMatchObject({
      state: 'proposed',
      tool: 'updateOrderStatus',
      arguments: { orderId, newStatus: 'processing' },
      description: `Set order ${orderId} to processing`,
      preview: [{ field: 'status', oldValue: 'pending', newValue: 'processing' }],
    })
    await stream.next('session_status', (data) => data.status === 'waiting_approval')
    expect(await effectsOf(orderId)).toEqual([])

    await decide(proposal.id, { verdict: 'approve', revision: proposal.revision, digest: proposal.digest })
    const { message } = await stream.next(
      'message',
      (data) => data.message.role === 'assistant' && data.message.seq > 0 && data.message.kind === 'text',
    )
    expect(message.content).toContain(`Order ${orderId} is now **processing**`)
    await stream.next('done')
    await stream.ended()
    expect(await effectsOf(orderId)).toMatchObject([
      { kind: 'status_changed', after: { status: 'processing' }, idempotencyKey: proposal.idempotencyKey },
    ])
    expect((await ofShop(`/api/orders/${orderId}`)).status).toBe('processing')
  })

  test(`with ${words}, a denied change leaves the shop as it is and the agent hears "User declined"`, async () => {
    using stream = await chat('cancel ORD-010', agent)
    const { proposal } = await stream.next('action_proposed')
    await decide(proposal.id, { verdict: 'decline' })
    const { message } = await stream.next('message', (data) => data.message.role === 'tool')
    expect(JSON.parse(message.content)).toEqual({ declined: true, reason: 'User declined' })
    const answer = await stream.next('message', (data) => data.message.role === 'assistant')
    expect(answer.message.content).toContain('“User declined”')
    await stream.ended()
    expect(await effectsOf('ORD-010')).toEqual([])
    expect((await ofShop('/api/orders/ORD-010')).status).toBe('pending')
  })
}

test('every require-action of one answer becomes a card of its own, with its state in the database', async () => {
  await using brains = await startReplayServer()
  const replay = brains.play([
    brainSays({
      text: 'Two things.',
      calls: [
        { id: 'call_a', tool: 'updateOrderStatus', input: { orderId: 'ORD-004', newStatus: 'shipped' } },
        { id: 'call_b', tool: 'updateOrderStatus', input: { orderId: 'ORD-007', newStatus: 'shipped' } },
      ],
    }),
  ])
  await using other = await startTestServer({ config: shopAgent(replay.baseUrl) })
  using stream = await other.admin.stream('/api/chat', { body: { message: 'go on' } })
  const first = (await stream.next('action_proposed')).proposal
  const second = (await stream.next('action_proposed')).proposal
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  const { items } = await other.admin.get('/api/actions?state=proposed')
  expect(items).toEqual([second, first])
  expect([first.toolCallId, second.toolCallId]).toEqual(['call_a', 'call_b'])
  expect(first.messageId).toBe(second.messageId)
})

test('the five routes of the table are tools: reads run at once, writes wait', async () => {
  const { items } = await server.admin.get('/api/tools')
  const shape = items.map(({ name, effect }: { name: string; effect: string }) => `${name} ${effect}`)
  expect(shape).toEqual(['getOrders read', 'getOrder read', 'getProducts read', 'updateOrderStatus write', 'checkout write'])

  using stream = await chat('check out two mugs for Ada, ada@example.com')
  const read = (await stream.next('action_proposed')).proposal
  expect(read).toMatchObject({ tool: 'getProducts', state: 'approved', policy: { verdict: 'allow', rule: 'reads run' } })
  const { proposal } = await stream.next('action_proposed')
  const args = { items: [{ productId: 'mug', quantity: 2 }], customerName: 'Ada', customerEmail: 'ada@example.com' }
  expect(proposal).toMatchObject({ tool: 'checkout', state: 'proposed', arguments: args })
  expect(proposal.preview).toEqual([
    { field: 'customerName', newValue: 'Ada' },
    { field: 'customerEmail', newValue: 'ada@example.com' },
    { field: 'lines', newValue: [{ product: 'Stoneware mug', quantity: 2, price: '€14.50', amount: '€29.00' }] },
    { field: 'total', newValue: '€29.00' },
  ])

  const stockBefore = await stockOf('mug')
  await decide(proposal.id, { verdict: 'approve' })
  const { result, resultUrl } = await stream.next('action_update', (data) => data.state === 'succeeded' && data.proposalId === proposal.id)
  expect(result).toMatchObject({ customerName: 'Ada', totalCents: 2900 })
  expect(await stockOf('mug')).toBe(stockBefore - 2)
  expect(resultUrl).toBe(`${shop.url}/orders/${(result as { id: string }).id}`)
  await stream.ended()
})

const stockOf = async (id: string): Promise<number> =>
  (await ofShop('/api/products')).items.find((product: { id: string }) => product.id === id).stock

test('the next request to the brain carries its call and the result, under the ids that it gave', async () => {
  await using brains = await startReplayServer()
  const call = { orderId: 'ORD-009', newStatus: 'shipped' }
  const replay = brains.play([
    brainSays({ text: 'I will ship it.', calls: [{ id: 'brain-call-7', tool: 'updateOrderStatus', input: call }] }),
    brainSays({ text: 'Shipped.' }),
  ])
  await using other = await startTestServer({ config: shopAgent(replay.baseUrl) })
  using stream = await other.admin.stream('/api/chat', { body: { message: 'ship ORD-009' } })
  const { proposal } = await stream.next('action_proposed')
  await other.admin.post('/api/chat/approve', { approvalId: proposal.id, approved: true })
  await stream.ended()

  const messages = brainHeard(replay, 1)
  expect(messages).toEqual([
    { role: 'user', content: 'ship ORD-009' },
    {
      role: 'assistant',
      content: 'I will ship it.',
      tool_calls: [{ id: 'brain-call-7', type: 'function', function: { name: 'updateOrderStatus', arguments: JSON.stringify(call) } }],
    },
    { role: 'tool', tool_call_id: 'brain-call-7', content: expect.any(String) },
  ])
  expect(JSON.parse(messages[2]?.content ?? '')).toMatchObject({ id: 'ORD-009', status: 'shipped' })
  expect(replay.requests).toHaveLength(2)
})

test('a brain hears {denied: true} with the reason that the person gave', async () => {
  await using brains = await startReplayServer()
  const replay = brains.play([
    brainSays({ calls: [{ id: 'c1', tool: 'updateOrderStatus', input: { orderId: 'ORD-012', newStatus: 'cancelled' } }] }),
    brainSays({ calls: [{ id: 'c2', tool: 'updateOrderStatus', input: { orderId: 'ORD-012', newStatus: 'processing' } }] }),
    brainSays({ text: 'Then not.' }),
  ])
  await using other = await startTestServer({ config: shopAgent(replay.baseUrl) })
  using stream = await other.admin.stream('/api/chat', { body: { message: 'cancel ORD-012' } })
  const first = (await stream.next('action_proposed')).proposal as Action
  await other.admin.post('/api/chat/approve', { approvalId: first.id, approved: false, reason: 'she called, keep it' })
  const second = (await stream.next('action_proposed')).proposal
  await other.admin.post('/api/chat/approve', { approvalId: second.id, approved: false })
  await stream.ended()

  const told = (nth: number) => resultsHeard(replay, nth).map(([, result]) => result)
  expect(told(1)).toEqual([{ denied: true, reason: 'she called, keep it' }])
  expect(told(2)).toEqual([
    { denied: true, reason: 'she called, keep it' },
    { denied: true, reason: 'User declined' },
  ])
  expect(await effectsOf('ORD-012')).toEqual([])
})
