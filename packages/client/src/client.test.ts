import { expect, test, vi } from 'vitest'
import { freePort } from '../../../verification/testing/free-port.ts'
import { type Client, createClient } from './client.ts'
import { gate } from './gate/gate.ts'
import { json, problem, sampleAction, serve } from './testing/log-server.ts'
import { createTokenSource, type HostToken } from './token-source.ts'

const DECISION = { verdict: 'approve', revision: 1, digest: 'sha256:aa' } as const

test('every change carries an idempotency key of its own, or the one it is given', async () => {
  await using server = await serve({ 'POST /api/actions/act_1/decision': (_, response) => json(response, sampleAction()) })
  const client = createClient({ baseUrl: server.baseUrl, key: 'cs_secret' })
  await client.actions.decide('act_1', DECISION)
  await client.actions.decide('act_1', DECISION)
  await client.actions.decide('act_1', DECISION, { idempotencyKey: 'mine' })
  const keys = server.requests.map((request) => request.headers['idempotency-key'])
  expect(new Set(keys).size).toBe(3)
  expect(keys[2]).toBe('mine')
  expect(server.requests[0]).toMatchObject({ body: JSON.stringify(DECISION), headers: { authorization: 'Bearer cs_secret' } })
})

test('a conflict carries the code, the sentence and the action as it is now', async () => {
  const action = sampleAction({ state: 'approved' })
  await using server = await serve({
    'POST /api/actions/act_1/decision': (_, response) => problem(response, 409, 'already_decided', { detail: 'Approved by Ada.', action }),
  })
  const deciding = createClient({ baseUrl: server.baseUrl }).actions.decide('act_1', DECISION)
  await expect(deciding).rejects.toMatchObject({ code: 'already_decided', status: 409, detail: 'Approved by Ada.', action })
})

test('a server that is gone, or that stops in the middle, is offline; nothing is sent twice', async () => {
  await using server = await serve({
    'GET /api/me': (_, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{"principal"', () => response.destroy())
    },
  })
  await expect(createClient({ baseUrl: server.baseUrl }).me()).rejects.toMatchObject({ code: 'offline', status: 0 })
  expect(server.requests).toHaveLength(1)
  // Not the port of a server that was closed: another test may listen there by now.
  const gone = createClient({ baseUrl: `http://127.0.0.1:${await freePort()}` })
  await expect(gone.me()).rejects.toMatchObject({ code: 'offline', status: 0 })
})

test("a proxy's page is an error with words of our own, not a broken success", async () => {
  await using server = await serve({
    'GET /api/agents': (_, response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
    'GET /api/tools': (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>'),
  })
  const client = createClient({ baseUrl: `${server.baseUrl}/` })
  await expect(client.agents()).rejects.toMatchObject({
    code: 'not_ready',
    status: 502,
    detail: 'The server answered 502 without an explanation.',
  })
  await expect(client.tools()).rejects.toMatchObject({ code: 'internal', status: 200 })
})

test('an abort rejects with its own reason', async () => {
  await using server = await serve({ 'GET /api/sessions': () => {} })
  const closing = new AbortController()
  const listing = createClient({ baseUrl: server.baseUrl }).sessions.list({}, { signal: closing.signal })
  closing.abort(new Error('changed my mind'))
  await expect(listing).rejects.toThrow('changed my mind')
})

test('a request that cannot be made is no server that is away: it is a TypeError, which nothing repeats, and says no key', async () => {
  await using server = await serve({})
  const { baseUrl } = server
  const propose = (client: Client) => client.actions.propose({ tool: 'pay', arguments: { cents: 10n } as never })
  await expect(propose(createClient({ baseUrl, key: 'cs_1' }))).rejects.toThrow(new TypeError('Do not know how to serialize a BigInt'))
  for (const key of ['cs_secret…', 'cs_secret\nx']) {
    const refused = await createClient({ baseUrl, key })
      .me()
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(TypeError)
    expect(String(refused)).toMatch(/characters/)
    expect(String(refused)).not.toContain('secret')
  }
  for (const wrong of ['127.0.0.1:4319', 'localhost:4319', '/x', './x', '//127.0.0.1:1', 'http://a b', 'ftp://x'])
    await expect(createClient({ baseUrl: wrong }).me(), wrong).rejects.toThrow(new TypeError(`baseUrl is no address of a server: ${wrong}`))
  // Outside of a page the default is no address.
  await expect(createClient({ key: 'cs_1' }).me()).rejects.toThrow(new TypeError("baseUrl is no address of a server: ''"))
  await expect(gate(createClient({ baseUrl, key: 'cs_1' }), { pay: () => 'paid' }).pay({ cents: 10n } as never)).rejects.toThrow(TypeError)
  expect(server.requests).toEqual([])
})

test('a baseUrl may be a path where the caller’s own fetch knows of what, and a key may end with a line', async () => {
  const asked: unknown[] = []
  const fetch: typeof globalThis.fetch = async (url) => {
    asked.push(url)
    return Response.json({ principal: null, signIn: 'key' })
  }
  for (const baseUrl of ['', '/approvals', 'https://approvals.example.com/']) await createClient({ baseUrl, key: 'cs_1\n', fetch }).me()
  expect(asked).toEqual(['/api/me', '/approvals/api/me', 'https://approvals.example.com/api/me'])
})

test('a baseUrl with a name and a password is refused, and the error says neither', async () => {
  for (const wrong of [
    'http://ada:se/cret@127.0.0.1:1',
    'HTTP://ada:se@cret@127.0.0.1',
    'http://ada:secret@127.0.0.1:x',
    'ada:secret@127.0.0.1',
  ]) {
    const refused = await createClient({ baseUrl: wrong })
      .me()
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(TypeError)
    expect(String(refused)).toMatch(/^TypeError: baseUrl is no address of a server: .*…@127/)
    expect(String(refused)).not.toMatch(/ada|cret/)
  }
})

test('in a page, a baseUrl may be a path of it, and one that lacks its http:// is refused', async () => {
  using _restored = { [Symbol.dispose]: () => void vi.unstubAllGlobals() }
  using fetch = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json({ principal: null, signIn: 'key' }))
  const ask = (baseUrl?: string) => createClient({ ...(baseUrl !== undefined && { baseUrl }), key: 'cs_1' }).me()
  vi.stubGlobal('location', new URL('https://shop.example.com/orders'))
  for (const baseUrl of [undefined, '', '/approvals', '//approvals.example.com']) await ask(baseUrl)
  for (const wrong of ['127.0.0.1:4319', 'localhost:4319', 'https://ada:secret@shop.example.com'])
    await expect(ask(wrong), wrong).rejects.toThrow(TypeError)
  // A file that was opened in the browser has no server.
  vi.stubGlobal('location', new URL('file:///home/ada/orders.html'))
  await expect(ask()).rejects.toThrow(TypeError)
  // The text of a frame has no address, and its paths are those of the page around it.
  vi.stubGlobal('location', new URL('about:srcdoc'))
  vi.stubGlobal('document', { baseURI: 'https://shop.example.com/orders' })
  await ask()
  expect(fetch.mock.calls.map(([url]) => url)).toEqual([
    ...['/api/me', '/api/me', '/approvals/api/me', '//approvals.example.com/api/me'],
    '/api/me',
  ])
})

test('queries and ids are encoded, absent ones left out', async () => {
  await using server = await serve({ 'GET /api/actions': (_, response) => json(response, { items: [], nextCursor: null }) })
  const client = createClient({ baseUrl: server.baseUrl })
  await client.actions.list({ state: 'proposed', q: 'a&b' })
  await client.actions.get('../me').catch(() => {})
  expect(server.requests.map((request) => request.url)).toEqual(['/api/actions?state=proposed&q=a%26b', '/api/actions/..%2Fme'])
})

test('a policy is saved against the version that was looked at, and its problems come with their places', async () => {
  const issues = [{ path: 'rules[0].match.tool', message: 'there is no tool refund' }]
  await using server = await serve({
    'PUT /api/policy': (_, response) => problem(response, 400, 'bad_request', { detail: 'the policy cannot be used', issues }),
  })
  const saving = createClient({ baseUrl: server.baseUrl }).policy.save({ document: 'default: ask', reason: 'try' }, 7)
  await expect(saving).rejects.toMatchObject({ code: 'bad_request', issues })
  expect(server.requests[0]?.headers['if-match']).toBe('"7"')
})

test('what is revoked is named in the address, and nothing else is sent', async () => {
  await using server = await serve({ 'DELETE /api/grants/gra_1': (_, response) => json(response, { id: 'gra_1' }) })
  await createClient({ baseUrl: server.baseUrl }).grants.revoke('gra_1')
  expect(server.requests).toMatchObject([{ url: '/api/grants/gra_1', body: '' }])
})

test('a page of a host asks for one token at a time, uses it until it is nearly over, and replaces a refused one once', async () => {
  let good = 'token-1'
  await using server = await serve({
    'GET /api/me': (request, response) =>
      request.headers.authorization === `Bearer ${good}`
        ? json(response, { principal: null, signIn: 'key' })
        : problem(response, 401, 'unauthenticated', 'this key is not known here'),
  })
  let asked = 0
  const token = async () => ({ token: `token-${++asked}`, expiresAt: new Date(Date.now() + 86_400_000).toISOString() })
  const client = createClient({ baseUrl: server.baseUrl, token })
  await Promise.all([client.me(), client.me(), client.me()])
  expect(asked).toBe(1)
  // Revoked on the way: the next call asks for another one, and the one after that does not.
  good = 'token-2'
  await client.me()
  await client.me()
  expect(asked).toBe(2)
  good = 'none'
  await expect(client.me()).rejects.toMatchObject({ code: 'unauthenticated' })
  expect(asked).toBeLessThanOrEqual(4)
  const without = createClient({ baseUrl: server.baseUrl, token: () => Promise.reject(new Error('signed out')) })
  await expect(without.me()).rejects.toMatchObject({ code: 'offline', detail: 'The page got no token from its own server.' })
})

test('a host that answers without a token is asked again; nothing is sent in the name of whoever else is signed in', async () => {
  await using server = await serve({ 'GET /api/me': (_, response) => json(response, { principal: null, signIn: 'key' }) })
  // As a page gets them from `(await fetch('/countersign-token')).json()`, whatever the status was.
  const answers: unknown[] = [{ error: 'signed out' }, { token: null, expiresAt: '' }, null, { token: 'token-1', expiresAt: '' }]
  const client = createClient({ baseUrl: server.baseUrl, token: async () => answers.shift() as HostToken })
  for (let nothing = 0; nothing < 3; nothing++)
    await expect(client.me()).rejects.toMatchObject({ code: 'offline', detail: 'The page got no token from its own server.' })
  expect(server.requests).toEqual([])
  await client.me()
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1'])
})

test('a host that never answers holds up the calls of its page for a while, not for good', async () => {
  let giveUp = () => {}
  const answers = [new Promise<HostToken>(() => {}), Promise.resolve({ token: 'token-1', expiresAt: '' })]
  const source = createTokenSource(() => answers.shift() as Promise<HostToken>, {
    schedule(run) {
      giveUp = run
      return () => {}
    },
  })
  const calls = [source.read(), source.read()]
  giveUp()
  for (const call of await Promise.allSettled(calls)) expect(call).toMatchObject({ status: 'rejected', reason: { code: 'offline' } })
  expect(await source.read()).toBe('token-1')
})

test('a page whose clock is ahead asks its host for a token about once a minute, not with every call', async () => {
  let nowMs = Date.UTC(2026, 10, 21)
  const expiresAt = new Date(nowMs + 900_000).toISOString()
  // 20 minutes ahead, so that every token is over as it comes.
  nowMs += 1_200_000
  let asked = 0
  const source = createTokenSource(async () => ({ token: `token-${++asked}`, expiresAt }), { now: () => nowMs })
  for (let reads = 0; reads < 10; reads++) expect(await source.read()).toBe('token-1')
  nowMs += 60_000
  expect(await source.read()).toBe('token-2')
  expect(asked).toBe(2)
})
