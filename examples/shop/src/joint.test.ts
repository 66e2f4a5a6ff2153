import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadConfig, scriptedModel } from 'countersign'
import { afterAll, beforeAll, expect, test } from 'vitest'
import script from './desk/script.ts'
import { understand } from './desk/understand.ts'
import { createShop, type Shop } from './index.ts'

let folder: string
let shop: Shop
let config: Awaited<ReturnType<typeof loadConfig>>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'shop-'))
  shop = await createShop({ databaseFile: join(folder, 'shop.db'), port: 0 })
  const file = fileURLToPath(new URL('../countersign.yaml', import.meta.url))
  config = await loadConfig(file, { SHOP_URL: shop.url, BRAIN_URL: 'http://127.0.0.1:4401' })
})
afterAll(async () => {
  await shop.close()
  rmSync(folder, { recursive: true })
})

const tool = (name: string) => {
  const found = config.agents[0]?.tools.find((candidate) => candidate.modelName === name)
  if (!found) throw new Error(`the desk has no tool ${name}`)
  return found
}
const context = { actionId: 'act_1', idempotencyKey: 'act_1:1', signal: new AbortController().signal, principalId: undefined }

test('both agents have the five tools under the names the desk calls', () => {
  expect(config.agents.map(({ name, model }) => [name, model])).toEqual([
    ['desk', 'scripted/./src/desk/script.ts'],
    ['brain', 'remote/http://127.0.0.1:4401'],
  ])
  for (const agent of config.agents) {
    expect(agent.tools.map(({ modelName, effect }) => `${modelName} ${effect}`).sort()).toEqual([
      'checkout write',
      'getOrder read',
      'getOrders read',
      'getProducts read',
      'updateOrderStatus write',
    ])
  }
})

test('every suggestion leads to calls that the tools take', () => {
  for (const text of config.agents.flatMap((agent) => agent.suggestions)) {
    const { calls } = understand({ text, results: [] })
    expect(calls?.length, text).toBeGreaterThan(0)
    for (const call of calls ?? []) expect(tool(call.tool).check(call.arguments), text).toMatchObject({ ok: true })
  }
})

test('a status change shows what will change, changes it in the shop, and does it once per key', async () => {
  const args = { orderId: 'ORD-001', newStatus: 'processing' }
  const update = tool('updateOrderStatus')
  expect(update.describe(args)).toBe('Set order ORD-001 to processing')
  expect((await update.preview?.(args, context.signal))?.fields).toEqual([{ field: 'status', oldValue: 'pending', newValue: 'processing' }])
  const output = await update.execute(args, context)
  expect(await update.execute(args, context)).toEqual(output)
  expect(output).toMatchObject({ id: 'ORD-001', status: 'processing' })
  expect(update.resultUrl?.(args, output)).toBe(`${shop.url}/orders/ORD-001`)
  const effects = await fetch(`${shop.url}/api/effects?idempotencyKey=${encodeURIComponent(context.idempotencyKey)}`)
  expect(await effects.json()).toMatchObject({ total: 1, items: [{ orderId: 'ORD-001', idempotencyKey: 'act_1:1' }] })
})

test('a checkout without a customer is an order; one that cannot be is refused in the shop’s words', async () => {
  const checkout = tool('checkout')
  const args = { items: [{ productId: 'poster', quantity: 1 }] }
  const output = await checkout.execute(args, { ...context, idempotencyKey: 'act_2:1' })
  expect(output).toMatchObject({ id: 'ORD-013', customerName: null })
  expect(checkout.resultUrl?.(args, output)).toBe(`${shop.url}/orders/ORD-013`)
  await expect(checkout.execute(args, { ...context, idempotencyKey: 'act_3:1' })).rejects.toMatchObject({
    kind: 'refused',
    message: expect.stringContaining('City map poster is out of stock. Nothing was ordered.'),
  })
})

test('orders can be listed by status', async () => {
  expect(await tool('getOrders').execute({ status: 'shipped' }, context)).toMatchObject({ total: 3 })
  expect(tool('getOrders').check({ status: 'lost' })).toMatchObject({ ok: false })
})

test('the demo’s script speaks the desk’s mind', async () => {
  const model = scriptedModel({ id: 'scripted/desk', ...script })
  const events = []
  for await (const event of model.stream({
    instructions: '',
    messages: [{ role: 'user', content: 'ship ORD-004' }],
    tools: [],
    signal: context.signal,
  })) {
    events.push(event)
  }
  expect(events.at(-2)).toMatchObject({
    type: 'tool_call',
    name: 'updateOrderStatus',
    argumentsText: '{"orderId":"ORD-004","newStatus":"shipped"}',
  })
  expect(events.at(-1)).toEqual({ type: 'finish', reason: 'tool_calls' })
})

test('in client.yaml the change is the client’s, and what it is to send is the shop’s own route', async () => {
  const { agents } = await loadConfig(fileURLToPath(new URL('../client.yaml', import.meta.url)), { SHOP_URL: shop.url })
  const tools = agents[0]?.tools ?? []
  expect(tools.map(({ name, executor }) => `${name} ${executor}`)).toEqual([
    'getOrders server',
    'getOrder server',
    'updateOrderStatus client',
  ])
  const update = tools.find(({ executor }) => executor === 'client')
  const args = { orderId: 'ORD-003', newStatus: 'processing' }
  expect(update?.clientRequest?.(args)).toEqual({
    method: 'PATCH',
    url: `${shop.url}/api/orders/ORD-003/status`,
    body: { status: 'processing' },
  })
  await expect(update?.execute(args, context)).rejects.toMatchObject({ kind: 'broken' })
  expect((await update?.preview?.(args, context.signal))?.fields).toEqual([
    { field: 'status', oldValue: 'pending', newValue: 'processing' },
  ])
})
