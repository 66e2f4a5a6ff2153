import { expect, test } from 'vitest'
import { createClient } from '../client.ts'
import { json, problem, type Route, sampleAction, serve } from '../testing/log-server.ts'
import { answerApprovals, gate as gateAiSdk } from './ai-sdk.ts'
import { gate as gateClaude } from './claude-agent-sdk.ts'
import { gate } from './gate.ts'

test('a call goes on waiting through the 404 of a proxy, while the server behind it is replaced', async () => {
  const pageNotFound: Route = (_, response) => void response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found')
  const waiting = sampleAction({ executor: 'client' })
  const outcome = { status: 'declined', text: 'A person declined this.' } as const
  const polls: Route[] = [pageNotFound, (_, response) => json(response, { ...waiting, state: 'declined', outcome })]
  await using server = await serve({
    'POST /api/actions': (_, response) => json(response, waiting, 201),
    'GET /api/actions/act_1': (request, response, body) => polls.shift()?.(request, response, body),
  })
  const { ship } = gate(createClient({ baseUrl: server.baseUrl, key: 'cs_1' }), { ship: () => 'shipped' })
  expect(await ship({}, { toolCallId: 'call_1' })).toMatchObject(outcome)
  expect(polls).toEqual([])
})

test('a call whose action the server does not know any more ends with that', async () => {
  await using server = await serve({
    'POST /api/actions': (_, response) => json(response, sampleAction({ executor: 'client' }), 201),
    'GET /api/actions/act_1': (_, response) => problem(response, 404, 'not_found', 'There is no such action.'),
  })
  const { ship } = gate(createClient({ baseUrl: server.baseUrl, key: 'cs_1' }), { ship: () => 'shipped' })
  await expect(ship({}, { toolCallId: 'call_1' })).rejects.toMatchObject({ code: 'not_found' })
})

test('calls with an empty tool call id are each a call of its own, and none can be answered later', async () => {
  const declined = sampleAction({ executor: 'client', state: 'declined', outcome: { status: 'declined', text: 'No.' } })
  await using server = await serve({ 'POST /api/actions': (_, response) => json(response, declined, 201) })
  const client = createClient({ baseUrl: server.baseUrl, key: 'cs_1' })
  const { ship } = gate(client, { ship: () => 'shipped' }, { run: 'run_1' })
  for (let calls = 0; calls < 2; calls++) await ship({}, { toolCallId: '' })
  expect(new Set(server.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(2)

  const tools = gateAiSdk(client, { ship: { execute: () => 'shipped' } })
  const asked = [
    { type: 'tool-call', toolCallId: '', toolName: 'ship', input: {} },
    { type: 'tool-approval-request', approvalId: 'a', toolCallId: '' },
  ]
  await expect(answerApprovals(tools, [{ role: 'assistant', content: asked }])).rejects.toThrow('without a tool call id')
  expect(server.requests).toHaveLength(2)
})

const ship = async (_input: unknown, _call: unknown) => 'shipped'

test('the schema of a library that gives no JSON Schema is refused before anything is registered or asked', async () => {
  await using server = await serve({})
  const client = createClient({ baseUrl: server.baseUrl, key: 'cs_1' })
  // As Zod 4.1 and Valibot have it: as JSON Schema, their own members would say "an object of anything".
  const schema = (vendor: string) => ({ type: 'object', entries: {}, '~standard': { version: 1, vendor, validate: () => ({}) } })
  for (const inputSchema of [schema('zod'), schema('valibot')]) {
    const tools = gateAiSdk(client, { ship: { inputSchema, execute: ship } }, { register: true })
    await expect(tools.ship.execute({}, { toolCallId: 'call_1' })).rejects.toThrow(
      /^ship has no schema that can be sent to the server: .*Zod 4\.2/,
    )
  }
  expect(server.requests).toEqual([])
})

test('a schema that is a function, as those of ArkType, is registered as the JSON Schema that it gives', async () => {
  const input = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] }
  const inputSchema = Object.assign(() => undefined, {
    '~standard': { version: 1, vendor: 'arktype', jsonSchema: { input: () => ({ $schema: 'https://json-schema.org/…', ...input }) } },
  })
  const declined = sampleAction({ executor: 'client', state: 'declined', outcome: { status: 'declined', text: 'No.' } })
  await using server = await serve({
    'POST /api/tools': (_, response) => json(response, {}, 201),
    'POST /api/actions': (_, response) => json(response, declined, 201),
  })
  const client = createClient({ baseUrl: server.baseUrl, key: 'cs_1' })
  const tools = gateAiSdk(client, { ship: { inputSchema, execute: ship } }, { register: true })
  await tools.ship.execute({ order: 'ORD-1' }, { toolCallId: 'call_1' }).catch(() => undefined)
  expect(server.requests.map(({ url, body }) => [url, JSON.parse(body).input])[0]).toEqual(['/api/tools', input])
})

test('a permission request of the Claude Agent SDK that may wait for a month is not denied at once', async () => {
  const answer = { hookSpecificOutput: { permissionDecision: 'allow' } }
  await using server = await serve({ 'POST /hooks/claude': (_, response) => setTimeout(() => json(response, answer), 100) })
  const client = createClient({ baseUrl: server.baseUrl, key: 'cs_1' })
  const { canUseTool } = gateClaude(client, { limitSeconds: 30 * 86_400 })
  const call = { signal: new AbortController().signal, toolUseID: 'call_1' }
  expect(await canUseTool('Bash', { command: 'ls' }, call)).toEqual({ behavior: 'allow', updatedInput: { command: 'ls' } })
})
