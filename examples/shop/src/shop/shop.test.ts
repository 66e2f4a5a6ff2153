import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { formatMoney } from '../money.ts'
import type { Effect } from './effects.ts'
import type { Order, OrderSummary } from './orders.ts'
import type { Product } from './products.ts'
import { createShop, type Shop } from './shop.ts'

type List<T> = { items: T[]; total: number }

let folder: string
let shop: Shop

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'shop-'))
  shop = await createShop({ databaseFile: databaseFile(), port: 0 })
})
afterEach(async () => {
  await shop.close()
  rmSync(folder, { recursive: true })
})

const databaseFile = () => join(folder, 'data', 'shop.db')
const get = async <T>(path: string): Promise<T> => (await fetch(shop.url + path)).json() as Promise<T>
const stockOf = async (productId: string) => (await get<List<Product>>('/api/products')).items.find(({ id }) => id === productId)?.stock
const effects = (query = '') => get<List<Effect>>(`/api/effects${query}`)

const send = (method: string, path: string, body: unknown, key?: string) =>
  fetch(shop.url + path, {
    method,
    headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
const setStatus = (orderId: string, status: string, key?: string) => send('PATCH', `/api/orders/${orderId}/status`, { status }, key)
const buy = (productId: string, quantity: number, key?: string) => send('POST', '/api/checkout', { items: [{ productId, quantity }] }, key)

async function problem(response: Response): Promise<{ status: number; detail: string; errors?: { path: string }[] }> {
  expect(response.headers.get('content-type')).toContain('application/problem+json')
  const body = (await response.json()) as { status: number; detail: string }
  expect(body).toMatchObject({ type: 'about:blank', title: expect.any(String), status: response.status, detail: expect.any(String) })
  return body
}

test('a new shop has twelve orders and eight products whose totals add up', async () => {
  const { items: orders, total } = await get<List<OrderSummary>>('/api/orders')
  expect([orders.length, total]).toEqual([12, 12])
  expect(new Set(orders.map((order) => order.status))).toEqual(new Set(['pending', 'processing', 'shipped', 'cancelled']))
  for (const { id } of orders) {
    const order = await get<Order>(`/api/orders/${id}`)
    expect(order.totalCents).toBe(order.lines.reduce((sum, line) => sum + line.quantity * line.unitPriceCents, 0))
  }
  expect((await get<List<Product>>('/api/products')).items).toHaveLength(8)
  expect(await effects()).toEqual({ items: [], total: 0 })
})

test('orders come newest first, by status, at most as many as asked for', async () => {
  const { items } = await get<List<OrderSummary>>('/api/orders')
  expect(items.map((order) => order.id)).toEqual(Array.from({ length: 12 }, (_, index) => `ORD-${String(12 - index).padStart(3, '0')}`))
  const pending = await get<List<OrderSummary>>('/api/orders?status=pending&limit=2')
  expect(pending.items.map((order) => order.id)).toEqual(['ORD-012', 'ORD-010'])
  expect(pending.total).toBe(4)
})

test.each(['status=lost', 'limit=0', 'limit=201', 'limit=x', 'surprise=1', 'status=pending&status=shipped'])(
  'the order list refuses ?%s',
  async (query) => {
    const response = await fetch(`${shop.url}/api/orders?${query}`)
    expect(response.status).toBe(400)
    expect((await problem(response)).errors).toHaveLength(1)
  },
)

test('an unknown order is 404 for reading and for changing', async () => {
  for (const response of [await fetch(`${shop.url}/api/orders/ORD-999`), await setStatus('ORD-999', 'cancelled')]) {
    expect(response.status).toBe(404)
    expect((await problem(response)).detail).toBe('There is no order ORD-999.')
  }
})

const MOVES = ['pending>processing', 'processing>shipped', 'pending>cancelled', 'processing>cancelled']
const SAMPLES = { pending: 'ORD-001', processing: 'ORD-004', shipped: 'ORD-002', cancelled: 'ORD-006' }

test('an order moves along the allowed ways only', async () => {
  for (const [from, orderId] of Object.entries(SAMPLES)) {
    for (const to of Object.keys(SAMPLES)) {
      if (MOVES.includes(`${from}>${to}`)) continue
      const response = await setStatus(orderId, to)
      expect([from, to, response.status]).toEqual([from, to, 409])
      expect((await problem(response)).detail).toContain(`Order ${orderId} is `)
    }
  }
  expect((await effects()).total).toBe(0)
  for (const [orderId, ...way] of [
    ['ORD-001', 'processing', 'shipped'],
    ['ORD-003', 'cancelled'],
    ['ORD-004', 'cancelled'],
  ] as const) {
    for (const status of way) {
      const response = await setStatus(orderId, status)
      expect(await response.json()).toMatchObject({ id: orderId, status })
      expect(response.status).toBe(200)
    }
  }
  expect((await effects()).total).toBe(4)
})

test('an illegal move says what would be possible', async () => {
  expect((await problem(await setStatus('ORD-001', 'shipped'))).detail).toBe(
    'Order ORD-001 is pending and cannot become shipped: it can only become processing or cancelled.',
  )
  expect((await problem(await setStatus('ORD-001', 'pending'))).detail).toBe('Order ORD-001 is already pending.')
})

test('cancelling gives the goods back to the stock, once', async () => {
  const before = await stockOf('tote')
  await setStatus('ORD-003', 'cancelled')
  await setStatus('ORD-003', 'cancelled')
  expect(await stockOf('tote')).toBe((before ?? 0) + 2)
  expect((await effects('?orderId=ORD-003')).items).toMatchObject([
    { kind: 'status_changed', before: { status: 'pending', stock: { tote: 15 } }, after: { status: 'cancelled', stock: { tote: 17 } } },
  ])
})

test('a quote has the prices and the total of a checkout, and takes nothing', async () => {
  const ask = (items: unknown[]) => `/api/quote?${items.map((item) => `items=${encodeURIComponent(JSON.stringify(item))}`).join('&')}`
  const stock = await stockOf('mug')
  const { lines, total } = await get<{ lines: { amount: string }[]; total: string }>(
    ask([
      { productId: 'mug', quantity: 2 },
      { productId: 'mug', quantity: 1 },
    ]),
  )
  const order = (await (await buy('mug', 3)).json()) as Order
  expect(total).toBe(formatMoney(order.totalCents))
  expect(lines).toMatchObject([{ quantity: 3, amount: total }])
  expect(await stockOf('mug')).toBe((stock ?? 0) - 3)
  for (const [wrong, status] of [
    [ask([{ productId: 'nothing', quantity: 1 }]), 422],
    [ask([1]), 400],
    ['/api/quote?items={', 400],
    ['/api/quote', 400],
  ] as const)
    expect((await fetch(shop.url + wrong)).status, wrong).toBe(status)
})

test('a checkout takes stock, computes the total and gives the next number', async () => {
  const response = await send('POST', '/api/checkout', {
    items: [
      { productId: 'mug', quantity: 2 },
      { productId: 'pen', quantity: 1 },
      { productId: 'mug', quantity: 1 },
    ],
    customerName: '  Ada Lovelace ',
    customerEmail: 'ada@example.com',
  })
  expect(response.status).toBe(201)
  expect(await response.json()).toMatchObject({
    id: 'ORD-013',
    status: 'pending',
    customerName: 'Ada Lovelace',
    customerEmail: 'ada@example.com',
    itemCount: 4,
    totalCents: 3 * 1450 + 320,
    lines: [
      { productId: 'mug', quantity: 3, unitPriceCents: 1450, lineTotalCents: 4350 },
      { productId: 'pen', quantity: 1 },
    ],
  })
  expect(await stockOf('mug')).toBe(21)
  expect((await effects()).items).toMatchObject([{ kind: 'order_placed', orderId: 'ORD-013', after: { totalCents: 4670 } }])
})

test('what is out of stock is named, and nothing of the order happens', async () => {
  const items = [
    { productId: 'mug', quantity: 1 },
    { productId: 'lamp', quantity: 4 },
  ]
  const response = await send('POST', '/api/checkout', { items })
  expect(response.status).toBe(409)
  expect((await problem(response)).detail).toBe('Desk lamp has only 3 left in stock, not 4. Nothing was ordered.')
  expect([await stockOf('mug'), await stockOf('lamp')]).toEqual([24, 3])
  expect((await problem(await buy('candle', 1))).detail).toContain('Beeswax candle is out of stock.')
  expect((await problem(await buy('unicorn', 1))).status).toBe(422)
  expect((await effects()).total).toBe(0)
  expect((await get<List<OrderSummary>>('/api/orders')).total).toBe(12)
})

const BAD_BODIES: [name: string, body: unknown][] = [
  ['no JSON', '{'],
  ['nothing', ''],
  ['null', 'null'],
  ['a list', '[]'],
  ['no items', {}],
  ['empty items', { items: [] }],
  ['too many items', { items: Array.from({ length: 51 }, () => ({ productId: 'mug', quantity: 1 })) }],
  ['quantity zero', { items: [{ productId: 'mug', quantity: 0 }] }],
  ['a negative quantity', { items: [{ productId: 'mug', quantity: -1 }] }],
  ['half a mug', { items: [{ productId: 'mug', quantity: 0.5 }] }],
  ['a huge quantity', { items: [{ productId: 'mug', quantity: 1e300 }] }],
  ['a quantity in words', { items: [{ productId: 'mug', quantity: '2' }] }],
  ['its own price', { items: [{ productId: 'mug', quantity: 1, unitPriceCents: 1 }] }],
  ['its own total', { items: [{ productId: 'mug', quantity: 1 }], totalCents: 1 }],
  ['no email', { items: [{ productId: 'mug', quantity: 1 }], customerEmail: 'ada' }],
  ['a long name', { items: [{ productId: 'mug', quantity: 1 }], customerName: 'a'.repeat(201) }],
  ['a poisoned prototype', '{"items":[{"productId":"mug","quantity":1}],"__proto__":{"a":1}}'],
]

test.each(BAD_BODIES)('a checkout with %s is 400 and does nothing', async (_name, body) => {
  const response = await send('POST', '/api/checkout', body)
  expect(response.status).toBe(400)
  await problem(response)
  expect((await effects()).total).toBe(0)
})

test('other bad requests are refused in the same way, never with 500', async () => {
  const tooLarge = await send('POST', '/api/checkout', JSON.stringify({ items: 'x'.repeat(70_000) }))
  const form = await fetch(`${shop.url}/api/checkout`, { method: 'POST', body: 'items=1' })
  const wrongStatus = await setStatus('ORD-001', 'lost')
  const noRoute = await fetch(`${shop.url}/api/nothing`)
  const wrongMethod = await fetch(`${shop.url}/api/orders/ORD-001`, { method: 'DELETE' })
  const badKey = await setStatus('ORD-001', 'processing', 'a b')
  const longKey = await setStatus('ORD-001', 'processing', 'k'.repeat(256))
  const badPath = await fetch(`${shop.url}/api/orders/%ff`)
  const responses = [tooLarge, form, wrongStatus, noRoute, wrongMethod, badKey, longKey, badPath]
  expect(responses.map((response) => response.status)).toEqual([413, 415, 400, 404, 404, 400, 400, 400])
  for (const response of responses) await problem(response)
  expect((await effects()).total).toBe(0)
})

test('the same key and body gets the first answer and no second effect', async () => {
  const first = await buy('mug', 2, 'key-1')
  const again = await buy('mug', 2, 'key-1')
  const reordered = await send('POST', '/api/checkout', '{"items":[{"quantity":2,"productId":"mug"}]}', 'key-1')
  const text = await first.text()
  expect([first.status, again.status, reordered.status]).toEqual([201, 201, 201])
  expect([await again.text(), await reordered.text()]).toEqual([text, text])
  expect([first, again].map((response) => response.headers.get('idempotency-replayed'))).toEqual([null, 'true'])
  expect(await stockOf('mug')).toBe(22)
  expect(await effects('?idempotencyKey=key-1')).toMatchObject({ total: 1, items: [{ idempotencyKey: 'key-1' }] })
})

test('the same key for anything else is 422 and does nothing', async () => {
  await setStatus('ORD-001', 'processing', 'key-1')
  const others = [
    await setStatus('ORD-001', 'shipped', 'key-1'),
    await setStatus('ORD-003', 'processing', 'key-1'),
    await buy('mug', 1, 'key-1'),
  ]
  expect(others.map((response) => response.status)).toEqual([422, 422, 422])
  expect((await effects()).total).toBe(1)
})

test('a refusal is the stored answer of its key too', async () => {
  const refused = await setStatus('ORD-001', 'shipped', 'key-1')
  await setStatus('ORD-001', 'processing')
  const again = await setStatus('ORD-001', 'shipped', 'key-1')
  expect([refused.status, again.status]).toEqual([409, 409])
  expect(await again.text()).toBe(await refused.text())
  expect((await setStatus('ORD-001', 'shipped', 'key-2')).status).toBe(200)
})

test('an invalid request does not use up its key', async () => {
  expect((await setStatus('ORD-001', 'lost', 'key-1')).status).toBe(400)
  expect((await setStatus('ORD-001', 'processing', 'key-1')).status).toBe(200)
})

test('of two checkouts for the last item one wins', async () => {
  const both = await Promise.all([buy('poster', 1), buy('poster', 1)])
  expect(both.map((response) => response.status).sort()).toEqual([201, 409])
  expect(await stockOf('poster')).toBe(0)
  expect((await effects()).total).toBe(1)
})

test('twenty sends of one key at once are one effect', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => buy('mug', 1, 'key-1')))
  expect(new Set(await Promise.all(answers.map((response) => response.text()))).size).toBe(1)
  expect(answers.filter((response) => response.headers.get('idempotency-replayed') === 'true')).toHaveLength(19)
  expect((await effects()).total).toBe(1)
})

async function startProcess(): Promise<{ url: string; stop: () => Promise<unknown> }> {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url))
  const child = spawn(process.execPath, [main, '--port', '0', '--data', dirname(databaseFile())], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const exited = once(child, 'exit')
  return {
    url: String(line).match(/http:\S+/)?.[0] ?? '',
    stop: () => {
      child.kill('SIGTERM')
      return exited
    },
  }
}

test('two processes on one file share stock, numbers and keys', async () => {
  const others = await Promise.all([startProcess(), startProcess()])
  const post = (index: number, productId: string, key: string) =>
    fetch(`${others[index % 2]?.url}/api/checkout`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify({ items: [{ productId, quantity: 1 }] }),
    })
  const race = await Promise.all(Array.from({ length: 8 }, (_, index) => post(index, 'lamp', `lamp-${index}`)))
  const repeats = await Promise.all(Array.from({ length: 8 }, (_, index) => post(index, 'mug', 'same')))
  const exits = await Promise.all(others.map((other) => other.stop()))
  expect(race.map((response) => response.status).sort()).toEqual([201, 201, 201, 409, 409, 409, 409, 409])
  expect(repeats.map((response) => response.status)).toEqual(Array(8).fill(201))
  expect(await effects('?idempotencyKey=same')).toMatchObject({ total: 1 })
  expect((await effects()).total).toBe(4)
  expect(exits).toEqual([
    [0, null],
    [0, null],
  ])
})

test('a restart keeps orders, stock, effects and keys, and seeds nothing twice', async () => {
  const first = await (await buy('mug', 2, 'key-1')).text()
  await shop.close()
  shop = await createShop({ databaseFile: databaseFile(), port: 0 })
  expect(await (await buy('mug', 2, 'key-1')).text()).toBe(first)
  expect(await get('/api/orders/ORD-013')).toMatchObject({ status: 'pending' })
  expect([await stockOf('mug'), (await effects()).total, (await get<List<OrderSummary>>('/api/orders')).total]).toEqual([22, 1, 13])
})

test('the database itself refuses what the rules forbid', async () => {
  await setStatus('ORD-001', 'processing')
  await shop.close()
  using db = new DatabaseSync(databaseFile())
  for (const sql of [
    "UPDATE product SET stock = -1 WHERE id = 'mug'",
    "UPDATE shop_order SET status = 'lost'",
    "UPDATE order_line SET product_id = 'unicorn'",
    'UPDATE order_line SET quantity = 0',
    "DELETE FROM shop_order WHERE id = 'ORD-001'",
    "UPDATE effect SET kind = 'order_placed'",
    'DELETE FROM effect',
  ]) {
    expect(() => db.exec(sql), sql).toThrow(/constraint failed|append-only/)
  }
})

test('a port that is taken is an error, and the file is let go', async () => {
  const port = Number(new URL(shop.url).port)
  await expect(createShop({ databaseFile: join(folder, 'other.db'), port })).rejects.toThrow(/EADDRINUSE/)
})

test('pages of this machine may use the routes with the key of an attempt; pages from elsewhere may not', async () => {
  const ask = (origin: string) =>
    fetch(`${shop.url}/api/orders/ORD-001/status`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'content-type,idempotency-key' },
    })
  for (const origin of ['http://127.0.0.1:4319', 'http://localhost:5173', 'http://[::1]:1']) {
    const preflight = await ask(origin)
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin)
    expect(preflight.headers.get('access-control-allow-credentials')).toBe('true')
    expect(preflight.headers.get('access-control-allow-methods')).toContain('PATCH')
    expect(preflight.headers.get('access-control-allow-headers')).toContain('idempotency-key')
    const order = await fetch(`${shop.url}/api/orders/ORD-001`, { headers: { origin } })
    expect(order.headers.get('access-control-allow-origin')).toBe(origin)
    expect(order.headers.get('vary')).toBe('origin')
  }
  for (const origin of ['https://evil.example', 'http://127.0.0.1.evil.example', 'http://localhost.evil.example', 'null', 'file://']) {
    expect((await ask(origin)).headers.get('access-control-allow-origin'), origin).toBeNull()
    const read = await fetch(`${shop.url}/api/orders/ORD-001`, { headers: { origin } })
    expect(read.headers.get('access-control-allow-origin'), origin).toBeNull()
  }
  const page = await fetch(shop.url, { headers: { origin: 'http://127.0.0.1:4319' } })
  expect(page.headers.get('access-control-allow-origin')).toBeNull()
})
