import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { counterpart } from '../testing/counterparts.ts'
import { checkerAt } from '../testing/openapi.ts'
import { startTestServer } from '../testing/test-server.ts'

interface Operation {
  operationId: string
  parameters?: { $ref?: string }[]
  responses: Record<string, { $ref?: string; headers?: object; content?: Record<string, unknown> }>
  security?: Record<string, string[]>[]
}

interface LintProblem {
  ruleId: string
  message: string
  location: { pointer?: string }[]
}

/** Returns the findings of Redocly's linter with its recommended rules. */
async function lint(document: unknown): Promise<string[]> {
  const { lintFromString, createConfig } = await import(pathToFileURL(counterpart('@redocly/openapi-core/lib/index.js')).href)
  const config = await createConfig({ extends: ['recommended'] })
  const problems: LintProblem[] = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config })
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer})`)
}

const operationsOf = ({ paths }: { paths: Record<string, Record<string, Operation>> }): [string, Operation][] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [`${method.toUpperCase()} ${path}`, operation]),
  )

test('the OpenAPI document passes the recommended rules of a public linter, which does find what is wrong in it', async () => {
  await using server = await startTestServer({ config: {} })
  const document = await server.admin.get('/api/openapi.json')
  expect(document.openapi).toMatch(/^3\.1\.\d+$/)
  expect(await lint(document)).toEqual([])
  delete document.paths['/api/actions'].get.summary
  document.components.schemas.Action.properties.state.$ref = '#/components/schemas/Nothing'
  expect((await lint(document)).map((problem) => problem.split(':')[0]).sort()).toEqual(['no-unresolved-refs', 'operation-summary'])
})

test('every POST takes Idempotency-Key but signing in and out, MCP and hooks; streams take Last-Event-ID, and saving the policy If-Match', async () => {
  await using server = await startTestServer({ config: {} })
  const operations = operationsOf(await server.admin.get('/api/openapi.json'))
  const taking = (name: string) =>
    operations.flatMap(([route, { parameters = [] }]) => (parameters.some(({ $ref }) => $ref?.endsWith(`/${name}`)) ? [route] : []))
  const posts = operations.flatMap(([route]) => (route.startsWith('POST ') ? [route] : []))
  expect(posts.filter((route) => !taking('Idempotency-Key').includes(route)).sort()).toEqual([
    'POST /access/v1/evaluation',
    'POST /access/v1/evaluations',
    'POST /api/sign-in',
    'POST /api/sign-in/oidc',
    'POST /api/sign-in/oidc/finish',
    'POST /api/sign-out',
    'POST /hooks/{host}',
    'POST /mcp',
  ])
  expect(taking('Last-Event-ID').sort()).toEqual(['GET /api/events', 'GET /api/sessions/{id}/events'])
  expect(taking('If-Match')).toEqual(['PUT /api/policy'])
})

test('the document names who may ask without a key, the kinds of content, and each error by its status and codes', async () => {
  await using server = await startTestServer({ config: {} })
  const document = await server.admin.get('/api/openapi.json')
  const operations = operationsOf(document)
  expect(operations.flatMap(([route, { security }]) => (security?.length === 0 ? [route] : [])).sort()).toEqual([
    'GET /.well-known/authzen-configuration',
    'GET /api/me',
    'GET /healthz',
    'GET /readyz',
    'POST /api/sign-in',
    'POST /api/sign-in/oidc',
    'POST /api/sign-in/oidc/finish',
    'POST /api/sign-out',
  ])
  const media = operations.flatMap(([, { responses }]) => Object.values(responses).flatMap(({ content = {} }) => Object.keys(content)))
  expect([...new Set(media)].sort()).toEqual([
    'application/json',
    'application/problem+json',
    'application/x-ndjson',
    'application/yaml',
    'text/csv',
    'text/event-stream',
    'text/plain',
  ])
  for (const [route, { responses }] of operations) {
    for (const [status, answer] of Object.entries(responses)) {
      const { content, headers } = document.components.responses[answer.$ref?.split('/').at(-1) ?? ''] ?? answer
      if (Number(status) < 400 || (route.endsWith(' /mcp') && content['application/problem+json'] === undefined)) continue
      const [, { properties }] = content['application/problem+json'].schema.allOf
      expect(properties.code.enum, `${route} ${status}`).not.toEqual([])
      if (status === '429') expect(headers, route).toHaveProperty('Retry-After')
    }
  }
  const { responses } = document.paths['/api/actions/{id}/decision'].post
  expect(responses[409].$ref).toMatch(/AlreadyDecided/)
})

test('the servers of the document are the public address, or where the document came from', async () => {
  await using here = await startTestServer({ config: {} })
  expect((await here.admin.get('/api/openapi.json')).servers).toEqual([{ url: '/' }])
  await using there = await startTestServer({ config: {}, environment: { COUNTERSIGN_PUBLIC_URL: 'https://sign.example.com' } })
  expect((await there.admin.get('/api/openapi.json')).servers).toEqual([{ url: 'https://sign.example.com' }])
})

test('what tests hold answers and events against says what is wrong with them', async () => {
  await using server = await startTestServer({ config: {} })
  const checker = await checkerAt(server.url)
  const answer = { method: 'GET', path: '/healthz', status: 200, contentType: 'application/json', body: { status: 'ok' } as unknown }
  expect(checker.problems(answer)).toEqual([])
  for (const wrong of [{ body: { status: 'well' } }, { status: 418 }, { contentType: 'text/html' }, { path: '/api/none' }]) {
    expect(checker.problems({ ...answer, ...wrong }), JSON.stringify(wrong)).not.toEqual([])
  }
  const problem = { type: 'x', title: 'x', status: 404, code: 'not_found', detail: 'x' }
  const refused = { method: 'GET', path: '/api/sessions/x', status: 404, contentType: 'application/problem+json', body: problem }
  expect(checker.problems(refused)).toEqual([])
  expect(checker.problems({ ...refused, body: { ...problem, code: 'gone' } })).not.toEqual([])
  const event = { id: 1, event: 'approval_overdue', data: { actionId: 'act_1', waitedMs: 5 } as unknown }
  expect(checker.problemsOfEvent('GET', '/api/events', event)).toEqual([])
  for (const wrong of [{ event: 'nothing' }, { event: 'delta' }, { data: {} }]) {
    expect(checker.problemsOfEvent('GET', '/api/events', { ...event, ...wrong }), JSON.stringify(wrong)).not.toEqual([])
  }
})

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
      ...['POST /api/actions/{id}/resolve', 'POST /api/actions/{id}/verify', 'POST /api/actions/{id}/withdraw'],
      ...['POST /api/actions/{id}/undo', 'POST /api/actions/{id}/extend'],
      ...['POST /api/actions/decisions', 'POST /api/actions/{id}/preview', 'POST /api/actions/{id}/claim', 'POST /api/actions/{id}/result'],
      ...['POST /api/agent-requests', 'GET /api/agent-requests/{id}'],
      ...['POST /api/agent-requests/{id}/execute', 'POST /api/approve-tool/{id}'],
      ...['GET /api/agents', 'POST /api/keys', 'GET /healthz', 'GET /readyz', 'GET /metrics', 'POST /mcp'],
      ...['GET /api/policy', 'PUT /api/policy', 'POST /api/policy/test', 'GET /api/grants', 'POST /api/grants', 'DELETE /api/grants/{id}'],
      ...['GET /api/audit', 'GET /api/audit/export', 'GET /api/stats', 'GET /api/people', 'PATCH /api/people/{id}'],
      ...['POST /api/people/{id}/disable'],
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
