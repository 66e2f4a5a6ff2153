import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DrawnSchema, valuesOf } from '../testing/drawn-values.ts'
import { checkerAt } from '../testing/openapi.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

/** Number of requests for each operation. */
const REQUESTS = 30

interface Parameter {
  $ref?: string
  in: string
  name: string
  required?: boolean
  schema: DrawnSchema
}

interface Operation {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: DrawnSchema }> }
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, DrawnSchema>; parameters: Record<string, Parameter> }
}

interface Drawn {
  who: string
  path: Record<string, string>
  query: Record<string, unknown>
  headers: Record<string, unknown>
  body: string | undefined
}

/** Creates objects and returns their ids by collection. The callers are not among these people. */
async function seed(server: TestServer): Promise<Record<string, string[]>> {
  const { admin } = server
  const session = await admin.post('/api/sessions', {})
  await admin.post(`/api/sessions/${session.id}/messages`, { content: 'do it' })
  const propose = (what: string) => admin.post('/api/actions', { tool: 'keyed', arguments: { what } })
  const waiting = await propose('one')
  const done = await propose('two')
  await admin.post(`/api/actions/${done.id}/decision`, { verdict: 'approve' })
  const request = await admin.post('/api/agent-requests', { message: 'do it' })
  const key = await server.makeKey({ name: 'Eve', kind: 'person', roles: ['approver'] })
  await server.settle()
  return {
    sessions: [session.id],
    actions: [waiting.id, done.id],
    'approve-tool': [waiting.id],
    'agent-requests': [request.requestId],
    keys: [key.id],
    people: [key.principal.id],
    versions: ['1', '2', '0', '99999999999999999999'],
  }
}

/** Returns arbitrary requests for an operation; most of them fit its schemas. */
function requestsOf(
  method: string,
  operation: Operation,
  path: string,
  document: Document,
  ids: Record<string, string[]>,
): fc.Arbitrary<Drawn> {
  const resolve = (ref: string): DrawnSchema => document.components.schemas[ref.split('/').at(-1) ?? ''] ?? {}
  const parameters = (operation.parameters ?? []).map((one) =>
    one.$ref ? document.components.parameters[one.$ref.split('/').at(-1) ?? ''] : one,
  )
  const odd = fc.string({ minLength: 1, maxLength: 20, unit: 'binary' }).filter((text) => !/^\.+$/.test(text))
  const collection = path.split('/').findLast((_, at, parts) => parts[at + 1]?.startsWith('{')) ?? ''
  const idOf = (name: string) => {
    const known = name === 'person' ? ids.people : ids[collection]
    return known ? fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: odd }) : odd
  }
  const drawnFor = ({ name, schema }: Parameter): fc.Arbitrary<unknown> =>
    // Leaves out waits of up to a minute.
    name === 'wait'
      ? fc.constantFrom('0', '0.01', '61', '-1', 'x')
      : fc.oneof({ weight: 3, arbitrary: valuesOf(schema, resolve) }, { weight: 1, arbitrary: odd })
  const within = (place: string, value: (parameter: Parameter) => fc.Arbitrary<unknown>, requiredKeys?: string[]) => {
    const found = parameters.flatMap((one) => (one?.in === place ? [one] : []))
    const model = Object.fromEntries(found.map((one) => [one.name, value(one)]))
    return fc.record(model, { requiredKeys: requiredKeys ?? Object.keys(model) })
  }
  const schema = operation.requestBody?.content['application/json']?.schema
  const body = schema
    ? fc.oneof(
        { weight: 5, arbitrary: valuesOf(schema, resolve).map((value) => JSON.stringify(value)) },
        { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
        { weight: 1, arbitrary: fc.constantFrom('{', '{"a":1,"a":1}', '[]', 'null', '"\ud800"', '') },
      )
    : method === 'get'
      ? fc.constant(undefined)
      : fc.constantFrom(undefined, undefined, '{}', '[')
  return fc.record({
    who: fc.oneof(
      { weight: 5, arbitrary: fc.constant('admin') },
      { weight: 2, arbitrary: fc.constantFrom('approver', 'viewer', 'agent', 'nobody') },
    ),
    path: within('path', ({ name }) => idOf(name)) as fc.Arbitrary<Record<string, string>>,
    query: within('query', drawnFor, []),
    headers: within('header', drawnFor, []),
    body,
  })
}

test('goal 29: of every operation, whatever is sent, no answer is 5xx and none differs from the document', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 4 } }))
  await using server = await startTestServer({
    config: {
      agents: { desk: { model: 'scripted/talk.json', tools: ['keyed'] } },
      tools: { ...toolsOf(target), goals: { objectives: {} } },
      policy: { rules: [{ name: 'reads run', match: { effect: 'read' }, verdict: 'allow' }] },
    },
    scripts: { talk: [{ text: 'Hi' }] },
  })
  const ids = await seed(server)
  const made = async (name: string, kind: 'person' | 'agent', roles: string[]) => (await server.makeKey({ name, kind, roles })).key
  const keys: Record<string, string> = {
    admin: await made('Ada', 'person', ['admin']),
    approver: await made('Ben', 'person', ['approver']),
    viewer: await made('Vic', 'person', ['viewer']),
    agent: await made('desk bot', 'agent', ['agent']),
  }
  const checker = await checkerAt(server.url)
  const document: Document = await server.admin.get('/api/openapi.json')
  const surprises = new Set<string>()
  let asked = 0

  async function send(method: string, template: string, { who, path, query, headers, body }: Drawn): Promise<void> {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
    const url = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name]?.toWellFormed() ?? ''))
    const own = Object.entries(headers).flatMap(([name, value]) => (/^[\x20-\x7e]*$/.test(String(value)) ? [[name, String(value)]] : []))
    const hangUp = new AbortController()
    const response = await fetch(`${server.url}${url}${search.size > 0 ? `?${search}` : ''}`, {
      method,
      redirect: 'manual',
      signal: hangUp.signal,
      headers: {
        ...Object.fromEntries(own),
        ...(keys[who] !== undefined && { authorization: `Bearer ${keys[who]}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
    })
    asked++
    const contentType = response.headers.get('content-type') ?? ''
    let parsed: unknown
    if (contentType.startsWith('text/event-stream')) hangUp.abort()
    else {
      const text = await response.text()
      if (/[/+]json\b/.test(contentType)) parsed = JSON.parse(text)
    }
    const said = checker.problems({ method, path: url, status: response.status, contentType, body: parsed })
    // This route may answer 503: on a busy machine the database may need longer than the two seconds it gets.
    const isHonest = template === '/readyz' && response.status === 503
    if (response.status >= 500 && !isHonest) said.push(`${method} ${template} → ${response.status} ${JSON.stringify(parsed)}`)
    for (const problem of said) surprises.add(`${method} ${template}: ${problem} | ${JSON.stringify({ who, path, query, headers, body })}`)
  }

  for (const [template, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const requests = requestsOf(method, operation, template, document, ids)
      await fc.assert(
        fc.asyncProperty(requests, (request) => send(method.toUpperCase(), template, request)),
        { numRuns: REQUESTS, seed: 4319 },
      )
    }
  }
  expect([...surprises]).toEqual([])
  expect(asked).toBeGreaterThan(2_000)
  expect(server.errors.filter((line) => line.includes('http.failed'))).toEqual([])
})
