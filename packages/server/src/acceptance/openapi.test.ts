import { type Schema, Validator } from '@cfworker/json-schema'
import { expect, test } from 'vitest'
import { startTestServer } from '../testing/test-server.ts'

interface Operation {
  operationId?: string
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema }[]
  requestBody?: { content?: Record<string, { schema?: Schema }> }
  responses?: Record<string, { description?: string; content?: Record<string, { schema?: Schema }> }>
  security?: Record<string, string[]>[]
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

test('the OpenAPI document is a valid OpenAPI 3.1 document', async () => {
  await using server = await startTestServer({ config: {} })
  const document = await server.admin.get('/api/openapi.json')
  expect(document.openapi).toMatch(/^3\.1\.\d+$/)
  expect(document.info).toMatchObject({ title: expect.stringMatching(/\S/), version: expect.stringMatching(/\S/) })
  const allowed = ['openapi', 'info', 'jsonSchemaDialect', 'servers', 'paths', 'webhooks', 'components', 'security', 'tags', 'externalDocs']
  for (const key of Object.keys(document)) expect(allowed).toContain(key)

  const pointers = new Set<string>()
  collectReferences(document, pointers)
  expect(pointers.size).toBeGreaterThan(0)
  for (const pointer of pointers) expect(resolve(document, pointer), pointer).toBeDefined()
  for (const name of Object.keys(document.components.schemas)) expect(name).toMatch(/^[a-zA-Z0-9._-]+$/)
  const schemes = Object.keys(document.components.securitySchemes)
  for (const needed of document.security) for (const name of Object.keys(needed)) expect(schemes).toContain(name)

  const ids = new Set<string>()
  const shapes = new Set<string>()
  let schemas = 0
  for (const [path, operations] of Object.entries(document.paths as Record<string, Record<string, Operation>>)) {
    expect(path).toMatch(/^\//)
    const shape = path.replaceAll(/\{[^}]+\}/g, '{}')
    expect(shapes.has(shape), `two paths of the shape ${shape}`).toBe(false)
    shapes.add(shape)
    const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name)
    for (const [method, operation] of Object.entries(operations)) {
      const where = `${method} ${path}`
      expect(METHODS, where).toContain(method)
      if (operation.operationId !== undefined) {
        expect(ids.has(operation.operationId), where).toBe(false)
        ids.add(operation.operationId)
      }
      const parameters = operation.parameters ?? []
      expect(new Set(parameters.map((one) => `${one.in} ${one.name}`)).size, where).toBe(parameters.length)
      for (const { name, in: place, required, schema } of parameters) {
        expect(['query', 'header', 'path', 'cookie'], where).toContain(place)
        expect(schema, `${where} ${name}`).toBeDefined()
        if (place === 'path') expect(required, `${where} ${name}`).toBe(true)
      }
      expect(
        parameters.filter((one) => one.in === 'path').map((one) => one.name),
        where,
      ).toEqual(inPath)
      const responses = Object.entries(operation.responses ?? {})
      expect(
        responses.some(([status]) => /^2\d\d$/.test(status)),
        `${where} has a success`,
      ).toBe(true)
      for (const [status, response] of responses) {
        expect(status, where).toMatch(/^([1-5](\d\d|XX)|default)$/)
        expect(response.description, `${where} ${status}`).toMatch(/\S/)
        expect(Object.keys(response.content ?? {}), `${where} ${status} says of what type it is`).not.toEqual([])
      }
      const media = [operation.requestBody?.content, ...responses.map(([, response]) => response.content)].flatMap((content) =>
        Object.values(content ?? {}),
      )
      for (const { schema } of media) {
        expect(schema, where).toBeDefined()
        // Throws for what is no schema of the dialect that OpenAPI 3.1 is based on.
        new Validator(structuredClone({ ...schema, components: document.components }), '2020-12').validate({})
        schemas++
      }
    }
  }
  expect(schemas).toBeGreaterThan(40)
})

function collectReferences(value: unknown, found: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, child] of Object.entries(value)) {
    if (key === '$ref' && typeof child === 'string') found.add(child)
    else collectReferences(child, found)
  }
}

function resolve(document: unknown, pointer: string): unknown {
  expect(pointer).toMatch(/^#\//)
  return pointer
    .slice(2)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, key) => (typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined), document)
}

test('the document has every route of the contract that this version serves', async () => {
  await using server = await startTestServer({ config: {} })
  const { paths } = await server.admin.get('/api/openapi.json')
  const operations = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(operations).toEqual(
    expect.arrayContaining([
      ...['POST /api/sessions', 'GET /api/sessions', 'GET /api/sessions/{id}', 'GET /api/sessions/{id}/messages'],
      ...['POST /api/sessions/{id}/messages', 'GET /api/sessions/{id}/events', 'POST /api/sessions/{id}/approve'],
      ...['POST /api/sessions/{id}/cancel', 'POST /api/chat', 'POST /api/chat/approve', 'GET /api/actions', 'GET /api/actions/{id}'],
      ...['POST /api/actions', 'POST /api/actions/{id}/decision', 'POST /api/actions/{id}/retry', 'GET /api/events', 'GET /api/tools'],
      ...['POST /api/actions/{id}/resolve', 'POST /api/actions/{id}/verify'],
      ...['POST /api/actions/{id}/claim', 'POST /api/actions/{id}/result', 'POST /api/agent-requests'],
      ...['POST /api/agent-requests/{id}/execute', 'POST /api/approve-tool/{id}'],
      ...['GET /api/agents', 'POST /api/keys', 'GET /healthz', 'GET /readyz', 'GET /metrics'],
    ]),
  )
})

test('/healthz and /readyz answer without a key; a server that was stopped takes no more requests', async () => {
  const server = await startTestServer({ config: {} })
  const { url } = server
  const nobody = server.with({})
  for (const path of ['/healthz', '/readyz']) expect(await nobody.get(path)).toEqual({ status: 'ok' })
  const page = await fetch(`${url}/api/docs/`)
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toContain('text/html')
  using stream = await server.admin.stream('/api/events')
  await server[Symbol.asyncDispose]()
  await stream.ended()
  await expect(fetch(`${url}/healthz`)).rejects.toThrow()
})

test('every answer forbids sniffing, framing and passing on the address', async () => {
  await using server = await startTestServer({ config: {} })
  for (const path of ['/healthz', '/api/me', '/api/sessions', '/api/nothing', '/api/openapi.json', '/api/docs/']) {
    const { headers } = await fetch(server.url + path)
    expect(headers.get('x-content-type-options'), path).toBe('nosniff')
    expect(headers.get('referrer-policy'), path).toBe('no-referrer')
    expect(headers.get('x-frame-options'), path).toBe('DENY')
  }
})
