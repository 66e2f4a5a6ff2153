import type { JsonObject, JsonValue } from '@countersign/core'
import { expect, test } from 'vitest'
import { call, look, openApi, refusal, startService, variable } from '../../../verification/testing/described-api.ts'
import type { TargetAnswer, TargetRequest } from '../../../verification/testing/target.ts'
import type { OpenApiInput } from './section.ts'

const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } }
const bodyOf = (properties: JsonObject): JsonObject => ({ content: { 'application/json': { schema: { type: 'object', properties } } } })
const ORDER = bodyOf({ status: { type: 'string' }, note: { type: 'string' } })

const ORDERS: JsonObject = {
  '/orders': { get: { operationId: 'list' }, post: { operationId: 'create', summary: 'Place an order.', requestBody: ORDER } },
  '/orders/{id}': {
    parameters: [ID],
    get: { operationId: 'get' },
    put: { operationId: 'put', requestBody: ORDER },
    patch: { operationId: 'patch', requestBody: ORDER },
    delete: { operationId: 'delete', parameters: [{ name: 'force', in: 'query', schema: { type: 'boolean' } }] },
  },
  '/orders/{id}/cancel': { parameters: [ID], get: { operationId: 'cancel' }, delete: { operationId: 'forget' } },
  '/search': { post: { operationId: 'search', requestBody: bodyOf({ text: { type: 'string' } }) } },
}
const CURRENT = { lines: [{ sku: 'A', count: 2 }], status: 'open', total: 30 }

const requests = (seen: readonly TargetRequest[]) => seen.map(({ method, path }) => `${method} ${path}`)
const orders = (answer?: (request: TargetRequest) => TargetAnswer) =>
  startService(answer ?? (({ method }) => ({ status: 200, body: method === 'GET' ? CURRENT : {} })))

test('effect is the method, until the configuration says otherwise: a POST that searches, a GET that acts', async () => {
  await using service = await orders()
  const plain = await openApi({ paths: ORDERS }, { baseUrl: service.url })
  const effects = (api: typeof plain) => Object.fromEntries(api.names.map((name) => [name, api.tool(name).effect]))
  expect(effects(plain)).toEqual({
    ...{ list: 'read', create: 'write', get: 'read', put: 'write', patch: 'write', delete: 'write', cancel: 'read', forget: 'write' },
    search: 'write',
  })
  const api = await openApi(
    { paths: ORDERS },
    { baseUrl: service.url, operations: { 'POST /search': { effect: 'read' }, cancel: { effect: 'write' } } },
  )
  expect(effects(api)).toEqual({ ...effects(plain), search: 'read', cancel: 'write' })
  const [search, cancel] = [api.tool('search'), api.tool('cancel')]
  expect([search.idempotent, search.preview, cancel.idempotent]).toEqual([true, undefined, false])
  await call(search, { body: { text: 'x' } })
  await call(cancel, { id: '7' })
  // Only writes are sent with a key.
  expect(service.seen.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined, 'act_1.1'])
  // The GET of the same path is now configured as a write, so it is not used for a preview.
  await look(api.tool('forget'), { id: '7' })
  expect(requests(service.seen)).toEqual(['POST /search', 'GET /orders/7/cancel'])
  expect((await api.check()).at(-1)).toMatchObject({ message: 'GET /orders answered (200)' })
})

test('of several overrides that fit the later one counts, member by member', async () => {
  await using service = await orders()
  const operations = {
    'DELETE *': { describe: 'Delete', idempotent: true, timeoutMs: 4_000 },
    delete: { describe: 'Delete order {id}', description: 'Ours.' },
  }
  const { tool } = await openApi({ paths: ORDERS }, { baseUrl: service.url, operations })
  expect(tool('delete')).toMatchObject({ idempotent: true, timeoutMs: 4_000, description: 'Ours.' })
  expect(tool('delete').describe({ id: 'a b' })).toBe('Delete order a b')
  expect(tool('patch')).toMatchObject({ idempotent: false, timeoutMs: 15_000 })
  expect(tool('create').describe({ body: {} })).toBe('Place an order: POST /orders')
  expect(tool('patch').describe({ id: 'a b', body: { status: 'x' } })).toBe('PATCH /orders/a b')
})

test('the page of a result is under publicUrl, and leaves its origin in no way', async () => {
  await using service = await orders()
  const operations = { create: { resultUrl: '/page/{result.id}' }, patch: { resultUrl: '//{status}' }, put: { resultUrl: '/page/{id}' } }
  const { tool } = await openApi({ paths: ORDERS }, { baseUrl: service.url, publicUrl: 'https://shop.example.com/x/', operations })
  expect(tool('create').resultUrl?.({ body: {} }, { id: 7 })).toBe('https://shop.example.com/page/7')
  expect(tool('create').resultUrl?.({ body: {} }, {})).toBeUndefined()
  expect(tool('create').resultUrl?.({ body: {} }, { id: '../../a' })).toBeUndefined()
  expect(tool('put').resultUrl?.({ id: 'a?b#c', body: {} }, null)).toBe('https://shop.example.com/page/a%3Fb%23c')
  expect(tool('patch').resultUrl?.({ id: '7', body: { status: 'evil.example' } }, null)).toBeUndefined()
  expect(tool('delete').resultUrl).toBeUndefined()
})

test('a template that names what is not there is refused with its place', async () => {
  const operations = {
    patch: {
      describe: 'Set {id} to {stat}',
      resultUrl: '/page/{orderId}',
      before: { get: '/orders/{no}', compare: { status: '{state}' } },
    },
    create: { describe: 'Made {result.id}' },
    put: { before: { get: '/orders/{id}', show: { total: 'total' } } },
    list: { cacheFor: 'soon' },
    get: { describe: `Read ${variable('SHOP_TOKEN')}` },
  }
  const open = (some: OpenApiInput['operations']) =>
    openApi({ paths: ORDERS }, { baseUrl: 'http://127.0.0.1:9', operations: some }).catch(String)
  const error = await open({ patch: operations.patch, create: operations.create, put: operations.put, list: operations.list })
  for (const words of [
    'operations.patch.describe: names {stat}, which is neither an argument nor a member of the body',
    'operations.patch.resultUrl: names {orderId}, which',
    'operations.patch.before.get: names {no}, which',
    'operations.patch.before.compare.status: names {state}, which',
    'operations.put.before: may have get, compare and ifMatch here',
    'operations.create.describe: cannot use {result.…}: there is no answer yet',
    'operations.list.cacheFor: ',
  ]) {
    expect(error).toContain(words)
  }
  expect(await open({ get: operations.get })).toContain('it is shown')
})

test('what a change shows is read by the GET of its path: the members that it sets, now and then', async () => {
  await using service = await orders(({ path }) => (path === '/orders/new' ? { status: 404 } : { status: 200, body: CURRENT }))
  const { tool } = await openApi({ paths: ORDERS }, { baseUrl: service.url })
  const args = { id: '7', body: { status: 'closed', note: 'x' } }
  const fields = [
    { field: 'note', newValue: 'x' },
    { field: 'status', oldValue: 'open', newValue: 'closed' },
  ]
  expect(await look(tool('patch'), args)).toMatchObject({ fields, precondition: expect.anything() })
  // PUT may create its target, while PATCH needs an existing one.
  const added = [{ field: 'status', newValue: 'closed' }]
  expect(await look(tool('put'), { id: 'new', body: { status: 'closed' } })).toEqual({ fields: added, precondition: { missing: true } })
  expect(await refusal(look(tool('patch'), { id: 'new', body: {} }))).toMatchObject({ kind: 'refused' })
  expect(await look(tool('create'), { body: { status: 'closed' } })).toEqual({ fields: added })
  expect(requests(service.seen)).toEqual(['GET /orders/7', 'GET /orders/new', 'GET /orders/new'])
})

test.each([
  ['a web page', { status: 404, headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<h1>Not Found</h1>' }],
  ['the text of a proxy', { status: 404, headers: { 'content-type': 'text/plain' }, body: 'default backend - 404' }],
  ['more than 1 MB', { status: 404, body: { words: 'x'.repeat(1_100_000) } }],
])('the target of a PUT is never shown as new because of a 404 that is %s', async (_, answer) => {
  await using service = await orders(() => answer)
  const { tool } = await openApi({ paths: ORDERS }, { baseUrl: service.url })
  const error = await refusal(look(tool('put'), { id: '7', body: { status: 'closed' } }))
  expect(error.message).toBe(
    `${service.url} answered 404 with a text or a page that need not be its own, so it is not known whether /orders/{id} exists.`,
  )
})

test('an approval is for a path of one segment or of several, whichever the document said', async () => {
  const definitionOf = async (more: JsonObject) => {
    const parameters = [{ ...ID, ...more }]
    const { tool } = await openApi(
      { paths: { '/files/{id}': { delete: { operationId: 'forget', parameters } } } },
      { baseUrl: 'http://127.0.0.1:9' },
    )
    return tool('forget').definition
  }
  const one = await definitionOf({})
  expect(await definitionOf({ 'x-multi-segment': true })).not.toEqual(one)
  // Without it the definition is the one that earlier approvals are bound to.
  expect(await definitionOf({ 'x-multi-segment': false })).toEqual(one)
  expect((one as JsonObject).parameters).toEqual([
    { argument: 'id', name: 'id', in: 'path', style: 'simple', explode: false, allowReserved: false, isJson: false },
  ])
})

test('what goes is shown before it goes, simple values first, with what is said about it', async () => {
  await using service = await orders()
  const { tool } = await openApi({ paths: ORDERS }, { baseUrl: service.url })
  const shown = await look(tool('delete'), { id: '7', force: true })
  expect(shown?.fields).toEqual([
    { field: 'status', oldValue: 'open' },
    { field: 'total', oldValue: 30 },
    { field: 'lines', oldValue: CURRENT.lines },
    { field: 'force, query', newValue: true },
  ])
  expect(requests(service.seen)).toEqual(['GET /orders/7'])
})

test('a read that needs more than the arguments are, or is itself broken, costs the old values and not the tool', async () => {
  await using service = await orders()
  const more = { name: 'view', in: 'query', required: true, schema: { type: 'string' } }
  const get = (path: string, more: JsonObject) => ({ [path]: { get: more, patch: { operationId: path.slice(1), requestBody: ORDER } } })
  const paths = {
    ...get('/view', { parameters: [more] }),
    ...get('/body', { requestBody: { required: true, ...ORDER } }),
    ...get('/part', { parameters: [{ $ref: '#/nowhere' }] }),
  }
  const api = await openApi({ paths }, { baseUrl: service.url })
  for (const name of ['view', 'body', 'part']) {
    expect(await look(api.tool(name), { body: { status: 'x' } })).toEqual({ fields: [{ field: 'status', newValue: 'x' }] })
  }
  const elsewhere = { paths: get('/a', { servers: [{ url: '/relative' }] }), servers: [{ url: 'https://example.com' }] }
  expect((await openApi(elsewhere)).names).toEqual(['a'])
  expect(service.seen).toEqual([])
})

test('`before` reads somewhere else with the credentials of the call, and `before: false` nowhere', async () => {
  await using service = await orders(() => ({ status: 200, headers: { etag: '"1"' }, body: { state: { now: 'open' } } }))
  const operations = {
    patch: { before: { get: '/state/{id}', compare: { 'state.now': '{status}' } } },
    put: { before: false as const },
    delete: { before: { get: '/state/{id}', compare: ['state.now'], ifMatch: true } },
  }
  const { tool } = await openApi(
    { paths: ORDERS, components: { securitySchemes: { sid: { type: 'apiKey', in: 'cookie', name: 'sid' } } }, security: [{ sid: [] }] },
    { baseUrl: `${service.url}/v1`, auth: { sid: 'sid-value' }, headers: { Accept: 'application/json', 'X-Team': 'a' }, operations },
  )
  const shown = await look(tool('patch'), { id: '7', body: { status: 'closed' } })
  expect(shown).toMatchObject({ fields: [{ field: 'state.now', oldValue: 'open', newValue: 'closed' }] })
  expect(shown?.version).toBeUndefined()
  expect(await look(tool('put'), { id: '7', body: { status: 'closed' } })).toEqual({ fields: [{ field: 'status', newValue: 'closed' }] })
  expect(await look(tool('delete'), { id: '7' })).toMatchObject({ fields: [{ field: 'state.now', oldValue: 'open' }], version: '"1"' })
  expect(requests(service.seen)).toEqual(['GET /v1/state/7', 'GET /v1/state/7'])
  expect(service.seen[0]?.headers).toMatchObject({ cookie: 'sid=sid-value', 'x-team': 'a', accept: 'application/json' })
  // The version applies if the preview read the resource itself.
  for (const name of ['put', 'patch', 'delete']) await call(tool(name), name === 'delete' ? { id: '7' } : { id: '7', body: {} }, '"1"')
  expect(service.seen.slice(2).map(({ headers }) => headers['if-match'])).toEqual([undefined, undefined, '"1"'])
})

test('where the read names a strong version the call is held against it, and what changed meanwhile is asked again', async () => {
  let etag = '"v1"'
  await using service = await orders(({ method, headers }): TargetAnswer => {
    if (method === 'GET') return { status: 200, headers: { etag }, body: CURRENT }
    return headers['if-match'] === undefined || headers['if-match'] === etag ? { status: 200 } : { status: 412, body: { error: 'changed' } }
  })
  const { tool } = await openApi({ paths: ORDERS }, { baseUrl: service.url })
  const args: JsonObject = { id: '7', body: { status: 'closed' } }
  const { version } = (await look(tool('patch'), args)) ?? {}
  expect(version).toBe('"v1"')
  await call(tool('patch'), args, version)
  etag = '"v2"'
  for (const [name, given] of [
    ['patch', args],
    ['put', args],
    ['delete', { id: '7' }],
  ] as [string, JsonObject][]) {
    const error = await refusal(call(tool(name), given, version))
    expect(error).toMatchObject({
      kind: 'stale',
      message: `${service.url} changed after it was looked at last, and did nothing (412): changed.`,
    })
  }
  const written = service.seen.filter(({ method }) => method !== 'GET')
  expect(written.map(({ headers }): JsonValue => headers['if-match'] ?? null)).toEqual(Array.from({ length: 4 }, () => '"v1"'))
  // A weak ETag never matches, so it is not sent.
  etag = 'W/"v3"'
  expect(await look(tool('patch'), args)).not.toHaveProperty('version')
})

test('an operation is looked up as the configuration says: found, not found yet, and not found by a service that knows', async () => {
  await using service = await orders(({ method, path }) =>
    method !== 'GET' ? { status: 200 } : path === '/orders?key=k.1' ? { status: 200, body: { note: 'x' } } : { status: 404 },
  )
  const verify = { get: '/orders?key={idempotencyKey}', done: { note: '{note}' } }
  const open = (more: object) => openApi({ paths: ORDERS }, { baseUrl: service.url, operations: { create: { verify, ...more } } })
  const found = async (idempotencyKey: string, more: object = {}) =>
    (await open(more))
      .tool('create')
      .verify?.({ body: { note: 'x' } }, { actionId: 'act_1', idempotencyKey, signal: AbortSignal.timeout(240_000) })
  expect(await found('k.1')).toEqual({ done: true, output: { note: 'x' } })
  expect(await found('k.2')).toEqual({ done: false })
  expect(await found('k.2', { verify: { ...verify, authoritative: true } })).toEqual({ done: false, authoritative: true })
  expect((await open({ settlesWithin: 'PT10M' })).tool('create').settlesWithinMs).toBe(600_000)
  await expect(open({ settlesWithin: 'PT1S' })).rejects.toThrow('settlesWithin: must be at least the timeout of 15000 ms')
})

test('what a service only accepted (202) is of unknown outcome where it can be looked up, and its answer stands where it cannot', async () => {
  await using service = await orders(() => ({ status: 202, body: { queued: true } }))
  const verify = { get: '/orders?key={idempotencyKey}', done: { note: '{note}' } }
  const checked = await openApi({ paths: ORDERS }, { baseUrl: service.url, operations: { create: { verify } } })
  const unchecked = await openApi({ paths: ORDERS }, { baseUrl: service.url })
  const args = { body: { note: 'x' } }
  expect(await refusal(call(checked.tool('create'), args))).toMatchObject({ kind: 'ambiguous' })
  expect(await call(unchecked.tool('create'), args)).toEqual({ queued: true })
})

test('an If-Match that the agent gives is shown and sent, whatever version was read for the card', async () => {
  await using service = await orders(({ method }) => ({ status: method === 'GET' ? 200 : 412, headers: { etag: '"v2"' }, body: CURRENT }))
  const parameters = [ID, { name: 'if-match', in: 'header', schema: { type: 'string' } }]
  const paths = {
    '/orders/{id}': { get: { operationId: 'get', parameters: [ID] }, patch: { operationId: 'patch', parameters, requestBody: ORDER } },
  }
  const { tool } = await openApi({ paths }, { baseUrl: service.url })
  const plain = { id: '7', body: { status: 'closed' } }
  const args = { ...plain, 'if-match': '"v1"' }
  const { version } = (await look(tool('patch'), args)) ?? {}
  expect(version).toBe('"v2"')
  expect(await refusal(call(tool('patch'), args, version))).toMatchObject({ kind: 'refused' })
  expect(service.seen.at(-1)?.headers['if-match']).toBe('"v1"')
  expect(await refusal(call(tool('patch'), plain, version))).toMatchObject({ kind: 'stale' })
})
