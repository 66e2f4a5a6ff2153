import { expect, test } from 'vitest'
import { createClient } from '../client.ts'
import { json, problem, type Route, sampleAction, serve } from '../testing/log-server.ts'
import { answerApprovals, gate as gateAiSdk } from './ai-sdk.ts'
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
