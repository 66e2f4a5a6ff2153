import { expect, test } from 'vitest'
import { rawRequest } from '../testing/raw-request.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { BOOTSTRAP_KEY, startTestServer, type TestServer } from '../testing/test-server.ts'

/** Signs the local person in as the console does; the cookie as `name=value`. */
async function signIn({ url }: TestServer): Promise<string> {
  const answer = await rawRequest(`${url}/api/sign-in`, { method: 'POST', headers: { origin: url } })
  expect(answer.status).toBe(200)
  return answer.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
}

const talk = { config: { agents: { desk: { model: 'scripted/talk.json' } } }, scripts: { talk: [{ text: 'Hi.' }] } }

test('on loopback the console signs the local person in, and its cookie acts from its own pages', async () => {
  await using server = await startTestServer(talk)
  const { url } = server
  const nobody = server.with({})
  expect(await nobody.get('/api/me')).toEqual({ principal: null, signIn: 'local' })
  expect((await nobody.send('GET', '/api/sessions')).status).toBe(401)

  const answer = await server.with({ origin: url }).send('POST', '/api/sign-in')
  expect(answer).toMatchObject({ status: 200, body: { principal: { id: 'prn_local', kind: 'person', roles: ['admin', 'approver'] } } })
  const header = answer.headers.get('set-cookie') ?? ''
  for (const attribute of ['HttpOnly', 'SameSite=Strict', 'Path=/']) expect(header).toContain(attribute)
  const cookie = header.split(';')[0] ?? ''
  // Cookies are shared by all ports of a host: the name tells two servers on one machine apart.
  expect(cookie).toMatch(new RegExp(`^countersign_${new URL(url).port}=`))

  const reader = server.with({ cookie })
  expect((await reader.get('/api/me')).principal.id).toBe('prn_local')
  expect((await reader.get('/api/sessions')).items).toEqual([])
  const console = server.with({ cookie, origin: url })
  const { id } = await console.post('/api/sessions', { title: 'mine' })
  expect((await reader.get(`/api/sessions/${id}`)).title).toBe('mine')

  const out = await console.send('POST', '/api/sign-out')
  expect(out.headers.get('set-cookie')).toMatch(new RegExp(`^${cookie.split('=')[0]}=;`))
})

test('the cookie is good after a restart; a key signs a person in, an agent’s key does not', async () => {
  await using server = await startTestServer(talk)
  const cookie = await signIn(server)
  const [name = '', value = ''] = cookie.split('=')
  const agentKey = (await server.admin.post('/api/keys', { name: 'bot', kind: 'agent' })).key
  const personKey = (await server.admin.post('/api/keys', { name: 'Ana', kind: 'person', roles: ['approver'] })).key
  await server.restart()
  const { port } = new URL(server.url)
  const moved = `${name.replace(/\d+$/, port)}=${value}`
  expect((await server.with({ cookie: moved }).get('/api/me')).principal.id).toBe('prn_local')

  const page = server.with({ origin: server.url })
  expect((await page.send('POST', '/api/sign-in', { body: { key: agentKey } })).status).toBe(403)
  expect((await page.send('POST', '/api/sign-in', { body: { key: 'x'.repeat(30) } })).status).toBe(401)
  const answer = await page.send('POST', '/api/sign-in', { body: { key: personKey } })
  expect(answer.body.principal).toMatchObject({ kind: 'person', name: 'Ana' })
  const ana = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  expect((await server.with({ cookie: ana }).get('/api/me')).principal.name).toBe('Ana')
})

test('with the cookie, a POST from a foreign page or from none at all is refused on every route and changes nothing', async () => {
  await using target = await startTarget(() => ({ status: 200 }))
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target) },
    scripts: { talk: [{ calls: [{ tool: 'keyed', arguments: { what: 'x' } }] }] },
  })
  const { url } = server
  const { port } = new URL(url)
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  const cookie = await signIn(server)
  const posts: [path: string, body: object][] = [
    ['/api/sessions', {}],
    [`/api/sessions/${sessionId}/messages`, { content: 'yes' }],
    [`/api/sessions/${sessionId}/approve`, { verdict: 'approve' }],
    [`/api/sessions/${sessionId}/cancel`, {}],
    ['/api/actions', { tool: 'keyed', arguments: { what: 'x' } }],
    [`/api/actions/${proposal.id}/decision`, { verdict: 'approve' }],
    [`/api/actions/${proposal.id}/preview`, {}],
    ['/api/actions/decisions', { items: [{ id: proposal.id, revision: 1, digest: proposal.digest }], verdict: 'approve' }],
    [`/api/actions/${proposal.id}/retry`, {}],
    [`/api/actions/${proposal.id}/claim`, {}],
    [`/api/actions/${proposal.id}/result`, { epoch: 1, output: null }],
    [`/api/actions/${proposal.id}/verify`, {}],
    [`/api/actions/${proposal.id}/resolve`, { outcome: 'succeeded', note: 'I looked' }],
    [`/api/actions/${proposal.id}/redact`, { reason: 'asked for' }],
    ['/api/grants', { actionId: proposal.id, scope: 'agent', expiresIn: 'P1D', exact: true }],
    ['/api/delegations', { to: 'prn_local', expiresIn: 'P1D' }],
    ['/api/policy/rollback', { version: 1, reason: 'as it was' }],
    ['/api/policy/test', { call: { tool: 'keyed' } }],
    ['/api/agent-requests', { message: 'yes', sessionId }],
    [`/api/agent-requests/${proposal.runId}/execute`, {}],
    [`/api/approve-tool/${proposal.id}`, { approved: true }],
    ['/api/chat', { message: 'yes', sessionId }],
    ['/api/chat/approve', { approvalId: proposal.id, approved: true }],
    ['/api/keys', { name: 'me', kind: 'person', roles: ['admin'] }],
    ['/api/sign-in', {}],
    ['/api/sign-in/oidc', {}],
    ['/api/sign-in/oidc/finish', { answer: 'code=x&state=y' }],
    ['/api/sign-out', {}],
  ]
  const { paths } = await server.admin.get('/api/openapi.json')
  const known = Object.entries(paths).filter(([, operations]) => 'post' in (operations as object))
  expect(posts).toHaveLength(known.length)

  const origins = [
    undefined,
    'null',
    'https://evil.example',
    `http://evil.example:${port}`,
    `http://127.0.0.1.evil.example:${port}`,
    `http://127.0.0.1:${Number(port) + 1}`,
    'http://127.0.0.1',
    `http://localhost:${port}`,
    `http://127.0.0.1:${port}.evil.example`,
    'file://',
    '',
    'x',
  ]
  const before = await server.dump()
  for (const [path, body] of posts) {
    for (const origin of origins) {
      const answer = await rawRequest(url + path, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json', ...(origin !== undefined && { origin }) },
        body: JSON.stringify(body),
      })
      expect(answer.status, `${path} from ${origin}`).toBe(403)
      expect(JSON.parse(answer.text).code).toBe('forbidden')
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/json\tx']) {
      for (const origin of [undefined, 'null', 'https://evil.example']) {
        const headers = { cookie, 'content-type': type, ...(origin !== undefined && { origin }) }
        const answer = await rawRequest(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
        expect([400, 403], `${path} from ${origin} as ${type}`).toContain(answer.status)
      }
    }
  }
  expect(await server.dump()).toEqual(before)
  expect((await server.admin.get(`/api/actions/${proposal.id}`)).state).toBe('proposed')
})

test('a page whose name was made to resolve to this machine is not the local person', async () => {
  await using server = await startTestServer(talk)
  const { port } = new URL(server.url)
  const before = await server.dump()
  for (const host of [
    `evil.example:${port}`,
    'evil.example',
    `127.0.0.1.evil.example:${port}`,
    `localhost.evil.example:${port}`,
    `[::2]:${port}`,
  ]) {
    const headers = { host, origin: `http://${host}` }
    const me = await rawRequest(`${server.url}/api/me`, { headers })
    expect(JSON.parse(me.text), host).toEqual({ principal: null, signIn: 'key' })
    const answer = await rawRequest(`${server.url}/api/sign-in`, { method: 'POST', headers })
    expect(answer.status, host).toBe(401)
    expect(answer.headers['set-cookie']).toBeUndefined()
  }
  // A proxy on this machine that forgot to say for whom it asks: it says that it is one.
  for (const header of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']) {
    const answer = await rawRequest(`${server.url}/api/sign-in`, {
      method: 'POST',
      headers: { origin: server.url, [header]: '203.0.113.9' },
    })
    expect(answer.status, header).toBe(401)
  }
  expect(await server.dump()).toEqual(before)
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`]) {
    const headers = { host, origin: `http://${host}` }
    expect((await rawRequest(`${server.url}/api/sign-in`, { method: 'POST', headers })).status).toBe(200)
  }
})

test('a cookie that was changed or made up is nobody’s, and none is good for another server', async () => {
  await using server = await startTestServer(talk)
  const cookie = await signIn(server)
  const [name = '', value = ''] = cookie.split('=')
  expect((await server.with({ cookie }).get('/api/me')).principal.id).toBe('prn_local')
  const rows = (await server.dump()).console_session as { hash: string }[]
  const wrong = [
    'prn_local',
    '',
    'A'.repeat(43),
    `${value}=`,
    value.toUpperCase(),
    // What is stored cannot be turned into what is asked for.
    ...rows.map(({ hash }) => hash),
    ...rows.map(({ hash }) => Buffer.from(hash, 'hex').toString('base64url')),
    ...Array.from({ length: value.length }, (_, i) => `${value.slice(0, i)}${value[i] === 'a' ? 'b' : 'a'}${value.slice(i + 1)}`),
    ...Array.from({ length: value.length }, (_, i) => value.slice(0, i)),
  ]
  for (const forged of wrong) {
    const answer = await server.with({ cookie: `${name}=${forged}`, origin: server.url }).send('GET', '/api/sessions')
    expect(answer.status, forged).toBe(401)
  }
  // The name of another server's cookie on this machine.
  expect((await server.with({ cookie: `countersign_1=${value}` }).send('GET', '/api/sessions')).status).toBe(401)
})

test('a key is known, or it is nobody’s; it is never read from the address', async () => {
  await using server = await startTestServer(talk)
  const key = BOOTSTRAP_KEY
  const wrong = [
    ...['', 'Bearer', 'Bearer ', `Bearer  ${key}`, `Bearer ${key}x`, `Bearer ${key.slice(0, -1)}`, `bearer ${key} x`],
    ...[`Basic ${Buffer.from(`x:${key}`).toString('base64')}`, key, `Token ${key}`, `Bearer ${'x'.repeat(501)}`],
  ]
  for (const authorization of wrong) {
    const answer = await server.with({ authorization }).send('GET', '/api/sessions')
    expect(answer, authorization).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
    expect(answer.text).not.toContain(key)
  }
  for (const name of ['key', 'token', 'access_token', 'api_key', 'authorization', 'apiKey']) {
    expect((await server.with({}).send('GET', `/api/sessions?${name}=${key}`)).status, name).toBe(401)
  }
  // A wrong key is not helped by a good cookie.
  const cookie = await signIn(server)
  expect((await server.with({ cookie, authorization: 'Bearer nobody' }).send('GET', '/api/sessions')).status).toBe(401)
})

test('everything but sign-in, health and the documents needs somebody', async () => {
  await using server = await startTestServer(talk)
  const { paths } = await server.admin.get('/api/openapi.json')
  const open = new Set(['/healthz', '/readyz', '/api/me', '/api/sign-in', '/api/sign-in/oidc', '/api/sign-in/oidc/finish', '/api/sign-out'])
  const bodies: Record<string, object> = {
    '/api/sessions/{id}/messages': { content: 'x' },
    '/api/sessions/{id}/approve': { verdict: 'approve' },
    '/api/actions': { tool: 'x', arguments: {} },
    '/api/actions/{id}/decision': { verdict: 'approve' },
    '/api/actions/decisions': { items: [{ id: 'x', revision: 1, digest: 'x' }], verdict: 'approve' },
    '/api/grants': { actionId: 'x', scope: 'agent', expiresIn: 'P1D', exact: true },
    '/api/delegations': { to: 'x', expiresIn: 'P1D' },
    '/api/policy': { document: {}, reason: 'x' },
    '/api/policy/rollback': { version: 1, reason: 'x' },
    '/api/policy/test': { call: { tool: 'x' } },
    '/api/actions/{id}/result': { epoch: 1, output: null },
    '/api/actions/{id}/resolve': { outcome: 'succeeded', note: 'I looked' },
    '/api/actions/{id}/redact': { reason: 'asked for' },
    '/api/agent-requests': { message: 'x' },
    '/api/approve-tool/{id}': { approved: true },
    '/api/chat': { message: 'x' },
    '/api/chat/approve': { approvalId: 'x', approved: true },
    '/api/keys': { name: 'x', kind: 'person' },
  }
  for (const [path, operations] of Object.entries(paths as Record<string, object>)) {
    if (open.has(path)) continue
    for (const method of Object.keys(operations)) {
      const answer = await server
        .with({})
        .send(method.toUpperCase(), path.replace('{id}', 'x').replace('{version}', '1'), {
          body: method === 'post' || method === 'put' ? (bodies[path] ?? {}) : undefined,
        })
      expect(answer, `${method} ${path}`).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
    }
  }
})
