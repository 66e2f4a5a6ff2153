import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { canonicalJson } from '@countersign/core'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { callIdOf } from '../../packages/server/src/http/ext-authz/find-call.ts'
import { OVERRIDE_HEADERS } from '../../packages/toolkit/src/http/override-headers.ts'
import { blocksOf } from '../../scripts/docs/blocks.ts'
import { decide, waiting } from '../testing/decisions.ts'
import { PUBLIC_URL, startGatewayServer } from '../testing/gateway-server.ts'
import { startNginx, whyNoNginx } from '../testing/nginx.ts'
import { rawRequest } from '../testing/raw-request.ts'
import { signInWithKey } from '../testing/sign-in.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const refund = { body: '{"amount":5}' }

test('a read that policy allows passes each time, and a write waits for a person: 403 that says where to decide, never 2xx', async () => {
  const { server, ask } = await startGatewayServer()
  for (const method of ['GET', 'HEAD', 'GET']) expect((await ask(method, '/orders/7?full=1')).status).toBe(200)
  const asked = await ask('POST', '/refunds?order=7', refund)
  const card = await waiting(server)
  expect(asked.status).toBe(403)
  expect(asked.headers).toMatchObject({
    'retry-after': '10',
    'countersign-action': card.id,
    'countersign-decide-at': `${PUBLIC_URL}/actions/${card.id}`,
  })
  expect(asked.detail).toContain(`${PUBLIC_URL}/actions/${card.id}`)
  expect(card).toMatchObject({
    tool: 'gateway.writeRequest',
    agent: 'billing',
    description: 'POST pay.example/refunds?order=7',
    arguments: {
      method: 'POST',
      host: 'pay.example',
      url: '/refunds?order=7',
      path: '/refunds',
      parameters: { order: ['7'] },
      body: { amount: 5 },
    },
  })
  await decide(server, card, { verdict: 'approve' })
  expect((await ask('POST', '/refunds?order=7', refund)).status).toBe(200)
  // The result is stored once the gateway has the answer.
  await expect.poll(async () => (await server.admin.get(`/api/actions/${card.id}`)).state).toBe('succeeded')
})

test('under one approval of two requests at once one passes, and the same request after it is asked about again', async () => {
  const { server, ask } = await startGatewayServer()
  await ask('POST', '/refunds', refund)
  const card = await waiting(server)
  await decide(server, card, { verdict: 'approve' })
  const statuses = await Promise.all(Array.from({ length: 5 }, async () => (await ask('POST', '/refunds', refund)).status))
  expect(statuses.filter((status) => status === 200)).toHaveLength(1)
  expect(statuses.filter((status) => status === 403)).toHaveLength(4)
  expect((await ask('POST', '/refunds', refund)).status).toBe(403)
  expect((await waiting(server)).id).not.toBe(card.id)
})

test('what a request asked for is gone from the record once its action was redacted', async () => {
  const { server, ask } = await startGatewayServer()
  await ask('POST', '/patients/jane-roe', refund)
  const card = await waiting(server)
  await decide(server, card, { verdict: 'decline' })
  await server.admin.post(`/api/actions/${card.id}/redact`, { reason: 'asked for' })
  // The row of a refusal is written after its answer.
  const refused = async () => (await server.admin.get('/api/audit?kind=refused')).items
  await expect.poll(refused).toMatchObject([{ data: { code: 'forbidden', why: `action ${card.id} is proposed` } }])
  expect(JSON.stringify(await server.admin.get('/api/audit'))).not.toContain('jane-roe')
})

test('an id that an agent gave to a call of another tool stands for no request', async () => {
  const { server, ask, key } = await startGatewayServer({ others: { host: { 'coding-agent': {} } } })
  await ask('POST', '/refunds', { ...refund, headers: { 'idempotency-key': 'first' } })
  const first = await waiting(server)
  await decide(server, first, { verdict: 'decline' })
  const id = callIdOf(first.tool, canonicalJson(first.arguments), undefined)
  const agent = server.with({ authorization: `Bearer ${key}` })
  const hook = { session_id: 's', cwd: '/tmp', hook_event_name: 'PreToolUse', tool_name: 'Tidy', tool_input: {}, tool_use_id: id }
  const asked = agent.send('POST', '/hooks/claude', { body: hook })
  const tidying = await waiting(server)
  await decide(server, tidying, { verdict: 'approve' })
  await asked
  expect((await ask('POST', '/refunds', refund)).detail).toMatch(/^Waiting for approval/)
  expect((await waiting(server)).tool).toBe(first.tool)
})

test('with an Idempotency-Key a request that passed never passes again, and another key is another request', async () => {
  const { server, ask } = await startGatewayServer()
  const keyed = (key: string) => ask('POST', '/refunds', { ...refund, headers: { 'idempotency-key': key } })
  await Promise.all([keyed('a'), keyed('a'), keyed('a')])
  const card = await waiting(server)
  await decide(server, card, { verdict: 'approve' })
  expect((await keyed('b')).status).toBe(403)
  expect((await keyed('a')).status).toBe(200)
  const again = await keyed('a')
  expect([again.status, again.detail]).toEqual([403, expect.stringContaining('has passed already')])
})

test('an approval holds for exactly this request: not for another body, path, query, method, host, port or content type', async () => {
  const { server, ask } = await startGatewayServer()
  await ask('POST', '/refunds?order=7', refund)
  await decide(server, await waiting(server), { verdict: 'approve' })
  for (const other of [
    () => ask('POST', '/refunds?order=7', { body: '{"amount":500}' }),
    () => ask('POST', '/refunds?order=8', refund),
    () => ask('POST', '/refunds/?order=7', refund),
    () => ask('PUT', '/refunds?order=7', refund),
    () => ask('POST', '/refunds?order=7', { ...refund, headers: { host: 'other.example' } }),
    () => ask('POST', '/refunds?order=7', { ...refund, headers: { host: 'pay.example:8443' } }),
    () => ask('POST', '/refunds?order=7', { ...refund, headers: { 'content-type': 'text/plain' } }),
    () => ask('POST', '/refunds?order=7'),
  ])
    expect((await other()).status).toBe(403)
  expect((await ask('POST', '/refunds?order=7', refund)).status).toBe(200)
})

test('an approval of a JSON string holds for no body that is the text in it, and the other way round', async () => {
  const text = '{"amount":1,"amount":1000}'
  for (const [body, other] of [
    [JSON.stringify(text), text],
    [text, JSON.stringify(text)],
  ] as const) {
    const { server, ask } = await startGatewayServer()
    await ask('POST', '/refunds', { body })
    const card = await waiting(server)
    await decide(server, card, { verdict: 'approve' })
    expect((await ask('POST', '/refunds', { body: other })).status).toBe(403)
    expect((await ask('POST', '/refunds', { body })).status).toBe(200)
    expect(card.arguments.body).toBe(body)
  }
})

test('links come from the public address alone, whatever Host a request names', async () => {
  const { ask } = await startGatewayServer()
  const { headers, detail } = await ask('POST', '/refunds', {
    ...refund,
    headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
  })
  expect(headers['countersign-decide-at']).toMatch(/^https:\/\/approvals\.example\.com\/actions\//)
  expect(detail).not.toContain('https://evil')
})

test('a path that servers read in different ways does not pass, and nobody is asked about it', async () => {
  const { server, ask } = await startGatewayServer()
  const paths = [
    '/a/../admin',
    '/./a',
    '/a/..',
    '//admin',
    '/a//b',
    '/%2e%2e/admin',
    '/a/%2E',
    '/%61dmin',
    '/a%2fb',
    '/a%2Fb',
    '/a%5cb',
    '/a\\b',
    '/a%252fb',
    '/a/..;/admin',
    '/a%3bb',
    '/a;b',
    '/a%00',
    '/a%0d%0ab',
    '/%zz',
    '/%ff',
    '/a?%ff',
    '/a?b;c=1',
    '/a?__proto__=1',
    '*',
    '',
    'x/a',
  ]
  for (const method of ['GET', 'DELETE']) {
    for (const path of paths) {
      const { status, detail } = await ask(method, path, { headers: { accept: 'text/html' } })
      expect([status, path], `${method} ${path}`).toEqual([403, path])
      expect(detail).toContain('Not allowed')
    }
  }
  expect((await server.admin.get('/api/actions')).items).toEqual([])
})

test('of the paths that the rule in the guide allows each passes, and of another one no spelling does', async () => {
  const rule = blocksOf(ROOT, 'docs/guides/gateways.md').find(({ code }) => code.startsWith('rules:'))
  const { ask } = await startGatewayServer({ rules: parse(rule?.code ?? '').rules })
  const statusOf = async (path: string, host = 'pay.example') => (await ask('GET', path, { headers: { host } })).status
  for (const path of ['/orders', '/orders/', '/orders/7?full=1']) expect([path, await statusOf(path)]).toEqual([path, 200])
  for (const path of ['/admin', '/admin/', '/Admin', '/orders/../admin', '//admin', '/%61dmin', '/Orders', '/ordersadmin'])
    expect([path, await statusOf(path)]).toEqual([path, 403])
  expect(await statusOf('/orders', 'other.example')).toBe(403)
})

test('what nobody could see on the card does not pass: a part of a body, bytes, a compressed body, a read with a body, an overridden method, an upgrade', async () => {
  const { server, ask } = await startGatewayServer()
  const hidden: { body: string; headers?: Record<string, string> }[] = [
    { ...refund, headers: { 'x-envoy-auth-partial-body': 'true' } },
    { body: '\u0000', headers: { 'content-encoding': 'gzip' } },
    { ...refund, headers: { 'x-http-method-override': 'DELETE' } },
    { ...refund, headers: { 'x-original-url': '/admin' } },
    { ...refund, headers: { 'idempotency-key': 'a b' } },
    { body: `"${'x'.repeat(300_000)}"` },
  ]
  for (const more of hidden) expect((await ask('POST', '/refunds', more)).status).toBe(403)
  expect((await ask('GET', '/orders', refund)).status).toBe(403)
  for (const upgrade of ['websocket', 'h2c'])
    expect(await ask('GET', '/orders', { headers: { connection: 'upgrade', upgrade } })).toMatchObject({
      status: 403,
      detail: expect.stringContaining('upgraded connection'),
    })
  for (const method of ['TRACE', 'PROPFIND', 'QUERY']) expect((await ask(method, '/orders')).status).toBe(403)
  expect((await server.admin.get('/api/actions')).items).toEqual([])
})

test('a body in another character set does not pass: the server behind would read something else than the card shows', async () => {
  const { server, ask } = await startGatewayServer()
  const base64 = (text: string) => Buffer.from(text, 'utf16le').swap16().toString('base64').replaceAll('=', '')
  // As UTF-7 it pays a million.
  const body = `{"amount":1,"note":"+${base64('","amount":1000000,"x":"')}-"}`
  const send = (contentType: string, sent = body) => ask('POST', '/refunds', { body: sent, headers: { 'content-type': contentType } })
  for (const contentType of [
    'application/json; charset=utf-7',
    'application/json;CHARSET="UTF-7"',
    'application/json; charset=utf-16',
    'application/x-www-form-urlencoded; charset=gbk',
    'application/json; charset=utf-8; charset=utf-7',
    'application/json; charset=utf-7; charset=utf-8',
    'application/json; charset=utf-8; charset=utf-8',
    'application/json; charset="utf-8; charset=utf-7"',
    "application/json; charset*=utf-7''",
    String.raw`application/json; charset="utf\-7"`,
    'application/json; charset',
    'application/json; charset=',
    'application/json charset=utf-7',
    'application/json, application/json; charset=utf-8',
    'json',
  ])
    expect(await send(contentType), contentType).toMatchObject({ status: 403, detail: expect.stringContaining('Nothing was passed on') })
  expect((await send('text/plain; charset=us-ascii', 'é')).detail).toContain('US-ASCII')
  expect((await server.admin.get('/api/actions')).items).toEqual([])
  for (const contentType of [
    'application/json; charset="UTF-8"',
    'application/json;charset=utf-8;',
    'text/plain; Charset=US-ASCII',
    'multipart/form-data; boundary=----x; charset=utf-8',
  ])
    expect((await send(contentType)).detail, contentType).toContain('Waiting for approval')
})

test('where bodies are not forwarded, requests that write are refused', async () => {
  const { ask } = await startGatewayServer({ settings: {} })
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const { status, detail } = await ask(method, '/refunds')
    expect([status, detail]).toEqual([403, expect.stringContaining('does not see what such a request sends')])
  }
  expect((await ask('GET', '/orders')).status).toBe(200)
})

test('nothing falls through to the console: a wrong or missing key, a cookie, a person’s key, a huge address, a wrong prefix, no tools', async () => {
  const { server, ask, key } = await startGatewayServer()
  const page = { accept: 'text/html' }
  const { key: person } = await server.makeKey({ name: 'Ana', kind: 'person', roles: ['approver'] })
  const signIns: Record<string, string>[] = [
    { 'x-countersign-key': 'wrong' },
    { 'x-countersign-key': '' },
    { 'x-countersign-key': person },
    { ...(await signInWithKey(server.url, person)), 'x-countersign-key': '' },
    { authorization: `Bearer ${key}`, 'x-countersign-key': '' },
  ]
  for (const headers of signIns) expect((await ask('GET', '/orders', { headers: { ...page, ...headers } })).status).toBe(403)
  for (const prefix of ['', '/api', '/ext-auth', '/ext-authz-old', '/healthz?'])
    expect((await ask('GET', '/orders', { headers: page, prefix })).status, prefix).toBe(403)
  expect((await ask('GET', `/${'a'.repeat(9_000)}`, { headers: page })).status).toBe(403)
  expect((await ask('GET', `/${'a'.repeat(40_000)}`, { headers: page })).status).toBe(431)
  const bare = await startGatewayServer({ settings: null })
  expect((await bare.ask('GET', '/orders', { headers: page })).status).toBe(403)
})

test.skipIf(whyNoNginx !== undefined)('nginx with auth_request lets through what the endpoint allows, and nothing else', async () => {
  const { server, key } = await startGatewayServer({ settings: {} })
  await using nginx = await startNginx(
    server.url,
    `proxy_set_header X-Countersign-Key "";
    auth_request /_door;
    location = /_door {
      internal;
      proxy_pass ${server.url}/ext-authz$request_uri;
      proxy_method $request_method;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Countersign-Key ${key};
    }`,
  )
  const statusOf = async (method: string, path: string, headers: Record<string, string> = {}) =>
    (await rawRequest(nginx.url, { method, path, headers: { accept: 'text/html', ...headers } })).status
  expect(await statusOf('GET', '/healthz')).toBe(200)
  for (const [method, path] of [
    ['POST', '/healthz'],
    ['DELETE', '/healthz'],
    ['GET', '/x/../healthz'],
    ['GET', '/%68ealthz'],
    ['GET', '//healthz'],
  ] as const)
    expect(await statusOf(method, path), `${method} ${path}`).toBe(403)
  // Whoever sends a request cannot name another agent.
  expect(await statusOf('GET', '/healthz', { 'x-countersign-key': 'wrong' })).toBe(200)
})

test('the filter in the guide forwards every header that could make a request another one: what does not come here is not refused', () => {
  const guide = readFileSync(new URL('../../docs/guides/gateways.md', import.meta.url), 'utf8')
  const forwarded = [...guide.matchAll(/^ *- \{ exact: (\S+) \}$/gm)].map(([, name]) => name)
  expect(forwarded).toEqual(expect.arrayContaining(['content-type', 'content-encoding', 'idempotency-key', 'upgrade', ...OVERRIDE_HEADERS]))
})
