import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rawRequest } from '../testing/raw-request.ts'
import { signInLocally } from '../testing/sign-in.ts'
import { BOOTSTRAP_KEY, startTestServer, type TestServer } from '../testing/test-server.ts'

const APP = 'https://app.example.com'
const BEARER = { authorization: `Bearer ${BOOTSTRAP_KEY}` }
const HEADER = 'countersign-console'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json' } }, cors: { origins: [APP, 'http://localhost:5173'] } },
    scripts: { talk: [{ text: 'Hi' }] },
  })
})
afterAll(() => server?.[Symbol.asyncDispose]())

const ask = (path: string, headers: Record<string, string>, method = 'GET') => rawRequest(server.url + path, { method, headers })
const allowed = async (path: string, headers: Record<string, string>, method?: string) =>
  (await ask(path, headers, method)).headers['access-control-allow-origin']

test('a page of a listed origin may call with a key, and reads answers, refusals and event streams', async () => {
  const answer = await ask('/api/sessions', { ...BEARER, origin: APP })
  expect(answer.status).toBe(200)
  expect(answer.headers).toMatchObject({ 'access-control-allow-origin': APP, vary: 'origin' })
  expect(answer.headers['access-control-expose-headers']).toContain('retry-after')
  expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
  // The page must be able to read a refusal, or its developer cannot find the cause.
  expect(await ask('/api/sessions', { origin: APP })).toMatchObject({ status: 401, headers: { 'access-control-allow-origin': APP } })
  expect(await ask('/api/none', { ...BEARER, origin: APP })).toMatchObject({ status: 404, headers: { 'access-control-allow-origin': APP } })

  using stream = await server.with({ ...BEARER, origin: APP }).stream('/api/events')
  stream.close()
  const headers = await headOf('/api/events')
  expect(headers.get('access-control-allow-origin')).toBe(APP)
  expect(headers.get('content-type')).toMatch('text/event-stream')
})

async function headOf(path: string): Promise<Headers> {
  const { headers } = await fetch(server.url + path, { method: 'HEAD', headers: { ...BEARER, origin: APP } })
  return headers
}

test('a preflight of a listed origin says what a page may send, and needs no key', async () => {
  const preflight = { origin: APP, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
  const answer = await ask('/api/sessions', preflight, 'OPTIONS')
  expect(answer).toMatchObject({ status: 204, text: '', headers: { 'access-control-allow-origin': APP } })
  const sent = answer.headers['access-control-allow-headers']
  for (const name of ['authorization', 'content-type', 'idempotency-key', 'if-match', 'last-event-id']) expect(sent).toContain(name)
  expect(sent).not.toMatch(/\*|cookie|console/)
  expect(answer.headers['access-control-allow-methods']).toContain('PATCH')
  expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
  expect(await ask('/api/sessions', { ...preflight, origin: 'https://evil.example' }, 'OPTIONS')).not.toHaveProperty(
    'headers.access-control-allow-origin',
  )
})

test('what the console signs in with is never answered to a page of another origin', async () => {
  const signedIn = await signInLocally(server)
  expect(await ask('/api/sessions', { ...signedIn, origin: server.url })).toMatchObject({ status: 200 })
  expect(await allowed('/api/sessions', { ...signedIn, origin: APP })).toBeUndefined()
  // Such a request changes no state, whether the origin is listed or not.
  expect(await ask('/api/sessions', { ...signedIn, origin: APP, 'content-type': 'application/json' }, 'POST')).toMatchObject({
    status: 403,
  })
  const signIn = await rawRequest(`${server.url}/api/sign-in`, {
    method: 'POST',
    headers: { origin: APP, 'content-type': 'application/json' },
    body: JSON.stringify({ key: BOOTSTRAP_KEY }),
  })
  expect(signIn.status).toBe(403)
  expect(signIn.headers).not.toHaveProperty(HEADER)
})

test('a console behind https that is signed in with a cookie stays unreadable to a listed origin', async () => {
  await using other = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json' } }, cors: { origins: [APP] } },
    scripts: { talk: [{ text: 'Hi' }] },
    flags: { publicUrl: 'https://approve.example.com' },
  })
  const cookie = '__Host-countersign=anything'
  const answer = await rawRequest(`${other.url}/api/me`, { headers: { cookie, origin: APP } })
  expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
  const withKey = await rawRequest(`${other.url}/api/me`, { headers: { ...BEARER, cookie, origin: APP } })
  expect(withKey.headers['access-control-allow-origin']).toBe(APP)
  expect(JSON.parse(withKey.text).principal).toMatchObject({ kind: 'person' })
})

test('only the very origins of the list are allowed, only under /api, and by default none', async () => {
  const near = [
    'https://app.example.com:444',
    'http://app.example.com',
    'https://app.example.com.evil.example',
    'https://evil-app.example.com',
    'https://APP.example.com',
    'https://app.example.com/',
    'null',
    '*',
    '',
  ]
  for (const origin of near) expect(await allowed('/api/sessions', { ...BEARER, origin }), origin).toBeUndefined()
  await fc.assert(
    fc.asyncProperty(fc.webUrl({ validSchemes: ['http', 'https'] }), async (url) => {
      expect(await allowed('/api/sessions', { ...BEARER, origin: new URL(url).origin })).toBeUndefined()
    }),
    { numRuns: 50, seed: 4319 },
  )
  for (const path of ['/', '/mcp', '/healthz']) expect(await allowed(path, { ...BEARER, origin: APP }), path).toBeUndefined()

  await using closed = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json' } } },
    scripts: { talk: [{ text: 'Hi' }] },
  })
  const answer = await rawRequest(`${closed.url}/api/sessions`, { headers: { ...BEARER, origin: APP } })
  expect(answer.headers).not.toHaveProperty('access-control-allow-origin')
})
