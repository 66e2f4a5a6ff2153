import type { JsonValue } from '@countersign/core'
import { afterAll, expect, test, vi } from 'vitest'
import { freePort } from '../../../../verification/testing/free-port.ts'
import { openTools } from '../open-tools.ts'
import { type Answer, context, failureOf, SHOP, startShop, TOKEN } from '../testing/shop.ts'
import { RouteTable } from './route-schema.ts'

const shop = await startShop()
afterAll(() => shop[Symbol.asyncDispose]())
const { answers, baseUrl, open, seen } = shop

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
  const ways: [string, Answer, RegExp][] = [
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
    const isSilent = name.startsWith('silence')
    // The second counts from when the request is there: on a busy machine, it may be over before.
    const late = new AbortController()
    using limit = isSilent ? vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late.signal) : undefined
    shop.answer = (request, response) => {
      way(request, response)
      if (isSilent) setTimeout(() => late.abort(), 1_000)
    }
    const before = seen.length
    const tool = (isSilent ? hasty : patient)('updateOrderStatus')
    const error = await failureOf(tool.execute({ orderId: 'ORD-1', newStatus: 'shipped' }, context()))
    expect(error, name).toMatchObject({ kind: 'ambiguous', retryable: true, message: expect.stringMatching(words) })
    expect(seen.length - before, name).toBe(1)
    if (limit) expect(limit.mock.calls).toEqual([[1_000]])
  }
})

test("the caller's signal ends a call whose outcome is then unknown; an ended one sends nothing", async () => {
  const stop = new AbortController()
  shop.answer = () => stop.abort()
  const tool = open(SHOP)('updateOrderStatus')
  const args = { orderId: 'ORD-1', newStatus: 'shipped' }
  expect(await failureOf(tool.execute(args, context(stop.signal)))).toMatchObject({ kind: 'ambiguous' })
  const before = seen.length
  expect(await failureOf(tool.execute(args, context(stop.signal)))).toMatchObject({ kind: 'broken' })
  expect(seen.length).toBe(before)
})

test('a service that is not there is unreachable: nothing was sent', async () => {
  // Not the port of a server that was closed: another test may listen there by now.
  for (const url of [`http://127.0.0.1:${await freePort()}`, 'http://no-such-host.invalid', 'http://127.0.0.1:6000']) {
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
    expect(error.kind).toBe(status < 303 ? 'ambiguous' : 'refused')
    expect(error.message).toContain(`redirect to https://evil.example (${status})`)
    expect(error.message).not.toContain('steal')
    expect(seen.length - before).toBe(1)
  }
})

test.each([301, 302, 303])('%i after a write means that it may have happened', async (status) => {
  answers(status, '', { location: '/orders/ORD-1' })
  const error = await failureOf(open(SHOP)('checkout').execute({ items: [] }, context()))
  expect(error).toMatchObject({ kind: 'ambiguous' })
})

test('an answer without a body gives its status, a body that is not JSON its text', async () => {
  const tool = open(SHOP)('getOrder')
  shop.answer = (_, response) => response.writeHead(204).end()
  expect(await tool.execute({ orderId: 'O' }, context())).toEqual({ status: 204 })
  answers(200, 'hello')
  expect(await tool.execute({ orderId: 'O' }, context())).toBe('hello')
  answers(200, '{"a":1,"a":2}')
  expect(await tool.execute({ orderId: 'O' }, context())).toBe('{"a":1,"a":2}')
  answers(200, 'null')
  expect(await tool.execute({ orderId: 'O' }, context())).toEqual({ status: 200 })
})

test('an answer over 1 MB is refused for a read and left out for a write that happened', async () => {
  shop.answer = (_, response) => response.end('x'.repeat(1_100_000))
  expect(await failureOf(open(SHOP)('getOrder').execute({ orderId: 'O' }, context()))).toMatchObject({ kind: 'refused' })
  expect(await open(SHOP)('checkout').execute({ items: [] }, context())).toEqual({ status: 200, note: expect.stringContaining('1 MB') })
})

test('a secret of the headers does not come back in a result or an error, even when the service echoes it', async () => {
  const tool = open(SHOP)('getOrder')
  shop.answer = (request, response) => response.end(JSON.stringify({ headers: request.headers, [TOKEN]: [`say ${TOKEN}`], text: TOKEN }))
  expect(JSON.stringify(await tool.execute({ orderId: 'O' }, context()))).not.toContain(TOKEN)
  for (const status of [400, 500]) {
    shop.answer = (request, response) =>
      response.writeHead(status).end(JSON.stringify({ error: `bad header ${request.headers.authorization}` }))
    expect((await failureOf(tool.execute({ orderId: 'O' }, context()))).message).toContain('bad header [redacted]')
  }
})

test('a secret is known by its header or by where it came from; ordinary header values stay readable', async () => {
  shop.answer = (request, response) => response.end(JSON.stringify(request.headers))
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
