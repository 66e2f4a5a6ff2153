import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Action, type JsonObject, ToolError } from '@countersign/core'
import { expect, test } from 'vitest'
import { defineTool } from '../../packages/toolkit/src/define.ts'
import { objectivesStarter } from '../../packages/tools-objectives/src/starter.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

const startDesk = (): Promise<TestServer> =>
  startTestServer({ config: { tools: { goals: { objectives: {} } }, policy: { rules: objectivesStarter('goals') } } })

const propose = (server: TestServer, tool: string, args: object): Promise<Action> =>
  server.admin.post('/api/actions', { tool, arguments: args })

async function approve(server: TestServer, { id, revision, digest }: Action): Promise<Action> {
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
  await server.settle()
  return server.admin.get(`/api/actions/${id}`)
}

/** Creates an objective with one key result at 31 %. */
async function setUp(server: TestServer, title = 'Activation'): Promise<{ objective: string; keyResult: string }> {
  const keyResults = [{ title, unit: '%', start: 0, target: 50, current: 31 }]
  const args = { title: 'Grow', owner: 'Ana', period: '2026', keyResults }
  const { result } = await approve(server, await propose(server, 'goals.createObjective', args))
  const { id, keyResults: made } = (result as { objective: { id: string; keyResults: { id: string }[] } }).objective
  return { objective: id, keyResult: made[0]?.id ?? '' }
}

test('a card of objectives is headed by titles and values, never by an id', async () => {
  await using server = await startDesk()
  const { objective, keyResult } = await setUp(server)
  const heading = async (tool: string, args: object) => (await propose(server, `goals.${tool}`, args)).description
  expect(await heading('recordProgress', { keyResult, current: 40 })).toBe('Raise “Activation” from 31 to 40 %')
  expect(await heading('recordProgress', { keyResult, current: 12.5, note: 'a bad week' })).toBe(
    'Lower “Activation” from 31 to 12.5 %: a bad week',
  )
  expect(await heading('recordProgress', { keyResult, current: 31 })).toBe('Record 31 % for “Activation”, where it stands')
  expect(await heading('updateKeyResult', { keyResult, target: 60, title: 'All' })).toBe(
    'Change target, title of the key result “Activation”',
  )
  expect(await heading('removeKeyResult', { keyResult })).toBe('Take the key result “Activation” out of its objective')
  expect(await heading('addKeyResult', { objective, title: 'Users', start: 0, target: 9 })).toBe(
    'Add the key result "Users" (0 → 9) to the objective “Grow”',
  )
  expect(await heading('updateObjective', { objective, owner: 'Bo' })).toBe('Change owner of the objective “Grow”')
  expect(await heading('closeObjective', { objective, outcome: 'missed' })).toBe('Close the objective “Grow” as missed')
  await approve(server, await propose(server, 'goals.closeObjective', { objective, outcome: 'dropped' }))
  expect(await heading('reopenObjective', { objective })).toBe('Reopen the objective “Grow”')
})

test('a heading whose values changed while it waited is asked again with those of now, and nothing was done', async () => {
  await using server = await startDesk()
  const { keyResult } = await setUp(server)
  const raised = await propose(server, 'goals.recordProgress', { keyResult, current: 40 })
  await approve(server, await propose(server, 'goals.recordProgress', { keyResult, current: 45 }))
  const again = await approve(server, raised)
  expect(again).toMatchObject({ state: 'proposed', revision: 2, description: 'Lower “Activation” from 45 to 40 %' })
  expect(again.digest).not.toBe(raised.digest)
  expect(await approve(server, again)).toMatchObject({ state: 'succeeded', description: 'Lower “Activation” from 45 to 40 %' })
})

test('a title of several lines with quotes and characters nobody sees stays one quoted name in a heading', async () => {
  await using server = await startDesk()
  const { keyResult } = await setUp(server, 'A” from 1 to 2 %\n- act_1: pay\u202e\u200b “B')
  const { description } = await propose(server, 'goals.recordProgress', { keyResult, current: 40 })
  // Invisible characters stay, so that the card can show them.
  expect(description).toBe('Raise “A" from 1 to 2 % - act_1: pay\u202e\u200b "B” from 31 to 40 %')
})

/** Starts a server with a tool whose preview has a headline from the target and no fields. */
async function startNamed(target: { name: string | undefined }, isFree = false) {
  const ran: string[] = []
  const coded = defineTool({
    name: 'label',
    description: 'Labels an account.',
    input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    effect: 'write',
    describe: ({ id }) => `Label ${id}`,
    preview() {
      if (target.name === undefined) throw new ToolError('unreachable', 'The target is away.')
      return { fields: [], headline: `Label ${target.name}` }
    },
    execute: ({ id }) => ran.push(String(id)),
  })
  const free = { name: 'all', match: {}, verdict: 'allow' as const }
  const config = { tools: { desk: { tools: [coded] } }, policy: { rules: isFree ? [free] : [] } }
  return { server: await startTestServer({ config }), ran }
}

test('what a person approved is what they read: another heading is another action, even where nothing else was shown', async () => {
  const target = { name: 'Ana' as string | undefined }
  const { server, ran } = await startNamed(target)
  await using _ = server
  const first = await propose(server, 'desk.label', { id: '7' })
  expect(first.description).toBe('Label Ana')
  target.name = 'Bo'
  const again = await approve(server, first)
  expect(again).toMatchObject({ state: 'proposed', revision: 2, description: 'Label Bo' })
  expect(ran).toEqual([])
  // While the headline stays the same, one more approval is enough.
  expect(await approve(server, again)).toMatchObject({ state: 'succeeded', revision: 2, description: 'Label Bo' })
  expect(ran).toEqual(['7'])
})

test('a target that cannot be read, or that nobody looks at, is headed by the arguments', async () => {
  const target = { name: undefined as string | undefined }
  const { server } = await startNamed(target)
  await using _ = server
  const unread = await propose(server, 'desk.label', { id: '7' })
  expect(unread).toMatchObject({ description: 'Label 7', previewError: 'The target is away.' })
  target.name = 'Ana'
  expect(await server.admin.post(`/api/actions/${unread.id}/preview`)).toMatchObject({ revision: 2, description: 'Label Ana' })
  const { server: allowing } = await startNamed(target, true)
  await using __ = allowing
  expect((await propose(allowing, 'desk.label', { id: '8' })).description).toBe('Label 8')
})

test('what a person allowed in advance is headed by the arguments: it is bound to nothing that was read', async () => {
  const { server, ran } = await startNamed({ name: 'Ana' })
  await using _ = server
  const first = await propose(server, 'desk.label', { id: '7' })
  await server.admin.post('/api/grants', { actionId: first.id, scope: 'agent', expiresIn: 'PT1H', exact: true })
  await approve(server, first)
  const granted = await propose(server, 'desk.label', { id: '7' })
  await server.settle()
  expect(granted).toMatchObject({ description: 'Label 7', precondition: null, policy: { verdict: 'allow' } })
  expect(ran).toEqual(['7', '7'])
})

test('a tool whose code cannot say what a call does is asked about under its name, and one whose values cannot be shown says so', async () => {
  const faulty: Record<string, object> = {
    throws: { describe: ({ order }: JsonObject) => (order as JsonObject).id },
    silent: { describe: () => undefined },
    blank: { describe: () => ' ' },
    number: { describe: () => 7 },
    late: { describe: async () => 'Pay' },
    rejects: { describe: () => Promise.reject(new Error('no words')) },
    headed: { preview: () => ({ fields: [], headline: 7 }) },
    unnamed: { preview: () => [{ name: 'total', oldValue: 1 }] },
    large: { preview: () => [{ field: 'total', oldValue: 1n }] },
  }
  // As plain JavaScript may have it, where nothing checks the types.
  const coded = { description: 'Pays.', input: { type: 'object' as const }, effect: 'write' as const, execute: () => null }
  const tools = Object.entries(faulty).map(([name, fault]) => defineTool({ name, ...coded, ...fault }))
  await using server = await startTestServer({ config: { tools: { desk: { tools } } } })
  for (const [name, fault] of Object.entries(faulty)) {
    expect([name, await propose(server, `desk.${name}`, {})]).toMatchObject([
      name,
      {
        description: `Call ${name} with 0 arguments`,
        preview: null,
        previewError: 'preview' in fault ? 'the current values could not be read' : null,
      },
    ])
  }
})

/** Starts a shop with one order. Its tools come from a route table and from an OpenAPI document. */
async function startShop(order: JsonObject) {
  const calls: string[] = []
  const target = createServer((request, response) => {
    if (request.method !== 'GET') calls.push(`${request.method} ${request.url}`)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(request.url === '/openapi.json' ? DOCUMENT : order))
  })
  await new Promise<void>((listening) => target.listen(0, '127.0.0.1', listening))
  const baseUrl = `http://127.0.0.1:${(target.address() as AddressInfo).port}`
  const said = {
    describe: 'Cancel order {orderId}[ of {before.customer.name}][ for {before.total} EUR]',
    before: { get: '/orders/{orderId}', compare: ['status'] },
  }
  const server = await startTestServer({
    config: {
      tools: {
        shop: { routes: { baseUrl, tools: { cancel: { method: 'DELETE', path: '/orders/{orderId}', ...said } } } },
        stock: { openapi: { document: `${baseUrl}/openapi.json`, baseUrl, operations: { cancel: said } } },
      },
    },
  })
  const close = async () => {
    await server[Symbol.asyncDispose]()
    target.closeAllConnections()
    target.close()
  }
  return { server, calls, close }
}

const DOCUMENT: JsonObject = {
  openapi: '3.1.0',
  info: { title: 'Stock', version: '1' },
  paths: {
    '/orders/{orderId}': {
      delete: {
        operationId: 'cancel',
        parameters: [{ name: 'orderId', in: 'path', required: true, schema: { type: 'string' } }],
        responses: { 200: { description: 'done' } },
      },
    },
  },
}

test.each(['shop.cancel', 'stock.cancel'])(
  '%s: a card is headed by what the service was read for, and another name by then is asked again',
  async (tool) => {
    const order: JsonObject = { status: 'open', customer: { name: 'Ana' }, total: 20 }
    const { server, calls, close } = await startShop(order)
    try {
      const first = await propose(server, tool, { orderId: '7' })
      expect(first).toMatchObject({ description: 'Cancel order 7 of “Ana” for 20 EUR', preview: [{ field: 'status', oldValue: 'open' }] })
      // Only the headline changes, not the fields below it.
      order.customer = { name: 'Bo” for 1 EUR\n' }
      const again = await approve(server, first)
      expect(again).toMatchObject({ state: 'proposed', revision: 2, description: 'Cancel order 7 of “Bo" for 1 EUR” for 20 EUR' })
      expect(again.digest).not.toBe(first.digest)
      expect(calls).toEqual([])
      expect(await approve(server, again)).toMatchObject({ state: 'succeeded', revision: 2 })
      expect(calls).toEqual(['DELETE /orders/7'])
      delete order.customer
      expect((await propose(server, tool, { orderId: '8' })).description).toBe('Cancel order 8 for 20 EUR')
    } finally {
      await close()
    }
  },
)

test('an edit that names another thing is approved at once only where the card named all that it is headed by', async () => {
  const order: JsonObject = { status: 'open', customer: { name: 'Ana' }, total: 20 }
  const { server, calls, close } = await startShop(order)
  try {
    const edit = ({ id, revision, digest }: Action, orderId: string): Promise<Action> =>
      server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest, arguments: { orderId } })
    const first = await propose(server, 'shop.cancel', { orderId: '7' })
    order.customer = { name: 'Bo' }
    const asked = await edit(first, '8')
    expect(asked).toMatchObject({ state: 'proposed', revision: 2, description: 'Cancel order 8 of “Bo” for 20 EUR' })
    await server.settle()
    expect(calls).toEqual([])
    await edit(asked, '9')
    await server.settle()
    expect(calls).toEqual(['DELETE /orders/9'])
  } finally {
    await close()
  }
})
