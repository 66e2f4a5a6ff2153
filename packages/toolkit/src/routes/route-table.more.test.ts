import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ExecuteContext, type JsonObject, type JsonValue, type PreviewField, type Tool, ToolError } from '@countersign/core'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTools } from '../open-tools.ts'
import { RouteTable, type RouteTableInput } from './route-schema.ts'

const TOKEN = 'tok-4f9a27c1e8'

interface Seen {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
}

/** What the shop got, in order; what it answers next, per test. */
const seen: Seen[] = []
let answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end('{}')

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
  answer(request, response)
})
let baseUrl = ''

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

const answers = (status: number, body: JsonValue, headers: Record<string, string> = {}) => {
  answer = (_, response) => response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
}

const STATUS_INPUT: JsonObject = {
  type: 'object',
  required: ['orderId', 'newStatus'],
  additionalProperties: false,
  properties: { orderId: { type: 'string' }, newStatus: { type: 'string', enum: ['pending', 'processing', 'shipped', 'cancelled'] } },
}

const SHOP: RouteTableInput['tools'] = {
  getOrders: {
    method: 'GET',
    path: '/api/orders',
    query: { status: '{status}', tag: '{tags}', limit: 50 },
    input: { type: 'object', properties: { status: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } } },
  },
  getOrder: { method: 'GET', path: '/api/orders/{orderId}' },
  updateOrderStatus: {
    method: 'PATCH',
    path: '/api/orders/{orderId}/status',
    body: { status: '{newStatus}' },
    input: STATUS_INPUT,
    describe: 'Set order {orderId} to {newStatus}',
    before: { get: '/api/orders/{orderId}', compare: { status: '{newStatus}' } },
    resultUrl: '/orders/{orderId}',
    idempotent: true,
  },
  checkout: {
    method: 'POST',
    path: '/api/checkout',
    input: {
      type: 'object',
      required: ['items'],
      properties: {
        items: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' }, quantity: { type: 'integer' } } } },
        customerName: { type: 'string' },
      },
    },
    resultUrl: '/orders/{result.order.id}?from=agent',
  },
  renameOrder: {
    method: 'POST',
    path: '/api/orders/{orderId}/notes',
    body: {
      text: 'Note for {orderId}: {note}',
      by: { name: '{author}', robot: true },
      priority: '{priority}',
      list: ['{note}', '{author}'],
    },
    input: {
      type: 'object',
      required: ['orderId', 'note'],
      properties: { orderId: { type: 'string' }, note: { type: 'string' }, author: { type: 'string' }, priority: { type: 'integer' } },
    },
  },
  deleteOrder: {
    method: 'DELETE',
    path: '/api/orders/{orderId}',
    before: { get: '/api/orders/{orderId}', compare: ['status', 'customer.name'] },
  },
}

function open(tools: RouteTableInput['tools'], more: Partial<RouteTableInput> = {}) {
  const routes = RouteTable.parse({ baseUrl, headers: { authorization: `Bearer ${TOKEN}` }, tools, ...more })
  const registry = openTools({ shop: { prefix: true, routes } })
  return (name: string): Tool => {
    const tool = registry.byName(`shop.${name}`)
    if (!tool) throw new Error(`no tool ${name}`)
    return tool
  }
}

const context = (signal = new AbortController().signal): ExecuteContext => ({
  actionId: 'act_1',
  idempotencyKey: 'act_1-1',
  signal,
  principalId: 'prn_1',
})
const lastSeen = (): Seen => {
  const last = seen.at(-1)
  if (!last) throw new Error('nothing was sent')
  return last
}
const preview = async (tool: Tool, args: JsonObject): Promise<PreviewField[] | undefined> =>
  (await tool.preview?.(args, new AbortController().signal))?.fields

async function failureOf(work: Promise<unknown>): Promise<ToolError> {
  const error = await work.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof ToolError)) throw error
  expect(error.message + String(error.stack) + JSON.stringify(error)).not.toContain(TOKEN)
  return error
}

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

test("a 4xx is refused, in the service's own short words", async () => {
  const tool = open(SHOP)('updateOrderStatus')
  const run = () => failureOf(tool.execute({ orderId: 'ORD-1', newStatus: 'shipped' }, context()))
  const words: [JsonValue, string][] = [
    [{ type: 'about:blank', title: 'Conflict', detail: 'ORD-1 was cancelled.' }, ': ORD-1 was cancelled.'],
    [{ error: 'no stock' }, ': no stock.'],
    [{ error: { code: 4, message: 'no\u202e stock\n now' } }, ': no stock now.'],
    [{ message: 'gone' }, ': gone.'],
    ['plain words', ': plain words.'],
    ['<html><body>nginx</body></html>', '.'],
    [{ x: 1 }, '.'],
    ['', '.'],
  ]
  for (const [body, said] of words) {
    answers(409, body)
    expect(await run()).toMatchObject({ kind: 'refused', retryable: false, message: `${baseUrl} refused (409)${said}` })
  }
  answers(400, { error: 'x'.repeat(5_000) })
  expect((await run()).message.length).toBeLessThan(600)
  answers(429, { error: 'slow down' })
  expect(await run()).toMatchObject({ kind: 'refused', retryable: true })
})

test('a 5xx, a reset, a cut body and silence are unknown outcomes, each sent once', async () => {
  const toolIn = (timeoutMs: number) =>
    open({ ...SHOP, updateOrderStatus: { ...SHOP.updateOrderStatus, method: 'PATCH', path: '/api/orders/{orderId}/status', timeoutMs } })
  const [patient, hasty] = [toolIn(240_000), toolIn(1_000)]
  const ways: [string, typeof answer, RegExp][] = [
    ['500', (_, response) => response.writeHead(500).end('{"error":"boom"}'), /failed \(500\): boom\. Whether it acted is not known/],
    ['502', (_, response) => response.writeHead(502).end('<html>'), /failed \(502\)\./],
    ['reset', (request) => request.socket.resetAndDestroy(), /broke before it answered/],
    ['hang up', (request) => request.socket.destroy(), /broke before it answered/],
    [
      'cut body',
      (_, response) => {
        response.writeHead(200, { 'content-length': '100' }).flushHeaders()
        response.write('{"id":', () => response.destroy())
      },
      /broke before it answered/,
    ],
    ['silence', () => {}, /did not answer within 1 s/],
    ['silence after the head', (_, response) => response.writeHead(200).flushHeaders(), /did not answer within 1 s/],
  ]
  for (const [name, way, words] of ways) {
    answer = way
    const before = seen.length
    const tool = (name.startsWith('silence') ? hasty : patient)('updateOrderStatus')
    const error = await failureOf(tool.execute({ orderId: 'ORD-1', newStatus: 'shipped' }, context()))
    expect(error, name).toMatchObject({ kind: 'ambiguous', retryable: true, message: expect.stringMatching(words) })
    expect(seen.length - before, name).toBe(1)
  }
})

test("the caller's signal ends a call whose outcome is then unknown; an ended one sends nothing", async () => {
  const stop = new AbortController()
  answer = () => stop.abort()
  const tool = open(SHOP)('updateOrderStatus')
  const args = { orderId: 'ORD-1', newStatus: 'shipped' }
  expect(await failureOf(tool.execute(args, context(stop.signal)))).toMatchObject({ kind: 'ambiguous' })
  const before = seen.length
  expect(await failureOf(tool.execute(args, context(stop.signal)))).toMatchObject({ kind: 'broken' })
  expect(seen.length).toBe(before)
})

test('a service that is not there is unreachable: nothing was sent', async () => {
  const gone = createServer()
  gone.listen(0, '127.0.0.1')
  await once(gone, 'listening')
  const { port } = gone.address() as AddressInfo
  await new Promise((done) => gone.close(done))
  for (const url of [`http://127.0.0.1:${port}`, 'http://no-such-host.invalid', 'http://127.0.0.1:6000']) {
    const tool = open(SHOP, { baseUrl: url })('updateOrderStatus')
    const error = await failureOf(tool.execute({ orderId: 'ORD-1', newStatus: 'shipped' }, context()))
    expect(error).toMatchObject({ kind: 'unreachable', retryable: true })
    expect(error.message).toContain('Nothing was sent')
  }
})

test('a redirect is not followed and names only an origin', async () => {
  const tool = open(SHOP)('updateOrderStatus')
  for (const status of [301, 302, 307, 308]) {
    answers(status, '', { location: 'https://evil.example/steal?code=abc' })
    const before = seen.length
    const error = await failureOf(tool.execute({ orderId: 'ORD-1', newStatus: 'shipped' }, context()))
    expect(error).toMatchObject({ kind: 'refused', retryable: false })
    expect(error.message).toContain(`redirect to https://evil.example (${status})`)
    expect(error.message).not.toContain('steal')
    expect(seen.length - before).toBe(1)
  }
})

test('303 after a write means that it may have happened', async () => {
  answers(303, '', { location: '/orders/ORD-1' })
  const error = await failureOf(open(SHOP)('checkout').execute({ items: [] }, context()))
  expect(error).toMatchObject({ kind: 'ambiguous' })
})

test('an answer without a body gives its status, a body that is not JSON its text', async () => {
  const tool = open(SHOP)('getOrder')
  answer = (_, response) => response.writeHead(204).end()
  expect(await tool.execute({ orderId: 'O' }, context())).toEqual({ status: 204 })
  answers(200, 'hello')
  expect(await tool.execute({ orderId: 'O' }, context())).toBe('hello')
  answers(200, '{"a":1,"a":2}')
  expect(await tool.execute({ orderId: 'O' }, context())).toBe('{"a":1,"a":2}')
  answers(200, 'null')
  expect(await tool.execute({ orderId: 'O' }, context())).toEqual({ status: 200 })
})

test('an answer over 1 MB is refused for a read and left out for a write that happened', async () => {
  answer = (_, response) => response.end('x'.repeat(1_100_000))
  expect(await failureOf(open(SHOP)('getOrder').execute({ orderId: 'O' }, context()))).toMatchObject({ kind: 'refused' })
  expect(await open(SHOP)('checkout').execute({ items: [] }, context())).toEqual({ status: 200, note: expect.stringContaining('1 MB') })
})

test('a secret of the headers does not come back in a result or an error, even when the service echoes it', async () => {
  const tool = open(SHOP)('getOrder')
  answer = (request, response) => response.end(JSON.stringify({ headers: request.headers, [TOKEN]: [`say ${TOKEN}`], text: TOKEN }))
  expect(JSON.stringify(await tool.execute({ orderId: 'O' }, context()))).not.toContain(TOKEN)
  for (const status of [400, 500]) {
    answer = (request, response) => response.writeHead(status).end(JSON.stringify({ error: `bad header ${request.headers.authorization}` }))
    expect((await failureOf(tool.execute({ orderId: 'O' }, context()))).message).toContain('bad header [redacted]')
  }
})

const HOSTILE: JsonValue[] = [
  '',
  ' ',
  '\t',
  '\u00a0',
  '.',
  '..',
  '...',
  ' ..',
  '.. ',
  '..;',
  '..;x=1',
  '.;a',
  '/',
  '//',
  'a/b',
  '/etc',
  '../x',
  '..\\x',
  'a\\b',
  '\\',
  '\\\\host',
  '%2e',
  '%2E%2e',
  '.%2e',
  '%2e.',
  '%252e%252e',
  '%25252e%25252e',
  '%2525252525252e',
  '%2f',
  'a%2fb',
  'a%2Fb',
  'a%252fb',
  'a%25252fb',
  '%5c',
  'a%5Cb',
  '%255c',
  '%u002e%u002e',
  '%u002f',
  'a%u2215/b',
  '%c0%ae%c0%ae',
  '%c0%af',
  '%e0%80%af',
  '%ff',
  '%00',
  'a%00b',
  'a%0d%0aX: y',
  '%250a',
  '%09',
  'a\0b',
  'a\r\nHost: evil',
  'a\nb',
  'a\u007fb',
  'a\u0085b',
  'a\u2028b',
  'a\u200bb',
  '\u202eabc',
  '\ufeffx',
  'a\u00adb',
  '\u{e0041}x',
  '\ud800',
  'a\udc00',
  '．．',
  '．',
  '／',
  'a／b',
  '＼',
  '%ef%bc%8f',
  '%ef%bc%8e%ef%bc%8e',
  '℀',
  '…',
  '‥',
  'x'.repeat(1_001),
  null,
  ['a'],
  { a: 1 },
  [],
  '.\u200b.',
  '%2e%2e%2f',
  '%2e%2e;',
]

test('a hostile value never reaches a path: refused when proposed, refused again when sent', async () => {
  expect(HOSTILE.length).toBeGreaterThanOrEqual(60)
  const input: JsonObject = { type: 'object', required: ['orderId'], properties: { orderId: {} } }
  const tool = open({ getOrder: { method: 'GET', path: '/api/orders/{orderId}', input } })('getOrder')
  const before = seen.length
  for (const orderId of HOSTILE) {
    const checked = tool.check({ orderId })
    expect(checked, JSON.stringify(orderId)).toMatchObject({
      ok: false,
      issues: [{ path: '/orderId', message: expect.stringMatching(/^orderId must /) }],
    })
    expect(await failureOf(tool.execute({ orderId }, context())), JSON.stringify(orderId)).toMatchObject({ kind: 'broken' })
  }
  expect(seen.length).toBe(before)
})

test('an honest value arrives as one segment, exactly as it was', async () => {
  answers(200, {})
  const tool = open({
    getOrder: {
      method: 'GET',
      path: '/api/orders/{orderId}/x',
      input: { type: 'object', required: ['orderId'], properties: { orderId: {} } },
    },
  })('getOrder')
  const values: JsonValue[] = [
    'ORD-1',
    'a b',
    'ä€',
    '100%',
    'a?b',
    'a#b',
    'a&b=c',
    'a;b',
    'a:b@c',
    "o'clock",
    'v1.2',
    '.git',
    'a..b',
    '日本',
    42,
    1e21,
    -0.5,
    true,
    '"<>',
    '{x}',
    '[1]',
    '^|`',
    '+',
    '%zz',
    '👍',
  ]
  for (const orderId of values) {
    expect(tool.check({ orderId }), String(orderId)).toMatchObject({ ok: true })
    await tool.execute({ orderId }, context())
    const segments = lastSeen().url.split('/')
    expect(segments.length).toBe(5)
    expect(decodeURIComponent(segments[3] ?? '')).toBe(String(orderId))
  }
})

test('whatever the value, the path stays in its template', async () => {
  const { buildUrl, pathValueFault, readPathTemplate } = await import('../http/url-template.ts')
  const template = readPathTemplate('/api/orders/{id}/lines/line-{line}')
  const piece = fc.constantFrom(
    '.',
    '..',
    '/',
    '\\',
    '%2e',
    '%2f',
    '%25',
    '%5c',
    '%',
    ';',
    '?',
    '#',
    ' ',
    'a',
    '0',
    '\n',
    '\u200b',
    '．',
    '／',
    '@',
    ':',
    'é',
    '%c0',
    '&',
  )
  const value = fc.oneof(
    fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
    fc.string({ unit: 'binary', maxLength: 12 }),
  )
  for (const base of [new URL('https://api.example.com'), new URL('https://api.example.com/v2/')]) {
    const prefix = base.pathname.replace(/\/$/, '')
    fc.assert(
      fc.property(value, value, (id, line) => {
        const fault = pathValueFault(id) ?? pathValueFault(line)
        if (fault !== undefined) {
          expect(() => buildUrl(base, template, { id, line })).toThrow(ToolError)
          return
        }
        const url = buildUrl(base, template, { id, line })
        expect(url.href).toBe(
          `https://api.example.com${prefix}/api/orders/${encodeURIComponent(id)}/lines/line-${encodeURIComponent(line)}`,
        )
        // Also for a service that decodes twice over and normalises.
        for (let text = id, n = 0; n < 6; n++) {
          expect(text).not.toMatch(/[/\\\u0000-\u001f]|^\.+$/)
          text = text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))).normalize('NFKC')
        }
      }),
      { numRuns: 1_500 },
    )
  }
})

test('a secret is known by its header or by where it came from; ordinary header values stay readable', async () => {
  answer = (request, response) => response.end(JSON.stringify(request.headers))
  const headers = {
    cookie: 'theme=light; sid=abcdef-1',
    'x-tenant': 'acme-corp',
    'x-shop': 'from-environment',
    authorization: 'Basic dXNlcjpw==',
  }
  const routes = RouteTable.parse({ baseUrl, headers, tools: { x: { method: 'GET', path: '/x' } } })
  const tool = openTools({ shop: { prefix: true, routes, secrets: ['from-environment'] } }).byName('shop.x')
  const echoed = JSON.stringify(await tool?.execute({}, context()))
  for (const secret of ['abcdef-1', 'from-environment', 'dXNlcjpw']) expect(echoed).not.toContain(secret)
  expect(echoed).toContain('acme-corp')
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
