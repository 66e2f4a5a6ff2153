import type { JsonObject } from '@countersign/core'
import { expect, test } from 'vitest'
import { call, type Description, openApi, refusal, startService } from '../../../verification/testing/described-api.ts'
import { freePort } from '../../../verification/testing/free-port.ts'
import { openConfig } from '../../server/src/config/index.ts'

const read = (more: JsonObject = {}): JsonObject => ({ get: { operationId: 'read', ...more } })
const server = (url: string, variables: JsonObject = {}): JsonObject => ({ servers: [{ url, variables }] })
const problems = async (work: Promise<unknown>): Promise<string> => String(await work.catch((error: unknown) => error))

test('calls go to the first server of the operation, else of its path, else of the document, with the defaults of its variables', async () => {
  await using service = await startService()
  const { host } = new URL(service.url)
  const filled = server('http://{host}/{stage}/', { host: { default: host }, stage: { default: 'v1', enum: ['v1', 'v2'] } })
  const api = await openApi({
    ...filled,
    paths: {
      '/a': { get: { operationId: 'a' } },
      '/b': { ...server(`${service.url}/path`), get: { operationId: 'b' }, put: { operationId: 'c', ...server(`${service.url}/own`) } },
      '/d': { servers: [], get: { operationId: 'd', servers: [] } },
    },
  })
  expect(api.names.map((name) => (api.tool(name).definition as JsonObject).base)).toEqual(
    ['/v1', '/path', '/own', '/v1'].map((path) => service.url + path),
  )
  // A private address that only the document names is not called.
  const error = await refusal(call(api.tool('a')))
  expect(error).toMatchObject({ kind: 'refused', message: expect.stringMatching(/is not a public address.*Nothing was sent\.$/) })
  expect(service.seen).toEqual([])
  const own = await openApi({ ...filled, paths: { '/a': read() } }, { baseUrl: `${service.url}/mine/` })
  await call(own.tool('read'))
  expect(service.seen.map(({ path }) => path)).toEqual(['/mine/a'])
})

test('a document that does not say where calls go is refused with what to write', async () => {
  const cases: [more: JsonObject, words: string][] = [
    [{}, 'has no server in its document: say where calls go with baseUrl'],
    [server('/v1'), 'has the server /v1, which is no whole address: say where calls go with baseUrl'],
    [server('https://{region}.example.com'), 'whose variable {region} has no default: say where calls go with baseUrl'],
    [server('ftp://example.com'), 'has the server ftp://example.com, which is not an http:// or https:// address'],
    [server('https://ada:pw@example.com'), 'which holds a name or password: it is shown'],
    [server('https://example.com/?key=1'), 'which does not end with a host or a path'],
  ]
  for (const [more, words] of cases) {
    const error = await problems(openApi({ ...more, paths: { '/a': read() } }))
    expect(error).toContain('tools.api.openapi.document: has no operation that can be called: GET /a ')
    expect(error).toContain(words)
  }
  // If one of several operations is broken, the others still work.
  const api = await openApi({ ...server('https://example.com'), paths: { '/a': read(), '/b': { get: server('/v1') } } })
  expect(api.names).toEqual(['read'])
  expect(await api.warnings()).toMatchObject([{ operation: 'GET /b', reason: expect.stringContaining('no whole address') }])
})

test('a document from the network is called at its own origin only, unless the configuration says where', async () => {
  await using other = await startService()
  let description: Description = { paths: {} }
  await using home = await startService(({ path }) => ({ status: 200, body: path === '/doc.json' ? description : {} }))
  const open = (more: JsonObject, section: JsonObject = {}) => {
    description = { openapi: '3.1.0', info: {}, ...more, paths: { '/a': read() } }
    const openapi = { document: `${home.url}/doc.json`, ...section }
    return openConfig({ tools: { api: { openapi } } }, { environment: {}, folder: '/' })
  }
  expect(await problems(open(server(other.url)))).toContain(
    `is called at ${other.url}, which is not where its document is from: write baseUrl if that is right`,
  )
  for (const [more, section] of [
    [server('/v1'), {}],
    [server(other.url), { baseUrl: `${other.url}/chosen` }],
  ] as const) {
    const tool = (await open(more, section)).tools.byName('api.read')
    if (tool) await call(tool)
  }
  expect(home.seen.map(({ path }) => path).filter((path) => path !== '/doc.json')).toEqual(['/v1/a'])
  expect(other.seen.map(({ path }) => path)).toEqual(['/chosen/a'])
})

const PETS: Description = {
  ...server('https://example.com'),
  paths: {
    '/pets': { get: { operationId: 'pets/list', tags: ['pets'] }, post: { operationId: 'pets/create', tags: ['pets', 'writes'] } },
    '/pets/{id}': { get: { tags: ['pets'] }, delete: { operationId: 'pets/delete', tags: ['admin'] } },
    '/health': { get: { operationId: 'health' } },
  },
}

test('include and exclude choose by operationId, tool name, method with path, and tag', async () => {
  const all = ['pets.list', 'pets.create', 'get_pets_id', 'pets.delete', 'health']
  const cases: [section: { include?: string[]; exclude?: string[] }, names: string[]][] = [
    [{}, all],
    [{ include: ['pets/*'] }, ['pets.list', 'pets.create', 'pets.delete']],
    [{ include: ['pets.list', 'health'] }, ['pets.list', 'health']],
    [{ include: ['GET /pets/{id}'] }, ['get_pets_id']],
    [{ include: ['GET *'] }, ['pets.list', 'get_pets_id', 'health']],
    [{ include: ['tag:pets'], exclude: ['tag:writes'] }, ['pets.list', 'get_pets_id']],
    [{ exclude: ['DELETE *', 'tag:p*'] }, ['health']],
    [{ include: ['*'], exclude: ['get_*'] }, ['pets.list', 'pets.create', 'pets.delete', 'health']],
  ]
  for (const [section, names] of cases) expect((await openApi(PETS, section)).names, JSON.stringify(section)).toEqual(names)
})

test('a glob that fits nothing is refused with its place: a misspelt one takes no tool away and lets none in', async () => {
  const section = { include: ['pets/*', 'petz/*'], exclude: ['tag:Admin'], operations: { 'PUT /pets': { effect: 'read' as const } } }
  const error = await problems(openApi(PETS, section))
  expect(error).toContain('tools.api.openapi.include.1: "petz/*" fits no operation')
  expect(error).toContain('tools.api.openapi.exclude.0: "tag:Admin" fits no operation; the tags are pets, writes')
  expect(error).toContain('"PUT /pets" fits no operation')
})

test('the doctor is told what was found, what was left out and why, and whether the service answers; it only reads', async () => {
  await using service = await startService(({ path }) => ({ status: path === '/broken' ? 500 : 200 }))
  const needsArgument = { '/a/{id}': { get: { operationId: 'one' }, delete: { operationId: 'gone' } } }
  const broken = Object.fromEntries(
    Array.from({ length: 7 }, (_, n) => [`/odd${n}`, { get: { parameters: [{ name: 'x', in: 'nowhere' }] } }]),
  )
  const check = async (paths: JsonObject, section: JsonObject = {}) =>
    (await openApi({ paths }, { baseUrl: service.url, ...section })).check()
  expect(await check({ ...needsArgument, ...broken, '/b': { post: {}, get: { operationId: 'b', tags: ['x'] } } })).toEqual([
    { level: 'ok', message: '4 operations found' },
    ...Array.from({ length: 5 }, (_, n) => ({
      level: 'note',
      message: `left out: GET /odd${n} has the parameter x in "nowhere", which is none of path, query, header and cookie`,
    })),
    { level: 'note', message: 'left out: 2 more' },
    { level: 'ok', message: 'GET /b answered (200)' },
  ])
  expect(service.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /b'])
  const notCalled = { level: 'note', message: `every read needs arguments; HEAD ${service.url} answered (200)` }
  expect(await check(needsArgument)).toContainEqual(notCalled)
  // A GET that is configured as a write is not a read, and a read that needs a body cannot be tried.
  expect(await check({ '/b': read() }, { operations: { read: { effect: 'write' } } })).toContainEqual(notCalled)
  const body = { requestBody: { required: true, content: { 'application/json': {} } } }
  expect(await check({ '/b': read(body) })).toContainEqual(notCalled)
  // Whether it answers at all: no operation is called, and nothing of the configuration is told.
  expect(service.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /b', 'HEAD /', 'HEAD /', 'HEAD /'])
  const failing = await check(needsArgument, { baseUrl: `${service.url}/broken` })
  expect(failing).toContainEqual({ level: 'problem', message: `${service.url} failed (500)` })
  // Not the port of a service that was closed: another test may listen there by now.
  const gone = `http://127.0.0.1:${await freePort()}`
  expect(await check(needsArgument, { baseUrl: gone })).toContainEqual({
    level: 'problem',
    message: `${gone} could not be reached (ECONNREFUSED). Nothing was sent.`,
  })
  expect(await check({ '/broken': read() })).toContainEqual({ level: 'problem', message: `${service.url} failed (500).` })
})
