import { expect, test } from 'vitest'
import { openConfig } from '../../packages/server/src/config/index.ts'
import { defineTool } from '../../packages/toolkit/src/define.ts'
import { openTools } from '../../packages/toolkit/src/open-tools.ts'
import { MCP_CLIENTS } from '../testing/mcp-clients.ts'
import { agentKey, changingSource, linkClient } from '../testing/mcp-gateway.ts'
import { startTestServer } from '../testing/test-server.ts'

test('a call that is repeated after a release, whose tool takes other arguments, is told of its action; another call what is wrong with it', async () => {
  /** The tool as a release has it. */
  const release = (required: string[]) => ({
    prefix: false,
    tools: [
      defineTool({
        ...{ name: 'pay', description: 'Pays.', effect: 'write', execute: () => ({ paid: true }) },
        input: { type: 'object', properties: { to: { type: 'string' } }, required },
      }),
    ],
  })
  const tools = { shop: release(['to']) }
  await using server = await startTestServer({ config: { tools, gateway: { waitSeconds: 0 } } })
  const key = await agentKey(server)
  const calls = [{}, { meta: { 'countersign/idempotencyKey': 'order-7' } }]
  const callAll = async () => {
    await using client = await MCP_CLIENTS[2].connect({ url: `${server.url}/mcp`, key })
    const answers = []
    for (const options of calls) answers.push(await client.call('pay', { to: 'ACME' }, options))
    const wrong = await client.call('pay', { to: 7 })
    return { answers, wrong }
  }
  const { answers } = await callAll()
  const ids = answers.map(({ structuredContent }) => (structuredContent as { actionId: string }).actionId)
  await server.restart(() => {
    tools.shop = release(['to', 'currency', 'cents'])
  })
  const waiting = await callAll()
  expect(waiting.answers).toMatchObject(ids.map((actionId) => ({ structuredContent: { status: 'waiting_for_approval', actionId } })))
  // Everything that is wrong, under the name that the model knows.
  expect(waiting.wrong).toMatchObject({ isError: true })
  expect(JSON.stringify(waiting.wrong.content)).toMatch(/pay: .*currency.*cents/)
  for (const id of ids) await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'decline', reason: 'not on Fridays' })
  const declined = await callAll()
  expect(declined.answers).toMatchObject(ids.map((actionId) => ({ structuredContent: { status: 'declined', actionId } })))
  expect((await server.admin.get('/api/actions')).items).toHaveLength(2)
  // It was told what became of its action: now it is another call.
  const next = (await callAll()).answers[0]
  expect(next).toMatchObject({ isError: true })
  expect(JSON.stringify(next?.content)).toMatch(/pay: .*currency.*cents/)
  expect((await server.dump()).gateway_call).toEqual([])
})

test('a call that is repeated after a release without its tool is told of its action; another call that there is no such tool', async () => {
  /** The tool as a release has it. */
  const release = (name: string) => ({
    tools: [
      defineTool({
        ...{ name, description: 'Pays.', effect: 'write', execute: () => ({ paid: true }) },
        input: { type: 'object', properties: { to: { type: 'string' } } },
      }),
    ],
  })
  const tools = { shop: release('pay') }
  await using server = await startTestServer({ config: { tools, gateway: { waitSeconds: 0 } } })
  const keys = [await agentKey(server), await agentKey(server, 'other')] as const
  const keyed = { meta: { 'countersign/idempotencyKey': 'order-7' } }
  const callAs = async (key: string, args: object, options = {}) => {
    await using client = await MCP_CLIENTS[2].connect({ url: `${server.url}/mcp`, key })
    return await client.call('shop_pay', { ...args }, options)
  }
  const callBoth = async () => [await callAs(keys[0], { to: 'ACME' }), await callAs(keys[0], { to: 'ACME' }, keyed)]
  const ids = (await callBoth()).map(({ structuredContent }) => (structuredContent as { actionId: string }).actionId)
  expect(new Set(ids).size).toBe(2)
  const told = ids.map((id) => ({ _meta: { 'countersign/action': { id, state: 'succeeded' } }, structuredContent: { paid: true } }))
  for (const id of ids) await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  await server.settle()
  await server.restart(() => {
    tools.shop = release('payOut')
  })
  // Only the same call: of the same agent, with the same arguments, under the same key.
  for (const [key, args, options] of [
    [keys[1], { to: 'ACME' }, {}],
    [keys[1], { to: 'ACME' }, keyed],
    [keys[0], { to: 'Bolt' }, {}],
    [keys[0], { to: 'ACME' }, { meta: { 'countersign/idempotencyKey': 'order-8' } }],
  ] as const) {
    await expect(callAs(key, args, options)).rejects.toThrow('there is no tool shop_pay')
  }
  const other = await callAs(keys[0], { to: 'Bolt' }, keyed)
  expect(other).toMatchObject({ isError: true })
  expect(JSON.stringify(other.content)).toContain('was used for a request with another body')

  expect(await callBoth()).toMatchObject(told)
  // The key means the call for longer; without one it was told what became of it, and now it is another call.
  await expect(callAs(keys[0], { to: 'ACME' })).rejects.toThrow('there is no tool shop_pay')
  expect(await callAs(keys[0], { to: 'ACME' }, keyed)).toMatchObject(told[1] ?? {})
  expect((await server.admin.get('/api/actions')).items).toHaveLength(2)
  expect((await server.dump()).gateway_call).toEqual([])
})

test('input_required: a client that comes back when the tool is gone gets the result of what was approved', async () => {
  const { source, become } = changingSource()
  const config = {
    ...(await openConfig({ policy: { default: 'ask' } }, { environment: {}, folder: '.' })),
    tools: openTools({ own: { prefix: false, source } }),
  }
  await using server = await startTestServer({ config })
  become('pay')
  const client = await linkClient(`${server.url}/mcp`, await agentKey(server), async (link) => {
    await server.admin.post(`/api/actions/${link.split('/').at(-1)}/decision`, { verdict: 'decline', reason: 'not today' })
    become('payOut')
    return 'accept'
  })
  const told = await client.callTool({ name: 'pay', arguments: {} })
  expect(told).toMatchObject({ structuredContent: { status: 'declined' } })
  expect(JSON.stringify(told.content)).toContain('not today')
  expect((await server.admin.get('/api/actions')).items).toHaveLength(1)
  await client.close()
})
