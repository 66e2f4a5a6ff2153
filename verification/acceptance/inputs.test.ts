import { once } from 'node:events'
import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rawRequest } from '../testing/raw-request.ts'
import { startTarget, type Target, toolsOf } from '../testing/target.ts'
import { BOOTSTRAP_KEY, startTestServer, type TestServer } from '../testing/test-server.ts'

let target: Target
let server: TestServer
let routes: string[]

beforeAll(async () => {
  target = await startTarget(() => ({ status: 200 }))
  server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target) },
    scripts: { talk: [{ calls: [{ tool: 'keyed', arguments: { what: 'x' } }] }] },
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  await server.settle()
  routes = [
    ...['/api/sessions', '/api/actions', '/api/chat', '/api/chat/approve', '/api/keys'],
    ...['messages', 'approve'].map((what) => `/api/sessions/${sessionId}/${what}`),
    `/api/actions/${proposal.id}/decision`,
  ]
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await target[Symbol.asyncDispose]()
})

const BAD: [what: string, body: string | Uint8Array<ArrayBuffer>, status: number][] = [
  ['nothing but white space', '  \n', 400],
  ['half an object', '{"a":', 400],
  ['a trailing comma', '{"a":1,}', 400],
  ['a comment', '{/* x */}', 400],
  ['single quotes', "{'a':1}", 400],
  ['NaN', '{"a":NaN}', 400],
  ['two documents', '{}{}', 400],
  ['a byte order mark', '\ufeff{}', 400],
  ['bytes that are not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), 400],
  ['a duplicate key', '{"a":1,"a":2}', 400],
  ['a duplicate key written two ways', '{"a":1,"\\u0061":2}', 400],
  ['__proto__', '{"__proto__":{"admin":true}}', 400],
  ['constructor', '{"constructor":{"prototype":{"admin":true}}}', 400],
  ['a number that is rounded', '{"a":9007199254740993}', 400],
  ['a number that is infinite', '{"a":1e400}', 400],
  ['a lone surrogate', '{"a":"\\ud800"}', 400],
  ['1,000 levels', `${'[{"a":'.repeat(500)}1${'}]'.repeat(500)}`, 400],
  ['100,000 levels', '['.repeat(100_000) + ']'.repeat(100_000), 400],
  ['600 KB', `{"a":"${'x'.repeat(600_000)}"}`, 413],
  ['null', 'null', 400],
  ['a list', '[]', 400],
  ['a text', '"approve"', 400],
  ['a number', '7', 400],
  ['a member that nobody knows', '{"approvedBy":"Ada"}', 400],
  ['wrong types', '{"content":1,"message":[],"verdict":true,"tool":{},"approvalId":0,"name":null,"title":5}', 400],
]

test('a body that is not acceptable is 400 or 413 in words, on every route, and stores nothing', async () => {
  const before = await server.dump()
  for (const path of routes) {
    for (const [what, raw, status] of BAD) {
      const answer = await server.admin.send('POST', path, { raw })
      expect(answer.status, `${path}: ${what}`).toBe(status)
      expect(answer.body, `${path}: ${what}`).toMatchObject({ status, detail: expect.stringMatching(/\S/) })
    }
  }
  expect(await server.dump()).toEqual(before)
  expect(server.errors).toEqual([])
})

test('a content type that is not JSON is refused on every route', async () => {
  const before = await server.dump()
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json\tx',
    'application/jsonx',
    'x',
  ]
  for (const path of routes) {
    for (const type of types) {
      const headers = { authorization: `Bearer ${BOOTSTRAP_KEY}`, 'content-type': type }
      const body = JSON.stringify({ content: 'yes', message: 'yes', verdict: 'approve', title: 'x' })
      const answer = await rawRequest(server.url + path, { method: 'POST', headers, body })
      expect(answer.status, `${path} ${JSON.stringify(type)}`).toBe(400)
    }
  }
  expect(await server.dump()).toEqual(before)
})

test('a body that says it is compressed is refused, whether it is or not', async () => {
  const before = await server.dump()
  const plain = '{"message":"go"}'
  for (const [coding, body] of [
    ['gzip', gzipSync(plain)],
    ['gzip', plain],
    ['br', plain],
    ['gzip, identity', plain],
    ['', plain],
  ] as const)
    for (const path of routes) {
      const headers = { authorization: `Bearer ${BOOTSTRAP_KEY}`, 'content-type': 'application/json', 'content-encoding': coding }
      const { status, text } = await rawRequest(server.url + path, { method: 'POST', headers, body })
      expect([path, coding, status]).toEqual([path, coding, 400])
      expect(JSON.parse(text)).toMatchObject({ code: 'bad_request', detail: expect.stringContaining('Content-Encoding') })
    }
  expect(await server.dump()).toEqual(before)
  const headers = { authorization: `Bearer ${BOOTSTRAP_KEY}`, 'content-type': 'application/json', 'content-encoding': 'Identity' }
  expect((await rawRequest(`${server.url}/api/sessions`, { method: 'POST', headers, body: '{}' })).status).toBe(201)
})

test('a client that sends a far too large body reads 413, not a closed connection', async () => {
  const headers = { authorization: `Bearer ${BOOTSTRAP_KEY}`, 'content-type': 'application/json' }
  const chunked = { ...headers, 'transfer-encoding': 'chunked' }
  for (const sent of [headers, chunked, headers, chunked]) {
    const outgoing = request(`${server.url}/api/sessions`, { method: 'POST', headers: sent, agent: false })
    outgoing.end(Buffer.alloc(12 * 1024 * 1024, ' '))
    // A client that writes to a closed connection may never read the answer.
    const [[response]] = await Promise.all([once(outgoing, 'response'), once(outgoing, 'finish')])
    expect(response.statusCode).toBe(413)
    expect(await json(response)).toMatchObject({ code: 'too_large' })
  }
})

test('arguments of more than 256 KB are 413, proposed or as an edit, and store nothing', async () => {
  const { admin } = server
  const sized = (bytes: number) => ({ what: `${'é'.repeat((bytes - '{"what":""}'.length) / 2)}x` })
  const [fitting, large] = [sized(262_144), sized(262_146)]
  const { id, revision, digest } = await admin.post('/api/actions', { tool: 'keyed', arguments: fitting })
  expect((await admin.get(`/api/actions/${id}`)).arguments).toEqual(fitting)
  const before = await server.dump()
  const refusal = { status: 413, body: { code: 'too_large', detail: expect.stringContaining('262144 bytes') } }
  expect(await admin.send('POST', '/api/actions', { body: { tool: 'keyed', arguments: large } })).toMatchObject(refusal)
  const edit = { verdict: 'approve', revision, digest, arguments: large }
  expect(await admin.send('POST', `/api/actions/${id}/decision`, { body: edit })).toMatchObject(refusal)
  expect(await server.dump()).toEqual(before)
  await admin.post(`/api/actions/${id}/withdraw`)
})

test('odd ids, cursors and queries are 400 or 404, never 500', async () => {
  const odd = ['%00', '%2e%2e%2f', '%', '%E0%A4%A', 'x'.repeat(150), 'x'.repeat(5_000), "' or 1=1 --", '%F0%9F%92%A9', '__proto__', ' ']
  for (const id of odd) {
    for (const path of [
      `/api/sessions/${id}`,
      `/api/actions/${id}`,
      `/api/sessions/${id}/messages`,
      `/api/sessions/${id}/events`,
      `/api/${id}`,
    ]) {
      const answer = await rawRequest(server.url + encodeURI(path).replaceAll('%25', '%'), {
        headers: { authorization: `Bearer ${BOOTSTRAP_KEY}` },
      })
      expect([400, 404], `${path.slice(0, 80)} → ${answer.status}`).toContain(answer.status)
      expect(answer.headers['content-type']).toContain('application/problem+json')
    }
  }
  for (const query of ['limit=0', 'limit=201', 'limit=x', 'limit=-1', 'limit=1.5', 'cursor=x', 'cursor=W10', `cursor=${'x'.repeat(300)}`]) {
    for (const path of ['/api/sessions', '/api/actions', `${routes[5]}`]) {
      expect((await server.admin.send('GET', `${path}?${query}`)).status, `${path} ${query}`).toBe(400)
    }
  }
  for (const query of ['state=lost', 'state=proposed,lost', `q=${'x'.repeat(300)}`]) {
    expect((await server.admin.send('GET', `/api/actions?${query}`)).status, query).toBe(400)
  }
  expect((await server.admin.send('GET', `/api/sessions/${routes[5]?.split('/')[3]}/events?after=x`)).status).toBe(400)
  expect(server.errors).toEqual([])
})

test('unknown addresses and methods are a problem document', async () => {
  for (const [method, path] of [
    ['GET', '/api/nothing'],
    ['POST', '/api/nothing'],
    ['PUT', '/api/sessions'],
    ['DELETE', '/api/sessions/ses_1'],
    ['PATCH', routes[7] ?? ''],
    ['GET', routes[7] ?? ''],
  ] as const) {
    const answer = await rawRequest(server.url + path, { method, headers: { authorization: `Bearer ${BOOTSTRAP_KEY}` } })
    expect(answer.status, `${method} ${path}`).toBe(404)
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'not_found', status: 404 })
  }
})

test('any text that JSON can hold comes back as it was sent', async () => {
  const { admin } = server
  const texts = [
    'a\u0000b',
    '\u202eevil\u200b',
    'line\r\nline\u2028line\u0085',
    'data: x\n\nevent: done\ndata: {}\n\n',
    '😀 é é 日本 עברית',
    '<script>alert(1)</script>',
    '\\u0000 "quoted" \\',
    'x'.repeat(100_000),
  ]
  const { id } = await admin.post('/api/sessions', { title: 'odd' })
  using stream = await admin.stream(`/api/sessions/${id}/events`)
  for (const content of texts) {
    const { messageId } = await admin.post(`/api/sessions/${id}/messages`, { content })
    const { message } = await stream.next('message', (data) => data.message.id === messageId)
    expect(message.content).toBe(content)
    const { items } = await admin.get(`/api/sessions/${id}/messages`)
    expect(items.find((item: { id: string }) => item.id === messageId).content).toBe(content)
  }
  for (const what of texts.slice(0, -1)) {
    const action = await admin.post('/api/actions', { tool: 'keyed', arguments: { what } })
    expect((await admin.get(`/api/actions/${action.id}`)).arguments).toEqual({ what })
  }
  expect((await admin.send('POST', `/api/sessions/${id}/messages`, { body: { content: 'x'.repeat(100_001) } })).status).toBe(400)
})
