import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

interface Parameter {
  name: string
  in: string
}

let server: TestServer
/** The only caller who may make embed tokens. */
let portal: TestServer['admin']
let routes: { method: string; path: string; takes: string[] }[]

beforeAll(async () => {
  server = await startTestServer({ config: { agents: { desk: { model: 'scripted/talk.json' } } }, scripts: { talk: [{ text: 'Hi' }] } })
  portal = await server.as({ name: 'portal', kind: 'service', person: null, scopes: ['embed'], embedRoles: ['approver'] })
  const { paths } = await server.admin.get('/api/openapi.json')
  routes = Object.entries(paths as Record<string, Record<string, { parameters?: Parameter[] }>>).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters = [] }]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, 'x'),
      takes: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
    })),
  )
})
afterAll(() => server?.[Symbol.asyncDispose]())

const isSigningIn = (path: string) => path.startsWith('/api/sign-')

test('a query parameter that a route does not take is 400 with its name, on every route of the document', async () => {
  expect(routes.length).toBeGreaterThan(60)
  expect(routes.filter(({ takes }) => takes.length > 0).length).toBeGreaterThan(15)
  // Of a key, the time of its last use is stored.
  const stored = async () => ({ ...(await server.dump()), api_key: undefined })
  const before = await stored()
  for (const { method, path, takes } of routes) {
    const caller = path === '/api/embed-tokens' ? portal : server.admin
    const { status, body } = await caller.send(method, `${path}?statsu=waiting`, method === 'GET' ? {} : { body: {} })
    expect([status, body?.code], `${method} ${path}`).toEqual([400, 'bad_request'])
    expect(body.detail, `${method} ${path}`).toContain('unknown query parameter "statsu"')
    for (const name of takes) expect(body.detail).toContain(name)
  }
  // The document does not name itself.
  expect((await fetch(`${server.url}/api/openapi.json?statsu=waiting`)).status).toBe(400)
  expect(await stored()).toEqual(before)
})

test('what a route takes is taken, whatever its value; a stranger is not told what it takes', async () => {
  for (const { method, path, takes } of routes.filter((route) => route.method === 'GET')) {
    // A known parameter may still be refused for its value.
    for (const name of takes) {
      const { text } = await server.admin.send(method, `${path}?${name}=~`)
      expect(text, `${path} ${name}`).not.toContain('unknown query parameter')
    }
    const stranger = await server.with({}).send(method, `${path}?statsu=x`)
    const isPublic = ['/healthz', '/readyz', '/api/me', '/.well-known/authzen-configuration'].includes(path) || isSigningIn(path)
    expect(stranger.status, path).toBe(isPublic ? 400 : 401)
  }
})

test('whatever a parameter is called, an unknown one is refused and never shown whole when it is long', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }), async (name) => {
      const query = new URLSearchParams([[name, 'x']]).toString()
      const { status, body, text } = await server.admin.send('GET', `/api/sessions?${query}`)
      if (['limit', 'cursor', 'status', 'q'].includes(name)) return
      expect([status, body.code]).toEqual([400, 'bad_request'])
      expect(text.length).toBeLessThan(3_000)
    }),
    { numRuns: 100, seed: 4319 },
  )
  const { text } = await server.admin.send('GET', `/api/sessions?${'x'.repeat(3_000)}=1`)
  expect(text).not.toContain('x'.repeat(101))
})
