import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import fastifyCookie from '@fastify/cookie'
import fc from 'fast-check'
import Fastify from 'fastify'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rawRequest } from '../../../../verification/testing/raw-request.ts'
import { routesOf } from '../../../../verification/testing/routes-of.ts'
import { startTestServer, type TestServer, temporaryFolder } from '../../../../verification/testing/test-server.ts'
import { type AuthenticateDeps, authenticate } from '../identity/authenticate.ts'
import { hashOf } from '../identity/keys.ts'
import { createApp, type HttpDeps } from './app.ts'
import { handleError } from './errors.ts'

/** Routes that answer without a key. A route belongs here only when clients need it before they can sign in. */
const PUBLIC = [
  'GET /',
  'GET /.well-known/authzen-configuration',
  'GET /api/docs',
  'GET /api/docs/',
  'GET /api/docs/*',
  'GET /api/docs/json',
  'GET /api/docs/static/index.html',
  'GET /api/docs/static/swagger-initializer.js',
  'GET /api/docs/static/theme/countersign.css',
  'GET /api/docs/static/theme/favicon.svg',
  'GET /api/docs/yaml',
  'GET /api/me',
  'GET /api/openapi.json',
  'GET /assets/*',
  'GET /healthz',
  'GET /readyz',
  'GET /service-worker.js',
  'POST /api/sign-in',
  'POST /api/sign-in/oidc',
  'POST /api/sign-in/oidc/finish',
  'POST /api/sign-out',
]

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ config: { agents: { desk: { model: 'scripted/talk.json' } } }, scripts: { talk: [{ text: 'Hi' }] } })
})
afterAll(() => server?.[Symbol.asyncDispose]())

interface Operation {
  method: string
  path: string
}

async function operations(): Promise<Operation[]> {
  // Without keep-alive: on a slow machine a connection may be closed just as it is reused.
  const { paths } = JSON.parse((await rawRequest(`${server.url}/api/openapi.json`, {})).text)
  return Object.entries(paths as Record<string, object>).flatMap(([path, of]) =>
    Object.keys(of).map((method) => ({ method: method.toUpperCase(), path })),
  )
}

const isPublic = ({ method, path }: Operation) => PUBLIC.includes(`${method} ${path}`)
const filled = (path: string) => path.replace(/\{\w+\}/g, 'act_none')

test('the public routes are these and no others, as the router itself lists them', async () => {
  using folder = temporaryFolder()
  mkdirSync(join(folder.path, 'assets'))
  writeFileSync(join(folder.path, 'index.html'), '<!doctype html>')
  writeFileSync(join(folder.path, 'service-worker.js'), '')
  const parts = {
    log: pino({ level: 'silent' }),
    trustedProxies: [],
    consoleDir: folder.path,
    corsOrigins: [],
    refusals: { note: () => undefined, flush: async () => undefined },
    publicUrl: undefined,
    consoleCredential: { read: () => undefined, clear: () => undefined },
    tools: { all: () => [], onChange: () => undefined },
    agents: new Map(),
    isStopping: () => false,
    hold: { why: undefined },
    gateway: { graceSeconds: 30 },
    // Polls nothing while the test runs.
    clock: { nowMs: () => 0, after: () => () => undefined },
  }
  const app = await createApp(parts as unknown as HttpDeps)
  const reached: string[] = []
  for (const route of routesOf(app)) {
    const [method = '', path = ''] = route.split(' ')
    const { statusCode } = await app.inject({ method: method as 'GET', url: path.replace(/\{\w+\}|\*/g, 'x') })
    // The router prints the one wildcard of the console's files without its prefix.
    // To a gateway every refusal is 403.
    if (statusCode !== (path === '/ext-authz' ? 403 : 401)) reached.push(route.replace(' /*', ' /assets/*'))
  }
  await app.close()
  expect(reached.filter((route) => !route.startsWith('HEAD ')).sort()).toEqual(PUBLIC.toSorted())
  // HEAD is GET without a body.
  expect(reached.filter((route) => route.startsWith('HEAD ')).every((route) => PUBLIC.includes(route.replace('HEAD', 'GET')))).toBe(true)
})

test('without a key every route but the public ones answers 401, before it looks at query, parameters or body', async () => {
  const asked = (await operations()).filter((route) => !isPublic(route))
  expect(asked.length).toBeGreaterThan(50)
  const surprises: string[] = []
  for (const { method, path } of asked) {
    const longId = path.replace(/\{\w+\}/g, 'x'.repeat(150))
    const tries: { url: string; headers: Record<string, string>; body: string | undefined }[] = [
      { url: filled(path), headers: {}, body: undefined },
      { url: `${filled(path)}?limit=x&cursor=%00&agent=`, headers: {}, body: undefined },
      { url: longId, headers: {}, body: undefined },
      ...(method === 'GET'
        ? []
        : [
            { url: filled(path), headers: { 'content-type': 'application/json' }, body: '{"a":1,"a":' },
            { url: filled(path), headers: { 'content-type': 'text/plain' }, body: 'x' },
            { url: filled(path), headers: { 'content-type': 'application/json', 'idempotency-key': ' ' }, body: '[]' },
          ]),
    ]
    for (const { url, headers, body } of tries) {
      const { status } = await rawRequest(server.url + url, {
        method,
        headers: { ...headers, ...(body !== undefined && { 'content-length': String(body.length) }) },
        ...(body !== undefined && { body }),
      })
      if (status !== 401) surprises.push(`${method} ${url.slice(0, 80)} ${body ?? ''} → ${status}`)
    }
  }
  expect(surprises).toEqual([])
})

test('without a key the answer comes while the body is still on its way', async () => {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  // The rest of the body is never sent: only an answer that does not wait for it arrives.
  socket.write(
    `POST /api/actions HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\ncontent-length: 400000\r\n\r\n{"tool":`,
  )
  const [head] = await once(socket, 'data')
  expect(String(head)).toMatch(/^HTTP\/1\.1 401 /)
  socket.destroy()
})

test('a route that says nothing about access is refused to a stranger, and reached by whoever signed in', async () => {
  let reached = 0
  const app = Fastify()
  app.setErrorHandler(handleError)
  await app.register(fastifyCookie)
  const principal = { id: 'per_1', kind: 'person', name: 'Ada', roles: [] }
  const parts = {
    directory: {
      byHash: async (hash: string) => (hash === hashOf('hers') ? principal : undefined),
      standing: async () => ({ principal }),
      expiredAt: async () => undefined,
    },
    consoleCredential: { read: () => undefined },
    limits: { countRequest() {}, countAttempt() {} },
  }
  authenticate(app, parts as unknown as AuthenticateDeps)
  app.get('/api/forgotten', async () => ({ reached: ++reached }))
  await app.register(async (scope) => void scope.get('/api/of-a-plugin', async () => ({ reached: ++reached })))
  for (const path of ['/api/forgotten', '/api/of-a-plugin']) {
    expect((await app.inject(path)).statusCode, path).toBe(401)
    expect((await app.inject({ method: 'HEAD', url: path })).statusCode, path).toBe(401)
  }
  expect(reached).toBe(0)
  expect((await app.inject({ url: '/api/forgotten', headers: { authorization: 'Bearer hers' } })).statusCode).toBe(200)
  await app.close()
})

const ODD_NAMES = [
  '',
  '%00',
  'x%00.js',
  '.',
  '..',
  '../index.html',
  '..%2findex.html',
  '%2e%2e/index.html',
  '%2e%2e%2findex.html',
  '%252e%252e%252findex.html',
  '..\\index.html',
  '..%5cindex.html',
  '%5c',
  '/',
  '//',
  '/etc/passwd',
  '%2fetc%2fpasswd',
  '%',
  '%zz',
  '%c0%ae%c0%ae/index.html',
  '%ff',
  '%0a',
  '%0d%0aset-cookie:x=1',
  'x'.repeat(300),
  'x'.repeat(5_000),
  `${'a/'.repeat(2_000)}x`,
  'index.js/',
  'none.js',
  ';',
  '?',
  '%3f',
  '%F0%9F%92%A9',
  '.hidden',
]

/** Returns the status of a path that is sent verbatim, without normalizing `..` first. */
async function statusOf(path: string, method = 'GET'): Promise<number> {
  const { hostname, port } = new URL(server.url)
  const outgoing = request({ hostname, port, path, method, agent: false })
  outgoing.end()
  const [response] = await once(outgoing, 'response')
  response.resume()
  return response.statusCode
}

test('odd names under /assets/ answer 404, never 500 and never a file from elsewhere', async () => {
  const surprises: string[] = []
  for (const name of ODD_NAMES) {
    for (const method of ['GET', 'HEAD', 'POST']) {
      const status = await statusOf(`/assets/${name}`, method)
      if (status !== 404) surprises.push(`${method} /assets/${name.slice(0, 60)} → ${status}`)
    }
  }
  expect(surprises).toEqual([])
  expect(server.errors).toEqual([])
})

test('no name under /assets/ that a program draws is answered 500', async () => {
  const part = fc.constantFrom(
    '..',
    '.',
    '%2e',
    '%2f',
    '%5c',
    '\\',
    '%00',
    '/',
    '%',
    'a',
    '%25',
    '%252f',
    '~',
    ':',
    '%c0%af',
    'index',
    '.js',
    '%0a',
  )
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 12 }), async (parts) => {
      expect(await statusOf(`/assets/${parts.join('')}`)).toBe(404)
    }),
    { numRuns: 300 },
  )
  expect(server.errors).toEqual([])
})
