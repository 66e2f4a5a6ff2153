import { afterAll, expect, test } from 'vitest'
import { context, failureOf, preview, SHOP, STATUS_INPUT, startShop, TOKEN } from '../testing/shop.ts'

const shop = await startShop()
afterAll(() => shop[Symbol.asyncDispose]())
const { answers, baseUrl, lastSeen, open, seen } = shop

test('a route is a tool with the port in order', () => {
  const tool = open(SHOP)('updateOrderStatus')
  expect(tool).toMatchObject({
    name: 'shop.updateOrderStatus',
    group: 'shop',
    modelName: 'shop_updateOrderStatus',
    effect: 'write',
    executor: 'server',
    idempotent: true,
    timeoutMs: 15_000,
    destination: baseUrl,
    inputSchema: STATUS_INPUT,
    description: 'PATCH /api/orders/{orderId}/status',
  })
  expect(tool.describe({ orderId: 'ORD-1', newStatus: 'shipped' })).toBe('Set order ORD-1 to shipped')
})

test('a write sends its body and the idempotency key of the attempt, once, on a connection of its own', async () => {
  answers(200, { id: 'ORD-1', status: 'shipped' })
  const before = seen.length
  const output = await open(SHOP)('updateOrderStatus').execute({ orderId: 'ORD-1', newStatus: 'shipped' }, context())
  expect(output).toEqual({ id: 'ORD-1', status: 'shipped' })
  expect(seen.length - before).toBe(1)
  expect(lastSeen()).toMatchObject({ method: 'PATCH', url: '/api/orders/ORD-1/status', body: '{"status":"shipped"}' })
  expect(lastSeen().headers).toMatchObject({
    'idempotency-key': 'act_1-1',
    'content-type': 'application/json',
    authorization: `Bearer ${TOKEN}`,
    connection: 'close',
  })
})

test('a read sends neither body nor idempotency key, and only the query that is declared', async () => {
  answers(200, [])
  const getOrders = open(SHOP)('getOrders')
  expect(await getOrders.execute({ status: 'a&b=c d', tags: ['x', 'y'] }, context())).toEqual([])
  expect(lastSeen()).toMatchObject({ method: 'GET', url: '/api/orders?status=a%26b%3Dc+d&tag=x&tag=y&limit=50', body: '' })
  expect(lastSeen().headers['idempotency-key']).toBeUndefined()
  await getOrders.execute({}, context())
  expect(lastSeen().url).toBe('/api/orders?limit=50')
  expect(getOrders).toMatchObject({ effect: 'read', idempotent: true })
})

test('a write with an empty list in its query is refused: without the list it would change something else', () => {
  const ids = { type: 'object', properties: { ids: { type: 'array', items: { type: 'string' } } } }
  const purge = { path: '/tasks', query: { id: '{ids}' }, input: ids }
  const tool = open({ purge: { ...purge, method: 'DELETE' }, find: { ...purge, method: 'GET' } })
  expect(tool('purge').check({ ids: [] })).toEqual({
    ok: false,
    issues: [{ path: '/ids', message: 'ids must not be empty: it would not be sent.' }],
  })
  expect(tool('purge').check({ ids: ['7'] })).toMatchObject({ ok: true })
  expect(tool('purge').check({})).toMatchObject({ ok: true })
  expect(tool('find').check({ ids: [] })).toMatchObject({ ok: true })
})

test('a POST without a body template sends every argument that its path does not use', async () => {
  answers(201, { order: { id: 'ORD-9' } })
  const checkout = open(SHOP)('checkout')
  const args = { items: [{ sku: 'A', quantity: 2 }], customerName: 'Ana' }
  const output = await checkout.execute(args, context())
  expect(JSON.parse(lastSeen().body)).toEqual(args)
  expect(checkout.resultUrl?.(args, output)).toBe(`${baseUrl}/orders/ORD-9?from=agent`)
  expect(checkout.resultUrl?.(args, { order: {} })).toBeUndefined()
  expect(checkout.resultUrl?.(args, { order: { id: '../../admin' } })).toBeUndefined()
})

test('a body template keeps types, fills texts, and leaves out what depends on an absent argument', async () => {
  answers(200, {})
  const tool = open(SHOP)('renameOrder')
  await tool.execute({ orderId: 'O', note: 'fragile', author: 'Ana', priority: 2 }, context())
  expect(JSON.parse(lastSeen().body)).toEqual({
    text: 'Note for O: fragile',
    by: { name: 'Ana', robot: true },
    priority: 2,
    list: ['fragile', 'Ana'],
  })
  await tool.execute({ orderId: 'O', note: 'fragile' }, context())
  expect(JSON.parse(lastSeen().body)).toEqual({ text: 'Note for O: fragile', by: { robot: true }, list: ['fragile'] })
})

test('a preview reads the current values from the service and lists what compare names', async () => {
  answers(200, { id: 'ORD-1', status: 'pending', customer: { name: 'Ana' } })
  const tool = open(SHOP)
  expect(await preview(tool('updateOrderStatus'), { orderId: 'ORD-1', newStatus: 'shipped' })).toEqual([
    { field: 'status', oldValue: 'pending', newValue: 'shipped' },
  ])
  expect(lastSeen()).toMatchObject({ method: 'GET', url: '/api/orders/ORD-1' })
  expect(lastSeen().headers).toMatchObject({ authorization: `Bearer ${TOKEN}` })
  expect(await preview(tool('deleteOrder'), { orderId: 'ORD-1' })).toEqual([
    { field: 'status', oldValue: 'pending' },
    { field: 'customer.name', oldValue: 'Ana' },
  ])
})

test('a preview shows values of an answer as they are, and the action rests on them', async () => {
  const quoted = open({
    checkout: {
      ...SHOP.checkout,
      method: 'POST',
      path: '/api/checkout',
      before: {
        get: '/api/quote',
        query: { items: '{items}' },
        compare: { customerName: '{customerName}' },
        show: { total: 'sum.total', gift: 'gift' },
      },
    },
  })('checkout')
  const look = (total: string) => {
    answers(200, { sum: { total } })
    return quoted.preview?.({ items: [{ sku: 'a&b', quantity: 2 }] }, new AbortController().signal)
  }
  const first = await look('€5.00')
  expect(first?.fields).toEqual([{ field: 'total', newValue: '€5.00' }])
  expect(lastSeen()).toMatchObject({ method: 'GET', url: `/api/quote?${new URLSearchParams({ items: '{"sku":"a&b","quantity":2}' })}` })
  expect((await look('€5.00'))?.precondition).toEqual(first?.precondition)
  expect((await look('€6.00'))?.precondition).not.toEqual(first?.precondition)
})

test('a creation previews its new values, without asking the service; a read and a blind change have no preview', async () => {
  const tool = open(SHOP)
  const before = seen.length
  expect(await preview(tool('checkout'), { items: [], customerName: 'Ana' })).toEqual([
    { field: 'items', newValue: [] },
    { field: 'customerName', newValue: 'Ana' },
  ])
  expect(seen.length).toBe(before)
  expect(tool('getOrder').preview).toBeUndefined()
  const blind = open({ set: { method: 'PUT', path: '/x/{id}' } })('set')
  expect(blind.preview).toBeUndefined()
})

test('a preview that cannot be read says so', async () => {
  answers(404, { error: 'no order ORD-1' })
  const error = await failureOf(Promise.resolve(preview(open(SHOP)('updateOrderStatus'), { orderId: 'ORD-1', newStatus: 'shipped' })))
  expect(error).toMatchObject({ kind: 'refused', message: `${baseUrl} refused (404): no order ORD-1.` })
})

test('the base URL keeps its path, links go to the public address', async () => {
  answers(200, {})
  const tool = open(SHOP, { baseUrl: `${baseUrl}/v2/`, publicUrl: 'https://shop.example.com' })('updateOrderStatus')
  const args = { orderId: 'ORD 1', newStatus: 'shipped' }
  const output = await tool.execute(args, context())
  expect(lastSeen().url).toBe('/v2/api/orders/ORD%201/status')
  expect(tool.resultUrl?.(args, output)).toBe('https://shop.example.com/orders/ORD%201')
  expect(tool.destination).toBe(baseUrl)
})

test('without an input, every placeholder is a required text and nothing else is allowed', () => {
  const tool = open({ set: { method: 'PUT', path: '/a/{one}', query: { q: '{two}' }, body: { three: '{three}' } } })('set')
  expect(tool.inputSchema).toEqual({
    type: 'object',
    required: ['one', 'two', 'three'],
    properties: { one: { type: 'string' }, two: { type: 'string' }, three: { type: 'string' } },
    additionalProperties: false,
  })
  expect(tool.check({ one: 'a', two: 'b', three: 'c', four: 'd' })).toMatchObject({ ok: false, issues: [{ path: '/four' }] })
})

test('an effect is what the method says unless the configuration says otherwise', () => {
  const tool = open({
    search: { method: 'POST', path: '/search', effect: 'read' },
    ping: { method: 'GET', path: '/unsubscribe', effect: 'write' },
    head: { method: 'HEAD', path: '/x' },
    put: { method: 'PUT', path: '/x' },
  })
  expect(['search', 'ping', 'head', 'put'].map((name) => tool(name).effect)).toEqual(['read', 'write', 'read', 'write'])
})

test('a read may be given again for as long as the table says', () => {
  const tool = open({ a: { method: 'GET', path: '/a', cacheFor: 'PT1M30S' }, b: { method: 'GET', path: '/b' } })
  expect([tool('a').cacheForMs, tool('b').cacheForMs]).toEqual([90_000, undefined])
})

test('a route that says nothing of itself is described by its method and filled path', () => {
  const tool = open(SHOP)
  expect(tool('getOrder').describe({ orderId: 'ORD 1' })).toBe('GET /api/orders/ORD%201')
  const long = open({
    a: {
      method: 'PUT',
      path: '/a/{id}',
      describe: 'Set {id} to {text}',
      body: { text: '{text}' },
      input: { type: 'object', required: ['id'], properties: { id: {}, text: {} } },
    },
  })('a')
  expect(long.describe({ id: 1 })).toBe('Set 1 to (none)')
  expect(long.describe({ id: 1, text: 'x'.repeat(300) })).toBe(`Set 1 to ${'x'.repeat(200)}… (100 more characters)`)
})
