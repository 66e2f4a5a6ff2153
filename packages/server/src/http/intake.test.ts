import { type AddressInfo, connect } from 'node:net'
import Fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { INTAKE_LIMITS, isJsonType } from './intake.ts'
import { acceptStrictJson } from './json-body.ts'

test('whoever sends a head or a body too slowly is let go, and others are answered meanwhile', async () => {
  // The same limits, shorter; the server's own interval checks them.
  const app = Fastify({
    ...INTAKE_LIMITS,
    requestTimeout: 400,
    http: { ...INTAKE_LIMITS.http, headersTimeout: 300, connectionsCheckingInterval: 50 },
    forceCloseConnections: true,
  })
  acceptStrictJson(app)
  app.post('/', async () => 'done')
  onTestFinished(() => app.close())
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const slow = [
    'POST / HTTP/1.1\r\nhost: a\r\nx-slow: ',
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n{"a":',
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{"\r\n',
  ]
  const ends = slow.map(async (text) => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1')
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.write(text)
    // A byte now and then keeps a connection alive when only silence is checked.
    const drip = setInterval(() => socket.write('a'), 100)
    // A byte may still be in transit when the server closes: that resets the connection, which `once` would report as a failure.
    socket.on('error', () => {})
    const closed = Promise.withResolvers<void>()
    socket.on('close', () => closed.resolve())
    await closed.promise
    clearInterval(drip)
    return answer.split('\r\n')[0]
  })
  // The short limits hold for this one as well: on a busy machine, it may be let go and has to ask again.
  await expect.poll(async () => (await fetch(url, { method: 'POST' })).text()).toBe('done')
  for (const end of await Promise.all(ends)) expect(['HTTP/1.1 408 Request Timeout', 'HTTP/1.1 400 Bad Request', '']).toContain(end)
})

test('a connection that a proxy keeps for its usual minute is not closed under the next request', async () => {
  const app = Fastify({ ...INTAKE_LIMITS, forceCloseConnections: true })
  app.get('/', async () => 'done')
  onTestFinished(() => app.close())
  const { headers } = await fetch(await app.listen({ port: 0, host: '127.0.0.1' }))
  expect(Number(/timeout=(\d+)/.exec(headers.get('keep-alive') ?? '')?.[1])).toBeGreaterThan(60)
})

test('bodies are of one content type, and no trick of spelling makes it another', () => {
  for (const type of [
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json ',
  ]) {
    expect(isJsonType(type), type).toBe(true)
  }
  const tricks = [
    '\tx',
    ' x',
    ';',
    ';x',
    '; charset=utf-16',
    '; charset=utf-8; x',
    ', text/plain',
    '/x',
    '\u00a0',
    '\0',
    '; charset=utf-8, text/plain',
    '+xml',
    'x',
  ]
  for (const trick of tricks) expect(isJsonType(`application/json${trick}`), JSON.stringify(trick)).toBe(false)
  for (const type of [
    '',
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/problem+json',
    '*/*',
    'text/plain; application/json',
    ' application/json',
  ]) {
    expect(isJsonType(type), type).toBe(false)
  }
})
