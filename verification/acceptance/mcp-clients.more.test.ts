// What a call of an unmodified MCP client comes to, in each of the cases of the table of clients.
import { expect, test } from 'vitest'
import { expireWaiting } from '../testing/end-deadline.ts'
import { freePort } from '../testing/free-port.ts'
import { MCP_CLIENTS, type McpClient } from '../testing/mcp-clients.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

/** A server whose calls answer at once that they wait. It keeps its address when it restarts. */
async function openDesk() {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget((_, nth) => ({ status: 200, body: { nth } })))
  const config = { tools: toolsOf(target), policy: { rules: [] }, gateway: { waitSeconds: 0 } }
  const server = stack.use(await startTestServer({ config, flags: { port: await freePort() } }))
  const { key } = await server.makeKey({ name: 'bot', kind: 'agent', agent: 'bot', roles: ['agent'] })
  return {
    server,
    target,
    connection: { url: `${server.url}/mcp`, key },
    decide: (actionId: string, verdict: 'approve' | 'decline', more: object = {}) =>
      server.admin.post(`/api/actions/${actionId}/decision`, { verdict, ...more }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** Makes the call, which waits; resolves with the id of its action. */
async function ask(client: McpClient): Promise<string> {
  const { structuredContent } = await client.call('keyed', { what: 'much' })
  expect(structuredContent).toMatchObject({ status: 'waiting_for_approval' })
  return (structuredContent as { actionId: string }).actionId
}

const each = test.each(MCP_CLIENTS)

each('$client ($speaks): a declined call never runs, and the client is told the reason', async ({ connect }) => {
  await using desk = await openDesk()
  await using client = await connect(desk.connection)
  await desk.decide(await ask(client), 'decline', { reason: 'not on Fridays' })
  const told = await client.call('keyed', { what: 'much' })
  expect(told).toMatchObject({ isError: true, structuredContent: { status: 'declined', reason: 'not on Fridays' } })
  expect(desk.target.writes).toEqual([])
})

each('$client ($speaks): what a person changed is what runs, and the client is told', async ({ connect }) => {
  await using desk = await openDesk()
  await using client = await connect(desk.connection)
  await desk.decide(await ask(client), 'approve', { arguments: { what: 'little' } })
  await desk.server.settle()
  const told = JSON.stringify((await client.call('keyed', { what: 'much' })).content)
  expect(told).toContain('changed the arguments before approving')
  expect(desk.target.writes.map(({ body }) => body)).toMatchObject([{ what: 'little' }])
})

each('$client ($speaks): what nobody decides about in time never runs, and the client is told', async ({ connect }) => {
  await using desk = await openDesk()
  await using client = await connect(desk.connection)
  const actionId = await ask(client)
  await expireWaiting(desk.server)
  const told = await client.call('keyed', { what: 'much' })
  expect(told).toMatchObject({ isError: true, structuredContent: { status: 'expired', actionId } })
  expect(desk.target.writes).toEqual([])
})

each('$client ($speaks): a call that waits is found again after the server restarted, and runs once', async ({ connect }) => {
  await using desk = await openDesk()
  await using client = await connect(desk.connection)
  const actionId = await ask(client)
  await desk.server.restart()
  expect(await ask(client)).toBe(actionId)
  await desk.decide(actionId, 'approve')
  await desk.server.settle()
  expect(await client.call('keyed', { what: 'much' })).toMatchObject({ structuredContent: { nth: 1 } })
  expect(desk.target.writes).toHaveLength(1)
})

each('$client ($speaks): a client that starts again while its call waits gets the result of the one effect', async ({ connect }) => {
  await using desk = await openDesk()
  let actionId: string
  {
    await using first = await connect(desk.connection)
    actionId = await ask(first)
  }
  await desk.decide(actionId, 'approve')
  await desk.server.settle()
  await using second = await connect(desk.connection)
  expect(await second.call('keyed', { what: 'much' })).toMatchObject({ structuredContent: { nth: 1 } })
  expect(desk.target.writes).toHaveLength(1)
})

each('$client ($speaks): a call that comes twice and is approved twice runs once', async ({ connect }) => {
  await using desk = await openDesk()
  await using client = await connect(desk.connection)
  const [actionId, again] = await Promise.all([ask(client), ask(client)])
  expect(again).toBe(actionId)
  await Promise.all([desk.decide(actionId, 'approve'), desk.decide(actionId, 'approve')])
  await desk.server.settle()
  expect(await client.call('keyed', { what: 'much' })).toMatchObject({ structuredContent: { nth: 1 } })
  expect(desk.target.writes).toHaveLength(1)
})
