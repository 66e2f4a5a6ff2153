import type { JsonObject, Tool } from '@countersign/core'
import { expect, test } from 'vitest'
import { call, openApi, startService, variable } from '../../../verification/testing/described-api.ts'

const query = (name: string, schema: JsonObject, more: JsonObject = {}): JsonObject => ({ name, in: 'query', schema, ...more })
const bodyOf = (type: string, schema: JsonObject, encoding?: JsonObject): JsonObject => ({
  content: { [type]: { schema: { type: 'object', ...schema }, ...(encoding && { encoding }) } },
})
const JSON_TYPE = 'application/json'
const FORM = 'application/x-www-form-urlencoded'
const TEXT = { type: 'string' }
const MAP = { type: 'object', additionalProperties: TEXT }
const whyNot = (tool: Tool, args: JsonObject) => {
  const checked = tool.check(args)
  return checked.ok ? '' : checked.issues.map(({ message }) => message).join(' ')
}
const post = (requestBody: JsonObject, more: JsonObject = {}) => ({ post: { operationId: 'send', requestBody, ...more } })

test('a member whose name differs from a described one in case only is refused, at every depth of a body', async () => {
  const line = { type: 'object', properties: { sku: TEXT } }
  const described: JsonObject = {
    properties: { amount: { type: 'number', maximum: 5_000 }, lines: { type: 'array', items: line }, labels: MAP },
    allOf: [{ type: 'object', properties: { to: { anyOf: [{ type: 'object', properties: { iban: TEXT } }, { type: 'null' }] } } }],
  }
  const { tool } = await openApi({ paths: { '/pay': post(bodyOf(JSON_TYPE, described)) } }, { baseUrl: 'http://127.0.0.1:9' })
  const words = 'must be written'
  for (const [body, path] of [
    [{ amount: 1, Amount: 1_000_000 }, '/body/Amount'],
    [{ Amount: 1_000_000 }, '/body/Amount'],
    [{ lines: [{ sku: 'a' }, { sku: 'a', SKU: 'b' }] }, '/body/lines/1/SKU'],
    [{ to: { iban: 'a', Iban: 'b' } }, '/body/to/Iban'],
    [{ 'label\u017f': {} }, '/body/label\u017f'],
  ] as [JsonObject, string][]) {
    expect(tool('send').check({ body }), path).toMatchObject({ ok: false, issues: [{ path, message: expect.stringContaining(words) }] })
  }
  // Nothing says that two labels are one, and a member that is not described may be anything else.
  const body = { amount: 1, labels: { a: 'x', A: 'y' }, more: { amount: 1, Amount: 2 }, lines: [{ sku: 'a', amount: 2 }] }
  expect(tool('send').check({ body })).toMatchObject({ ok: true })
})

test('two described members may differ in case only', async () => {
  const described = { properties: { id: TEXT, ID: TEXT } }
  const { tool } = await openApi({ paths: { '/pay': post(bodyOf(JSON_TYPE, described)) } }, { baseUrl: 'http://127.0.0.1:9' })
  expect(tool('send').check({ body: { id: 'a', ID: 'b' } })).toMatchObject({ ok: true })
})

test('a key of an object in the query is neither another argument nor the parameter of the credential', async () => {
  await using service = await startService()
  const parameters = [
    query('account', TEXT, { required: true }),
    query('user_id', TEXT),
    query('labels', MAP),
    query('deep', MAP, { style: 'deepObject' }),
  ]
  const { tool } = await openApi(
    {
      components: { securitySchemes: { k: { type: 'apiKey', in: 'query', name: 'api_key' } } },
      security: [{ k: [] }],
      paths: { '/reports': { get: { operationId: 'read', parameters } } },
    },
    { baseUrl: service.url, auth: { k: variable('KEY') } },
    { KEY: 'sekret-key-1' },
  )
  const read = tool('read')
  for (const key of ['account', 'Account', 'account[]', 'user_id', 'user.id', 'deep[x]'])
    expect(whyNot(read, { account: 'own', labels: { [key]: 'other' } }), key).toContain('is another argument')
  for (const key of ['api_key', 'API_KEY', 'api.key'])
    expect(whyNot(read, { account: 'own', labels: { [key]: 'x' } }), key).toContain('is set by the configuration')
  await call(read, { account: 'own', labels: { team: 'a', labels: 'b' }, deep: { account: 'inside' } })
  expect(service.seen[0]?.path).toBe('/reports?account=own&team=a&labels=b&deep%5Baccount%5D=inside&api_key=sekret-key-1')
})

test('a page that a document describes twice may be given in one of the two ways', async () => {
  const pageable = { type: 'object', required: ['page'], properties: { page: { type: 'integer' }, size: { type: 'integer' } } }
  const parameters = [query('page', { type: 'integer' }), query('pageable', pageable), query('labels', MAP)]
  const { tool } = await openApi({ paths: { '/a': { get: { operationId: 'read', parameters } } } }, { baseUrl: 'http://127.0.0.1:9' })
  expect(tool('read').check({ pageable: { page: 1 } })).toMatchObject({ ok: true })
  expect(tool('read').check({ page: 1, pageable: { page: 2 } })).toMatchObject({ ok: false, issues: [{ path: '/pageable/page' }] })
  expect(tool('read').check({ pageable: { page: 1 }, labels: { page: '2' } })).toMatchObject({
    ok: false,
    issues: [{ path: '/labels/page' }],
  })
})

test('a key of an object in a form is no other member of it, and no member is another spelling of a described one', async () => {
  const described = { properties: { role: { ...TEXT, enum: ['viewer'] }, user_id: TEXT, meta: MAP, json: MAP } }
  const spread = { meta: { style: 'form', explode: true } }
  const { tool } = await openApi({ paths: { '/form': post(bodyOf(FORM, described, spread)) } }, { baseUrl: 'http://127.0.0.1:9' })
  for (const body of [
    { role: 'viewer', meta: { role: 'owner' } },
    { meta: { Role: 'owner' } },
    { meta: { 'role[]': 'owner' } },
    { meta: { note: 'a' }, note: 'b' },
    { user_id: '1', 'user.id': '2' },
    { 'role[x]': 'owner' },
  ] as JsonObject[])
    expect(tool('send').check({ body }), JSON.stringify(body)).toMatchObject({ ok: false })
  expect(tool('send').check({ body: { role: 'viewer', meta: { team: 'a' }, json: { role: 'x' }, note: 'b' } })).toMatchObject({ ok: true })
})

test('no argument makes a POST another method', async () => {
  const described = { properties: { name: TEXT } }
  const bodies = [bodyOf(FORM, described), bodyOf('multipart/form-data', described), bodyOf(JSON_TYPE, described)]
  const spread = bodyOf(FORM, { properties: { meta: MAP } }, { meta: { style: 'form', explode: true } })
  const open = (requestBody: JsonObject, parameters: JsonObject[] = []) =>
    openApi({ paths: { '/orders/7': post(requestBody, { parameters }) } }, { baseUrl: 'http://127.0.0.1:9' })
  for (const requestBody of bodies) {
    const { tool } = await open(requestBody, [query('labels', MAP), query('_method', TEXT)])
    const send = tool('send')
    for (const name of ['_method', '_METHOD']) {
      expect(whyNot(send, { body: { name: 'x', [name]: 'DELETE' } }), name).toContain('could make it another request')
      expect(whyNot(send, { body: { name: 'x' }, labels: { [name]: 'DELETE' } }), name).toContain('could make it another request')
    }
    expect(send.inputSchema).not.toHaveProperty('properties._method')
    expect(send.check({ body: { name: 'x', note_method: 'DELETE' } })).toMatchObject({ ok: true })
  }
  const { tool } = await open(spread)
  expect(whyNot(tool('send'), { body: { meta: { _method: 'DELETE' } } })).toContain('could make it another request')
  const needed = open(spread, [query('_method', TEXT, { required: true })])
  await expect(needed).rejects.toThrow('requires the parameter _method, which could make it another request than its card shows')
})

test('a method that the document itself fixes is sent', async () => {
  await using service = await startService()
  const fixed = { type: 'string', enum: ['PUT'] }
  const requestBody = bodyOf(FORM, { required: ['_method'], properties: { _method: fixed, name: TEXT } })
  const paths = {
    '/posts/7': post(requestBody),
    '/posts': post(bodyOf(FORM, {}), { operationId: 'other', parameters: [query('_method', fixed)] }),
  }
  const { tool } = await openApi({ paths }, { baseUrl: service.url })
  await call(tool('other'), { _method: 'PUT' })
  expect(service.seen.map(({ path }) => path)).toEqual(['/posts?_method=PUT'])
  expect(tool('send').check({ body: { _method: 'PUT', name: 'x' } })).toMatchObject({ ok: true })
  expect(tool('send').check({ body: { _method: 'DELETE' } })).toMatchObject({ ok: false })
})
