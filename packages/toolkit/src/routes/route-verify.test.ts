import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type JsonObject, type Tool, ToolError } from '@countersign/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTools, toolDefinitionHash } from '../open-tools.ts'
import { RouteTable, type RouteTableInput } from './route-schema.ts'

/** What the payment service was asked; what it answers next. */
const asked: { method: string; url: string; headers: IncomingMessage['headers'] }[] = []
let answer: (response: ServerResponse) => void = (response) => response.end()
const server = createServer((request, response) => {
  asked.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers })
  answer(response)
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

const answers = (status: number, body: unknown) => {
  answer = (response) => response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
}

type RouteInput = RouteTableInput['tools'][string]
const PAY: RouteInput = {
  method: 'POST',
  path: '/accounts/{account}/payments',
  body: { cents: '{cents}', memo: '{memo}' },
  input: {
    type: 'object',
    required: ['account', 'cents'],
    properties: { account: { type: 'string' }, cents: { type: 'integer' }, memo: { type: 'string' } },
  },
  resultUrl: '/payments/{result.id}',
  verify: {
    get: '/accounts/{account}/payments/{idempotencyKey}?memo={memo}&by=countersign',
    done: { cents: '{cents}', memo: '{memo}', 'state.word': 'paid', 'keys.0': '{idempotencyKey}' },
  },
}

function open(route: RouteInput): Tool {
  const routes = RouteTable.parse({ baseUrl, headers: { authorization: 'Bearer tok-4f9a27c1e8' }, tools: { pay: route } })
  const tool = openTools({ bank: { prefix: true, routes } }).byName('bank.pay')
  if (!tool) throw new Error('no tool')
  return tool
}

const context = () => ({ actionId: 'act_1', idempotencyKey: 'act_1.2', signal: new AbortController().signal })
const verify = (route: RouteInput, args: JsonObject) => open(route).verify?.(args, context())
const ARGS = { account: 'a b', cents: 500, memo: 'x & y' }
const PAID = { id: 9, cents: 500, memo: 'x & y', state: { word: 'paid' }, keys: ['act_1.2'] }

test('a route asks by path and query, with the arguments and the key of the attempt, and only reads', async () => {
  answers(200, PAID)
  const before = asked.length
  expect(await verify(PAY, ARGS)).toEqual({ done: true, output: PAID })
  expect(asked.length - before).toBe(1)
  expect(asked.at(-1)).toMatchObject({
    method: 'GET',
    url: '/accounts/a%20b/payments/act_1.2?memo=x+%26+y&by=countersign',
    headers: { authorization: 'Bearer tok-4f9a27c1e8' },
  })
  expect(asked.at(-1)?.headers['idempotency-key']).toBeUndefined()
})

test('an answer with an id of 64 bits is read: what it proves counts, and the id keeps its digits', async () => {
  answers(200, JSON.stringify({ ...PAID, id: 'ID' }).replace('"ID"', '9007199254740993'))
  expect(await verify(PAY, ARGS)).toEqual({ done: true, output: { ...PAID, id: '9007199254740993' } })
})

test('done is what every named field proves; 404 is not done; everything else tells nothing', async () => {
  const found = async (status: number, body: unknown) => {
    answers(status, body)
    return (await verify(PAY, ARGS))?.done
  }
  expect(await found(200, PAID)).toBe(true)
  expect(await found(404, { error: 'no payment' })).toBe(false)
  expect(await found(200, { ...PAID, cents: 501 })).toBe('unknown')
  expect(await found(200, { ...PAID, cents: '500' })).toBe('unknown')
  expect(await found(200, { ...PAID, state: 'paid' })).toBe('unknown')
  expect(await found(200, { ...PAID, keys: ['act_1.1'] })).toBe('unknown')
  expect(await found(200, [])).toBe('unknown')
  expect(await found(200, '')).toBe('unknown')
  expect(await found(200, '<html>')).toBe('unknown')
  expect(await found(204, '')).toBe('unknown')
})

test('an authoritative 404 counts only as JSON or empty: a proxy that does not find the service answers with a text or a page', async () => {
  const route = { ...PAY, verify: { get: '/payments/{idempotencyKey}', done: { id: 9 }, authoritative: true } }
  const found = (body: unknown) => {
    answers(404, body)
    return verify(route, ARGS)
  }
  expect(await found({ error: 'no payment' })).toEqual({ done: false, authoritative: true })
  expect(await found('')).toEqual({ done: false, authoritative: true })
  expect(await found('<html><h1>404 Not Found</h1>')).toEqual({ done: false })
  expect(await found('default backend - 404')).toEqual({ done: false })
})

test('an authoritative 404 whose body is too large to read, or is cut off, leaves the outcome unknown', async () => {
  const route = { ...PAY, verify: { get: '/payments/{idempotencyKey}', done: { id: 9 }, authoritative: true } }
  answers(404, `<html>${'x'.repeat(1_100_000)}`)
  expect(await verify(route, ARGS)).toEqual({ done: false })
  answers(404, JSON.stringify({ error: 'x'.repeat(1_100_000) }))
  expect(await verify(route, ARGS)).toEqual({ done: false })
  answer = (response) => response.writeHead(404, { 'content-length': '200' }).write('<html>', () => response.socket?.resetAndDestroy())
  expect(await verify(route, ARGS)).toEqual({ done: false })
  answer = (response) => {
    response.writeHead(404, { 'content-length': '200' }).flushHeaders()
    response.socket?.end()
  }
  expect(await verify(route, ARGS)).toEqual({ done: false })
})

test('a service that refuses, breaks, redirects or is silent cannot be asked', async () => {
  for (const status of [301, 400, 401, 410, 429, 500, 502]) {
    answers(status, {})
    await expect(verify(PAY, ARGS), String(status)).rejects.toBeInstanceOf(ToolError)
  }
  answer = () => {}
  await expect(verify({ ...PAY, timeoutMs: 300 }, ARGS)).rejects.toMatchObject({ kind: 'ambiguous' })
  answer = (response) => response.socket?.resetAndDestroy()
  await expect(verify(PAY, ARGS)).rejects.toMatchObject({ kind: 'ambiguous' })
})

test('what depends on an absent argument is not asked for, and proves nothing', async () => {
  const { memo: _, ...args } = ARGS
  answers(200, PAID)
  expect(await verify(PAY, args)).toMatchObject({ done: true })
  expect(asked.at(-1)?.url).toBe('/accounts/a%20b/payments/act_1.2?by=countersign')
  const onlyMemo = { ...PAY, verify: { get: '/payments/{idempotencyKey}', done: { memo: '{memo}' } } }
  expect(await verify(onlyMemo, args)).toEqual({ done: 'unknown' })
})

test('without the key of the attempt, a question that lacks an argument is not asked: it would find what belongs to others', async () => {
  answers(200, { cents: 500, memo: 'of somebody else', state: 'paid', tags: ['x'] })
  const { memo: _, ...args } = ARGS
  const questions: RouteInput['verify'][] = [
    { get: '/payments?memo={memo}', done: { state: 'paid' } },
    { get: '/payments', done: { state: 'paid', memo: '{memo}' } },
    { get: '/payments?memo=the {memo}', done: { cents: '{cents}' } },
    { get: '/payments', done: { tags: ['x', '{memo}'] } },
  ]
  for (const question of questions) {
    const before = asked.length
    expect(await verify({ ...PAY, verify: question }, args)).toEqual({ done: 'unknown' })
    expect(asked).toHaveLength(before)
  }
  answers(200, { memo: 'x', state: 'paid' })
  expect(await verify({ ...PAY, verify: { get: '/payments?memo={memo}', done: { state: 'paid' } } }, { ...args, memo: 'x' })).toMatchObject(
    {
      done: true,
    },
  )
})

test('a value that could leave the path of the question is refused when it is proposed', () => {
  const route = { ...PAY, path: '/payments', body: { account: '{account}', cents: '{cents}', memo: '{memo}' } }
  expect(open(route).check({ account: '../admin', cents: 1 })).toMatchObject({ ok: false, issues: [{ path: '/account' }] })
  expect(open(route).check({ account: 'a', cents: 1 })).toMatchObject({ ok: true })
})

test('what a route asks is part of its definition; a route that asks nothing is what it was', () => {
  const { verify: declared, ...blind } = PAY
  const hashes = [
    blind,
    PAY,
    { ...PAY, verify: { get: '/payments/{idempotencyKey}', done: declared?.done ?? {} } },
    { ...PAY, verify: { get: declared?.get ?? '', done: { cents: '{cents}' } } },
  ].map((route) => toolDefinitionHash(open(route)))
  expect(new Set(hashes).size).toBe(4)
  expect(open(blind).verify).toBeUndefined()
})

const BAD: [string, RouteInput, string][] = [
  [
    'a read',
    { method: 'GET', path: '/a', verify: { get: '/a', done: { x: 1 } } },
    'pay.verify: is for writes: a read leaves nothing to find out',
  ],
  [
    'a word that is no argument',
    { method: 'POST', path: '/a', verify: { get: '/a/{b}', done: { x: 1 } } },
    'pay.verify.get: names {b}, which is not a property of input',
  ],
  [
    'an optional path value',
    { ...PAY, verify: { get: '/a/{memo}', done: { x: 1 } } },
    'pay.verify.get: names {memo}, which input does not require: a path cannot do without it',
  ],
  [
    'a field of a word that is no argument',
    { ...PAY, verify: { get: '/a', done: { x: '{y}' } } },
    'pay.verify.done.x: names {y}, which is not a property of input',
  ],
  [
    'the answer of the attempt',
    { ...PAY, verify: { get: '/a', done: { x: '{result.id}' } } },
    'pay.verify.done.x: cannot use {result.…}: there is no answer yet',
  ],
  ['a path to another host', { ...PAY, verify: { get: '//evil/a', done: { x: 1 } } }, 'pay.verify.get: must start with one slash'],
  [
    'a query that is none',
    { ...PAY, verify: { get: '/a?b', done: { x: 1 } } },
    'pay.verify.get: must hold a query of the form a=b&c={name}',
  ],
  [
    'an encoded query',
    { ...PAY, verify: { get: '/a?b=%20', done: { x: 1 } } },
    'pay.verify.get: must hold the values of its query as they are',
  ],
  [
    'an argument of the name of the key',
    {
      method: 'POST',
      path: '/a',
      body: { k: '{idempotencyKey}' },
      verify: { get: '/a/{idempotencyKey}', done: { x: 1 } },
    },
    "pay.verify.get: means the attempt's key by {idempotencyKey}, which is also a property of input: rename that one",
  ],
]
for (const [name, route, message] of BAD) {
  test(`refused when read: verify with ${name}`, () => {
    expect(() => open(route)).toThrow(`bank.routes.tools.${message}`)
  })
}

test('refused when read: verify that proves nothing', () => {
  expect(RouteTable.safeParse({ baseUrl, tools: { pay: { ...PAY, verify: { get: '/a', done: {} } } } }).success).toBe(false)
})
