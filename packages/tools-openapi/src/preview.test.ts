import type { JsonObject, JsonValue, PreviewField } from '@countersign/core'
import { expect, test } from 'vitest'
import { call, look, openApi, startService } from '../../../verification/testing/described-api.ts'

const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } }
const LINES = { type: 'array', items: { type: 'object', properties: { id: { type: 'string' }, count: { type: 'integer' } } } }
const TASK: JsonObject = {
  type: 'object',
  properties: {
    id: { type: 'string', readOnly: true },
    name: { type: 'string' },
    note: { type: 'string' },
    address: { type: 'object', properties: { city: { type: 'string' }, street: { type: 'string' } } },
    lines: LINES,
  },
}
const FULL: JsonObject = { ...TASK, required: ['name'] }
const wrap = (schema: JsonObject): JsonObject => ({ type: 'object', properties: { data: schema } })
const bodyOf = (schema: JsonObject, type = 'application/json'): JsonObject => ({ required: true, content: { [type]: { schema } } })
const CURRENT = {
  id: '7',
  name: 'Ship',
  note: 'soon',
  updatedAt: 3,
  address: { city: 'Bonn', street: 'Am Hof' },
  lines: [
    { id: 'a', count: 1 },
    { id: 'b', count: 2 },
  ],
}

/** Returns the preview of one request when the GET of its path answers `answer`. */
async function shown(
  method: string,
  requestBody: JsonObject,
  answer: JsonValue,
  body: JsonValue,
  path = '/tasks/{id}',
): Promise<PreviewField[]> {
  await using service = await startService(({ method }) => ({ status: 200, body: method === 'GET' ? answer : {} }))
  const node = { operationId: 'change', requestBody }
  const { tool } = await openApi(
    { paths: { [path]: { parameters: [ID], get: { operationId: 'get' }, [method]: node } } },
    { baseUrl: service.url },
  )
  return (await look(tool('change'), { id: '7', body }))?.fields ?? []
}

const NAME = [{ field: 'name', oldValue: 'Ship', newValue: 'Land' }]

test('envelopes of body and answer are no part of what is compared, and nothing that is not sent is struck out', async () => {
  const wrapped = { data: { name: 'Land' } }
  for (const [body, answer] of [
    [wrapped, { data: CURRENT }],
    [wrapped, { data: CURRENT, links: { self: '/tasks/7' }, meta: {} }],
    [{ name: 'Land' }, { data: CURRENT }],
    [{ name: 'Land' }, { status: 'ok', message: null, data: CURRENT }],
    [{ name: 'Land' }, { task: CURRENT }],
    [{ task: { name: 'Land' } }, { data: CURRENT }],
    [{ task: { name: 'Land' } }, CURRENT],
    [{ name: 'Land' }, { response: { data: { task: CURRENT } } }],
    [wrapped, CURRENT],
  ] as [JsonObject, JsonObject][]) {
    for (const method of ['patch', 'post']) {
      expect(await shown(method, bodyOf({ type: 'object' }), answer, body), `${method} ${JSON.stringify(body)}`).toEqual(NAME)
    }
  }
})

test('JSON:API: a change shows its attributes, each with its value now', async () => {
  const data = { type: 'tasks', id: '7', attributes: { name: 'Land' } }
  const answer = { jsonapi: { version: '1.1' }, data: { type: 'tasks', id: '7', attributes: CURRENT, relationships: {} }, links: {} }
  expect(await shown('patch', bodyOf({ type: 'object' }, 'application/vnd.api+json'), answer, { data })).toEqual([
    { field: 'attributes.name', oldValue: 'Ship', newValue: 'Land' },
    { field: 'id', oldValue: '7', newValue: '7' },
    { field: 'type', oldValue: 'tasks', newValue: 'tasks' },
  ])
})

test('the value of another thing is never shown as the one that changes', async () => {
  const open = bodyOf({ type: 'object' })
  expect(await shown('patch', open, { id: '7', owner: { name: 'Ana' } }, { name: 'Land' })).toEqual([{ field: 'name', newValue: 'Land' }])
  expect(await shown('patch', open, { id: '7', name: 'Ana' }, { settings: { name: 'Land' } })).toEqual([
    { field: 'settings', newValue: { name: 'Land' } },
  ])
  expect(await shown('patch', open, { status: 'open', address: { name: 'Hof' } }, { name: 'x', status: 'done' })).toEqual([
    { field: 'name', newValue: 'x' },
    { field: 'status', oldValue: 'open', newValue: 'done' },
  ])
  expect(await shown('patch', open, { 'a.b': 1, a: { b: 2 } }, { 'a.b': 5, a: { b: 6 } })).toEqual([
    { field: 'a.b', oldValue: 2, newValue: 6 },
    { field: '"a.b"', oldValue: 1, newValue: 5 },
  ])
  // A list of changes (JSON Patch) is not compared with the values that it changes.
  const patch = [{ op: 'replace', path: '/name', value: 'Land' }]
  expect(await shown('patch', bodyOf({ type: 'array' }, 'application/json-patch+json'), CURRENT, patch)).toEqual([
    { field: 'body', newValue: patch },
  ])
})

test('of several kinds of a patch one is sent that can hold the values which the card shows, not a list of changes', async () => {
  // As the document of Kubernetes 1.13 describes it, shortened.
  const scale = '/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale'
  const text = (name: string) => ({ name, in: 'path', required: true, type: 'string' })
  const patch = {
    operationId: 'patchAppsV1NamespacedDeploymentScale',
    consumes: ['application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json'],
    parameters: [{ name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/Patch' } }],
  }
  await using service = await startService(({ method }) => ({
    status: 200,
    body: method === 'GET' ? { kind: 'Scale', metadata: { name: 'web' }, spec: { replicas: 2 } } : {},
  }))
  const { tool } = await openApi(
    {
      swagger: '2.0',
      paths: { [scale]: { parameters: [text('namespace'), text('name')], get: { operationId: 'get' }, patch } },
      definitions: {
        Patch: { description: 'Patch is provided to give a concrete name and type to the Kubernetes PATCH request body.' },
      },
    },
    { baseUrl: service.url },
  )
  const args = { namespace: 'shop', name: 'web', body: { spec: { replicas: 5 } } }
  const change = tool('patchAppsV1NamespacedDeploymentScale')
  expect((await look(change, args))?.fields).toEqual([{ field: 'spec.replicas', oldValue: 2, newValue: 5 }])
  await call(change, args)
  expect(service.seen.at(-1)?.headers['content-type']).toBe('application/merge-patch+json')
  // As generators for ASP.NET list the same schema.
  const types = ['application/json-patch+json', 'application/json', 'text/json', 'application/*+json']
  const requestBody = { content: Object.fromEntries(types.map((type) => [type, { schema: TASK }])) }
  const other = await openApi({ paths: { '/tasks': { post: { operationId: 'add', requestBody } } } }, { baseUrl: service.url })
  expect(other.tool('add').definition).toMatchObject({ body: { mediaType: 'application/json' } })
})

test('a PATCH is shown leaf by leaf, and the entries of a list by what they are', async () => {
  const body: JsonObject = { address: { city: 'Köln' }, lines: [{ id: 'b', count: 5 }, { count: 9 }, { id: 'c', count: 1 }] }
  const leaves = [
    { field: 'address.city', oldValue: 'Bonn', newValue: 'Köln' },
    { field: 'lines[b].count', oldValue: 2, newValue: 5 },
    { field: 'lines[new 1]', newValue: { count: 9 } },
    { field: 'lines[c]', newValue: { id: 'c', count: 1 } },
  ]
  const words = 'a (there now; the service decides what becomes of it)'
  expect(await shown('patch', bodyOf(TASK), CURRENT, body)).toEqual([
    ...leaves,
    { field: 'lines, not sent', oldValue: words, newValue: words },
  ])
  expect(await shown('patch', bodyOf(TASK, 'application/merge-patch+json'), CURRENT, body)).toEqual([
    ...leaves,
    { field: 'lines[a]', oldValue: { id: 'a', count: 1 } },
  ])
  const all = 'a, b (there now; the service decides what becomes of it)'
  expect(await shown('patch', bodyOf(TASK), CURRENT, { lines: [] })).toEqual([
    { field: 'lines', newValue: [] },
    { field: 'lines, not sent', oldValue: all, newValue: all },
  ])
  const turned = [...CURRENT.lines].reverse()
  expect((await shown('patch', bodyOf(TASK), CURRENT, { lines: turned })).at(-1)).toEqual({
    field: 'lines, order',
    oldValue: ['a', 'b'],
    newValue: ['b', 'a'],
  })
})

test('a PUT shows as going what it replaces and does not name, where its body has to be whole; elsewhere it says that nobody can tell', async () => {
  const body = { name: 'Ship', address: { city: 'Bonn' }, lines: [{ id: 'b', count: 2 }] }
  const stays = [
    { field: 'address.city', oldValue: 'Bonn', newValue: 'Bonn' },
    { field: 'lines[b].count', oldValue: 2, newValue: 2 },
    { field: 'name', oldValue: 'Ship', newValue: 'Ship' },
  ]
  const going = [
    { field: 'address.street', oldValue: 'Am Hof' },
    { field: 'lines[a]', oldValue: { id: 'a', count: 1 } },
    { field: 'note', oldValue: 'soon' },
  ]
  const byName = (rows: readonly PreviewField[]) => rows.toSorted((a, b) => (a.field < b.field ? -1 : 1))
  // Members that only the service writes (the id, the time of the change) are never shown as removed.
  expect(byName(await shown('put', bodyOf(FULL), CURRENT, body))).toEqual(byName([...stays, ...going]))
  expect(byName(await shown('put', bodyOf(wrap(FULL)), { data: CURRENT }, { data: body }))).toEqual(byName([...stays, ...going]))
  const partial = await shown('put', bodyOf(TASK), CURRENT, body)
  expect(partial.filter(({ oldValue, newValue }) => oldValue !== undefined && newValue === undefined)).toEqual([])
  expect(partial.find(({ field }) => field === 'not sent')?.newValue).toBe('note (there now; the service decides what becomes of it)')
})

test('a file is shown by its name, its type and its size; in any other body an object with a member base64 is shown with all its members', async () => {
  const sent = { name: 'Land', paid: { base64: 'aGk=', amount: 5000, to: 'Eve' } }
  expect(await shown('patch', bodyOf({ type: 'object' }), { name: 'Ship', paid: { amount: 5 } }, sent)).toEqual([
    ...NAME,
    { field: 'paid.amount', oldValue: 5, newValue: 5000 },
    { field: 'paid.base64', newValue: 'aGk=' },
    { field: 'paid.to', newValue: 'Eve' },
  ])
  expect(await shown('post', bodyOf({ type: 'object' }), {}, sent, '/tasks')).toEqual([
    { field: 'name', newValue: 'Land' },
    { field: 'paid', newValue: sent.paid },
  ])
  const form = bodyOf({ type: 'object', properties: { photo: { type: 'string', format: 'binary' }, note: {} } }, 'multipart/form-data')
  const photo = { base64: 'aGk=', filename: 'me.svg', contentType: 'image/svg+xml' }
  const note = { base64: 'aGk=', amount: 5000 }
  for (const [given, words] of [
    [photo, 'me.svg (image/svg+xml, 2 bytes)'],
    [{ base64: 'aGk=' }, 'a file (2 bytes)'],
  ] as const) {
    expect(await shown('patch', form, { photo: '/me.png' }, { photo: given, note })).toEqual([
      { field: 'note', newValue: note },
      { field: 'photo', oldValue: '/me.png', newValue: words },
    ])
    expect(await shown('post', form, {}, { photo: given }, '/photos')).toEqual([{ field: 'photo', newValue: words }])
  }
})

test('a POST to one thing shows what it changes; one to a list shows what is new', async () => {
  const payment = { id: 'ch_1', object: 'charge', description: 'one', metadata: { order: '1' } }
  const form = bodyOf({ type: 'object', properties: { description: { type: 'string' } } }, 'application/x-www-form-urlencoded')
  expect(await shown('post', form, payment, { description: 'two' }, '/v1/charges/{id}')).toEqual([
    { field: 'description', oldValue: 'one', newValue: 'two' },
  ])
  expect(await shown('post', bodyOf(TASK), { data: [CURRENT] }, { name: 'Land' }, '/tasks/{id}/copies')).toEqual([
    { field: 'name', newValue: 'Land' },
  ])
})

test('what a query, headers and cookies say beside a body is on the card, by names that no member of a body has', async () => {
  await using service = await startService(({ method }) => ({ status: 200, body: method === 'GET' ? { email: 'bo@example.com' } : {} }))
  const parameters = [
    { name: 'role', in: 'query', schema: { type: 'string' } },
    { name: 'X-Act-As', in: 'header', schema: { type: 'string' } },
    { name: 'view', in: 'cookie', schema: { type: 'string' } },
    { name: 'unused', in: 'query', schema: { type: 'string' } },
  ]
  const one = { parameters, requestBody: bodyOf({ type: 'object', properties: { email: { type: 'string' } } }) }
  const { tool } = await openApi(
    {
      paths: {
        '/invites': { post: { operationId: 'invite', ...one }, put: { operationId: 'replace', ...one } },
        '/invites/{id}': {
          parameters: [ID],
          get: { operationId: 'get' },
          patch: { operationId: 'change', ...one },
          delete: { operationId: 'remove', parameters },
        },
      },
    },
    { baseUrl: service.url },
  )
  const beside = { role: 'owner', 'X-Act-As': 'root', view: 'all' }
  const body = { email: 'ana@example.com', 'role, query': 'none' }
  const rows = [
    { field: 'role, query', newValue: 'owner' },
    { field: 'X-Act-As, header', newValue: 'root' },
    { field: 'view, cookie', newValue: 'all' },
  ]
  const fields = async (name: string, args: JsonObject) => (await look(tool(name), args))?.fields
  const added = [
    { field: 'email', newValue: 'ana@example.com' },
    { field: '"role, query"', newValue: 'none' },
  ]
  expect(await fields('invite', { ...beside, body })).toEqual([...rows, ...added])
  expect(await fields('replace', { ...beside, body })).toEqual([...rows, ...added])
  expect(await fields('change', { id: '7', ...beside, body: { email: 'ana@example.com' } })).toEqual([
    ...rows,
    { field: 'email', oldValue: 'bo@example.com', newValue: 'ana@example.com' },
  ])
  expect(await fields('change', { id: '7', ...beside, body: { email: 'bo@example.com' } })).toEqual(expect.arrayContaining(rows))
  expect(await fields('remove', { id: '7', ...beside })).toEqual([{ field: 'email', oldValue: 'bo@example.com' }, ...rows])
})

test('of a large request all that changes is shown, and what stays makes room: in more than 40 rows', async () => {
  const few = Object.fromEntries(Array.from({ length: 40 }, (_, nth) => [`m${nth}`, 1]))
  expect(await shown('patch', bodyOf({ type: 'object' }), few, { ...few, m7: 2 })).toHaveLength(40)
  expect(await shown('patch', bodyOf({ type: 'object' }), { ...few, m40: 1 }, { ...few, m40: 1, m7: 2 })).toHaveLength(1)
  const names = Array.from({ length: 60 }, (_, nth) => `m${nth}`)
  const current = Object.fromEntries(names.map((name) => [name, 1]))
  const body = { ...current, m7: 2, m59: 2 }
  const rows = await shown('patch', bodyOf({ type: 'object' }), current, body)
  expect(rows.map(({ field }) => field)).toEqual(['m59', 'm7'])
  const all = await shown('patch', bodyOf({ type: 'object' }), current, Object.fromEntries(names.map((name) => [name, 2])))
  expect(all).toHaveLength(60)
  // A PUT may remove the members that it does not send, so their rows stay when the rows of unchanged values are left out.
  const schema = { type: 'object', properties: Object.fromEntries([...names, 'note'].map((name) => [name, {}])) }
  const there = { ...current, note: 'soon', tags: { a: 1, b: 2 } }
  const words = (left: string) => `${left} (there now; the service decides what becomes of it)`
  expect(await shown('put', bodyOf(schema), there, { ...body, tags: { a: 1 } })).toEqual([
    { field: 'm59', oldValue: 1, newValue: 2 },
    { field: 'm7', oldValue: 1, newValue: 2 },
    { field: 'tags, not sent', oldValue: words('b'), newValue: words('b') },
    { field: 'not sent', oldValue: words('note'), newValue: words('note') },
  ])
})

test('a deletion shows 40 values that go, and says how many more there are', async () => {
  await using service = await startService(() => ({ status: 200, body: Object.fromEntries(values) }))
  const deletion = { parameters: [ID], get: { operationId: 'get' }, delete: { operationId: 'remove' } }
  const { tool } = await openApi({ paths: { '/tasks/{id}': deletion } }, { baseUrl: service.url })
  const going = async () => (await look(tool('remove'), { id: '7' }))?.fields
  const values = Array.from({ length: 42 }, (_, nth) => [`m${10 + nth}`, nth])
  const first = values.slice(0, 40).map(([field, oldValue]) => ({ field, oldValue }))
  expect(await going()).toEqual([...first, { field: 'others, not shown', oldValue: '2 more values' }])
  values.pop()
  expect(await going()).toEqual([...first, { field: 'others, not shown', oldValue: '1 more value' }])
  values.pop()
  expect(await going()).toEqual(first)
})

test('HTML in the words of a document becomes text, and an operation without summary is called by its description', async () => {
  const description = '<p>Refunds a <b>charge</b>. It cannot be taken back.</p>\n<ul><li>Ask &amp; wait</li></ul>'
  const pathItem = {
    parameters: [ID],
    post: { operationId: 'refund', description },
    put: { operationId: 'put', summary: 'Keep <id> &lt; 5' },
  }
  const { tool } = await openApi({ paths: { '/refunds/{id}': pathItem } }, { baseUrl: 'http://127.0.0.1:9' })
  expect(tool('refund').describe({ id: '7' })).toBe('Refunds a charge: POST /refunds/7')
  expect(tool('refund').description).toBe('Refunds a charge. It cannot be taken back. Ask & wait. POST /refunds/{id}')
  expect(tool('put').describe({ id: '7' })).toBe('Keep <id> < 5: PUT /refunds/7')
})

test('a value in the path of a POST is on the card where the configuration gives a headline without it', async () => {
  const requestBody = bodyOf({ type: 'object', properties: { email: { type: 'string' } } })
  const described = { paths: { '/teams/{id}/invites': { parameters: [ID], post: { operationId: 'invite', requestBody } } } }
  const rows = async (describe?: string) => {
    const { tool } = await openApi(described, { baseUrl: 'http://127.0.0.1:9', ...(describe && { operations: { invite: { describe } } }) })
    return (await look(tool('invite'), { id: '7', body: { email: 'ana@example.com' } }))?.fields
  }
  const email = { field: 'email', newValue: 'ana@example.com' }
  expect(await rows('Invite {email}')).toEqual([{ field: 'id, path', newValue: '7' }, email])
  expect(await rows('Invite {email} to {id}')).toEqual([email])
  expect(await rows()).toEqual([email])
})

test('a cache on the way to the service does not answer what a decision depends on, whatever an argument says', async () => {
  // A cache that holds an old answer, and asks the service only where the request says so.
  await using service = await startService(({ method, headers }) => {
    const isFresh = headers['cache-control'] === 'no-cache'
    return { status: 200, body: method === 'GET' ? { status: isFresh ? 'cancelled' : 'pending' } : {} }
  })
  const parameters = [ID, { name: 'Cache-Control', in: 'header', schema: { type: 'string' } }]
  const requestBody = bodyOf({ type: 'object', properties: { status: { type: 'string' } } })
  const operation = (operationId: string) => ({ operationId, requestBody })
  const { tool } = await openApi(
    {
      paths: {
        '/orders/{id}': { parameters, get: { operationId: 'get' }, patch: operation('change') },
        '/orders/{id}/status': { parameters: [ID], post: operation('set') },
      },
    },
    {
      baseUrl: service.url,
      operations: {
        set: {
          before: { get: '/orders/{id}', compare: { status: '{body}' } },
          verify: { get: '/orders/{id}', done: { status: 'cancelled' } },
        },
      },
    },
  )
  const row = expect.objectContaining({ field: 'status', oldValue: 'cancelled' })
  const args = { id: '7', body: { status: 'shipped' } }
  expect((await look(tool('change'), { ...args, 'Cache-Control': 'max-age=600' }))?.fields).toContainEqual(row)
  expect((await look(tool('set'), args))?.fields).toContainEqual(row)
  const context = { actionId: 'act_1', idempotencyKey: 'act_1.1', signal: new AbortController().signal }
  expect(await tool('set').verify?.(args, context)).toMatchObject({ done: true })
})
