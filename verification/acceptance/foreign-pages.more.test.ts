import { Agent, request } from 'node:http'
import { expect, test } from 'vitest'
import { type Clock, systemClock } from '../../packages/server/src/clock.ts'
import { rawRequest } from '../testing/raw-request.ts'
import { signInLocally } from '../testing/sign-in.ts'
import { startTestServer } from '../testing/test-server.ts'

const talk = { config: { agents: { desk: { model: 'scripted/talk.json' } } }, scripts: { talk: [{ text: 'Hi.' }] } }

/** Stands still: on a slow machine a sign-in is noted as used once more, and who had to wait may ask again. */
const still = (): Clock => {
  const nowMs = Date.now()
  return { ...systemClock, nowMs: () => nowMs }
}

test('with what the console signs in with, no trick of a foreign page gets past the door of any route that changes something', async () => {
  await using server = await startTestServer({ ...talk, clock: still() })
  const { url } = server
  const { port, host } = new URL(url)
  const signedIn = await signInLocally(server)
  const { paths } = await server.admin.get('/api/openapi.json')
  const routes = Object.entries(paths as Record<string, Record<string, { 'x-right'?: string }>>).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => method !== 'get')
      // An admin lacks the rights of programs, and hears of that first.
      .map(([method, { 'x-right': right = '' }]) => ({
        ...{ method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, 'x') },
        unread: ['agent', 'embed'].includes(right) ? 403 : 400,
      })),
  )
  expect(routes.length).toBeGreaterThan(20)
  const foreign: Record<string, string>[] = [
    {},
    { origin: 'null' },
    { origin: '' },
    { origin: 'x' },
    { origin: 'file://' },
    { origin: 'https://evil.example' },
    { origin: `http://evil.example:${port}` },
    { origin: `http://127.0.0.1.evil.example:${port}` },
    { origin: `http://console.127.0.0.1:${port}` },
    { origin: `http://127.0.0.1:${Number(port) + 1}` },
    { origin: 'http://127.0.0.1' },
    { origin: `http://localhost:${port}` },
    { origin: `http://127.0.0.1:${port}.evil.example` },
    { origin: `http://evil.example#${host}` },
    { referer: `${url}/` },
    { 'sec-fetch-site': 'same-origin' },
    { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' },
    { origin: 'https://evil.example', 'x-http-method-override': 'GET' },
    { origin: 'https://evil.example', 'x-requested-with': 'XMLHttpRequest' },
    { origin: 'https://evil.example', 'content-type': 'text/plain' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'application/json\tx' },
  ]
  // The console's own origin, but with a form or plain text, which a page may send without permission.
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json\tx',
    'application/jsonx',
  ]
  const before = await server.dump()
  let tried = 0
  for (const { method, path, unread } of routes) {
    for (const headers of foreign) {
      const hasBody = method !== 'DELETE'
      const sent = { ...(hasBody && { 'content-type': 'application/json' }), ...signedIn, ...headers }
      const answer = await rawRequest(url + path, { method, headers: sent, ...(hasBody && { body: '{}' }) })
      // Either check may refuse first: the origin, or a content type that no route reads.
      const refused = headers['content-type'] === undefined ? [403] : [400, 403]
      expect(refused, `${method} ${path} with ${JSON.stringify(headers)}`).toContain(answer.status)
      tried++
    }
    // A foreign page cannot send this method with a form or a simple request.
    if (method === 'DELETE') continue
    for (const type of types) {
      const answer = await rawRequest(url + path, { method, headers: { ...signedIn, origin: url, 'content-type': type }, body: '{}' })
      expect(answer.status, `${method} ${path} as ${type}`).toBe(unread)
      tried++
    }
  }
  expect(tried).toBeGreaterThan(700)
  expect(await server.dump()).toEqual(before)
})

test('5,000 keys and console secrets that were tampered with, replayed or made up are nobody’s', async () => {
  await using server = await startTestServer({ ...talk, environment: { COUNTERSIGN_MAX_FAILURES: '0' } })
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const ask = (headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request(`${server.url}/api/sessions`, { agent, headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0))
      })
      sent.on('error', reject).end()
    })
  const { key } = await server.makeKey({ name: 'Ana', kind: 'person', roles: ['admin'] })
  const name = 'countersign-console'
  const over = await signInLocally(server)
  await server.with({ ...over, origin: server.url }).send('POST', '/api/sign-out', { body: {} })
  const good = await signInLocally(server)
  const value = good[name]
  expect([await ask(good), await ask({ authorization: `Bearer ${key}` })]).toEqual([200, 200])

  const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const changed = (text: string, from: number): string[] =>
    Array.from({ length: text.length - from }, (_, i) => i + from).flatMap((i) =>
      [...ALPHABET]
        .filter((letter) => letter !== text[i])
        .slice(0, 56)
        .map((letter) => text.slice(0, i) + letter + text.slice(i + 1)),
    )
  const wrong: Record<string, string>[] = [
    ...changed(value, 0).map((forged) => ({ [name]: forged })),
    // The last character of a key has spare bits that decode to nothing. The server compares the text, so changing only these bits must
    // fail too.
    ...changed(key, 3).map((forged) => ({ authorization: `Bearer ${forged}` })),
    ...Array.from({ length: 100 }, () => over),
    ...Array.from({ length: value.length }, (_, i) => ({ [name]: value.slice(0, i) })),
    ...Array.from({ length: key.length }, (_, i) => ({ authorization: `Bearer ${key.slice(0, i)}` })),
    { authorization: `Bearer ${value}` },
    { [name]: key },
    // A value that is valid in the header is not accepted as a cookie of any name.
    ...['countersign', `countersign_${new URL(server.url).port}`, '__Host-countersign', name].map((one) => ({ cookie: `${one}=${value}` })),
  ]
  expect(wrong.length).toBeGreaterThan(5_000 - 100)
  const answers = await Promise.all(wrong.map(ask))
  agent.destroy()
  expect(answers.filter((status) => status !== 401)).toEqual([])
})

test('who tries wrong keys without end is told to wait; who has a good one at the same address is not', async () => {
  const environment = { COUNTERSIGN_MAX_FAILURES: '5', COUNTERSIGN_MAX_REQUESTS: '10' }
  await using server = await startTestServer({ ...talk, environment, clock: still() })
  const wrong = () => server.with({ authorization: 'Bearer nobody' }).send('GET', '/api/sessions')
  const answers = []
  for (let i = 0; i < 6; i++) answers.push(await wrong())
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429])
  expect(answers[5]).toMatchObject({ body: { code: 'rate_limited' } })
  expect(Number(answers[5]?.headers.get('retry-after'))).toBeGreaterThan(0)
  const ben = await server.as({ name: 'Ben', kind: 'person', roles: ['viewer'] })
  const many = await Promise.all(Array.from({ length: 60 }, () => ben.send('GET', '/api/sessions')))
  expect(many.filter(({ status }) => status === 429).length).toBeGreaterThan(0)
  expect((await server.admin.send('GET', '/api/sessions')).status).toBe(200)
})

test('every answer says what a browser may do with it, and behind https that there is no other way', async () => {
  await using server = await startTestServer(talk)
  await using behind = await startTestServer({ ...talk, environment: { COUNTERSIGN_PUBLIC_URL: 'https://desk.example' } })
  for (const path of ['/', '/api/me', '/api/sessions', '/nowhere', '/healthz', '/api/openapi.json', '/api/docs/', '/api/events']) {
    const hangUp = new AbortController()
    const { headers } = await fetch(server.url + path, { headers: { accept: 'text/html' }, signal: hangUp.signal })
    hangUp.abort()
    expect(headers.get('x-content-type-options'), path).toBe('nosniff')
    expect(headers.get('permissions-policy'), path).toContain('camera=()')
    expect(headers.get('cross-origin-opener-policy'), path).toBe('same-origin')
    expect(headers.get('content-security-policy'), path).toMatch(/frame-ancestors 'none'/)
    expect(headers.get('content-security-policy'), path).not.toMatch(/unsafe-|\*/)
    expect(headers.get('strict-transport-security'), path).toBeNull()
  }
  const { headers } = await fetch(`${behind.url}/api/me`)
  expect(headers.get('strict-transport-security')).toBe('max-age=31536000')
})
