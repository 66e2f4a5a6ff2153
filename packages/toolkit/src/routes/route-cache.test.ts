import { afterAll, expect, test } from 'vitest'
import { context, preview, SHOP, startShop } from '../testing/shop.ts'

const shop = await startShop()
afterAll(() => shop[Symbol.asyncDispose]())
// A cache before the shop. It holds an old answer, and asks the shop only where the request says so.
shop.answer = ({ headers }, response) =>
  response.end(JSON.stringify({ status: headers['cache-control'] === 'no-cache' ? 'cancelled' : 'pending' }))

const ARGS = { orderId: '7', newStatus: 'shipped' }
const ROUTE = {
  ...SHOP.updateOrderStatus,
  method: 'PATCH',
  path: '/api/orders/{orderId}/status',
  verify: { get: '/api/orders/{orderId}', done: { status: 'cancelled' } },
} as const

test('a cache on the way to the service does not answer what a precondition reads', async () => {
  expect(await preview(shop.open({ change: ROUTE })('change'), ARGS)).toEqual([
    { field: 'status', oldValue: 'cancelled', newValue: 'shipped' },
  ])
})

test('a cache on the way to the service does not answer what verifies an outcome', async () => {
  expect(await shop.open({ change: ROUTE })('change').verify?.(ARGS, context())).toMatchObject({ done: true })
})

test('a cache-control header in the configuration stays, however its name is written', async () => {
  const tool = shop.open({ change: ROUTE }, { headers: { 'Cache-Control': 'max-age=1' } })('change')
  await preview(tool, ARGS)
  expect(shop.lastSeen().headers['cache-control']).toBe('max-age=1')
  await tool.verify?.(ARGS, context())
  expect(shop.lastSeen().headers['cache-control']).toBe('max-age=1')
})
