import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Action, JsonObject } from '@countersign/core'
import { expect, test, vi } from 'vitest'
import type { Inventory } from '../../examples/openapi/service/server.ts'
import { type ConfigInput, loadConfig, openConfig } from '../../packages/server/src/config/index.ts'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { modelNames } from '../../packages/toolkit/src/model-names.ts'
import { brainHeard, brainSays, resultsHeard } from '../testing/brain-says.ts'
import { startTarget } from '../testing/target.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/openapi/countersign.config.ts', import.meta.url))

test('the OpenAPI example: parts are read at once, a change waits with before and after, is made once, and the key is nowhere', async () => {
  vi.stubEnv('INVENTORY_PORT', '0')
  await using server = await startTestServer({ config: await loadConfig(EXAMPLE, {}) })
  const { inventory } = (await import(EXAMPLE)) as { inventory: Inventory }
  using stream = await server.admin.stream('/api/chat', { body: { message: 'What is running low?' } })
  const { proposal: card } = await stream.next('action_proposed', ({ proposal }) => proposal.effect === 'write')
  expect(card).toMatchObject({
    tool: 'stock.parts.update',
    state: 'proposed',
    description: 'Reorder BOLT-8 when there are fewer than 100',
    destination: inventory.url,
    preview: [{ field: 'reorderAt', oldValue: 50, newValue: 100 }],
  })
  expect(inventory.changes).toEqual([])

  const { id, revision, digest } = card
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
  const { message } = await stream.next('message', (data) => data.message.content.startsWith('Done'))
  expect(message.content).toBe('Done: Bolt M8 is reordered below 100 now.')
  await stream.next('done')
  expect(inventory.changes).toEqual(['PATCH /parts/BOLT-8'])
  expect(inventory.parts.get('BOLT-8')?.reorderAt).toBe(100)

  // A delete shows what it removes, and goes back for approval when that has changed by execution.
  const gone = await server.admin.post('/api/actions', { tool: 'stock.parts.delete', arguments: { sku: 'GEAR-3' } })
  expect(gone).toMatchObject({ risk: { level: 'high' }, preview: expect.arrayContaining([{ field: 'stock', oldValue: 2 }]) })
  Object.assign(inventory.parts.get('GEAR-3') ?? {}, { stock: 40 })
  const decision = { verdict: 'approve', revision: gone.revision, digest: gone.digest }
  await server.admin.post(`/api/actions/${gone.id}/decision`, decision)
  await server.settle()
  expect(await server.admin.get(`/api/actions/${gone.id}`)).toMatchObject({ state: 'proposed', revision: 2 })
  expect(inventory.parts.has('GEAR-3')).toBe(true)

  const found = await server.admin.post('/api/actions', { tool: 'stock.parts.search', arguments: { body: { words: 'nut' } } })
  expect(found).toMatchObject({ effect: 'read', policy: { verdict: 'allow' } })
  expect(JSON.stringify(await server.dump())).not.toContain('only-an-example-key')
})

/** Builds a document with so many operations that the model is not offered each one as a tool. */
function largeDocument(): JsonObject {
  const body = {
    required: true,
    content: { 'application/json': { schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } } },
  }
  const paths = Array.from({ length: 60 }, (_, n): [string, JsonObject] => [
    `/thing${n}/{id}`,
    {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: { operationId: `getThing${n}`, summary: `Read thing number ${n}`, responses: {} },
      patch: { operationId: `changeThing${n}`, summary: `Change the words of thing number ${n}`, requestBody: body, responses: {} },
    },
  ])
  return { openapi: '3.0.3', info: { title: 'Many', version: '1' }, paths: Object.fromEntries(paths) }
}

test('an agent with more than 100 tools searches, looks and calls; policy, card and record name the real tool, and what it is offered never changes', async () => {
  await using target = await startTarget(async ({ method }) => ({
    status: 200,
    body: method === 'GET' ? { text: 'old' } : { text: 'new' },
  }))
  using folder = temporaryFolder()
  const document = join(folder.path, 'many.json')
  writeFileSync(document, JSON.stringify(largeDocument()))
  await using replay = await startReplayServer()
  const args = { id: 'a b', body: { text: 'new' } }
  const brain = replay.play(
    [
      { calls: [{ id: 'c1', tool: 'countersign_search_tools', input: { query: 'change words of thing 42', limit: 3 } }] },
      {
        calls: [
          { id: 'c2', tool: 'countersign_tool', input: { name: 'many.changeThing42' } },
          { id: 'c3', tool: 'countersign_tool', input: { name: 'many.changeThing420' } },
        ],
      },
      { calls: [{ id: 'c4', tool: 'countersign_call', input: { name: 'many.changeThing42', arguments: { id: 'x' } } }] },
      { calls: [{ id: 'c5', tool: 'countersign_call', input: { name: 'many.changeThing42', arguments: args } }] },
      { text: 'Changed.' },
    ].map(brainSays),
  )
  const config = {
    agents: { desk: { model: `remote/${brain.baseUrl}`, tools: ['*'] } },
    tools: { many: { openapi: { document, baseUrl: target.url } } },
  }
  await using server = await startTestServer({ config })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { proposal: card } = await stream.next('action_proposed')
  expect(card).toMatchObject({
    tool: 'many.changeThing42',
    arguments: args,
    preview: [{ field: 'text', oldValue: 'old', newValue: 'new' }],
  })

  await server.restart()
  await server.admin.post(`/api/actions/${card.id}/decision`, { verdict: 'approve', revision: card.revision, digest: card.digest })
  await server.settle()
  const { items } = await server.admin.get('/api/actions')
  expect(items.map(({ tool, state }: Action) => [tool, state])).toEqual([['many.changeThing42', 'succeeded']])
  expect(target.writes.map(({ method, path }) => `${method} ${path}`)).toEqual(['PATCH /thing42/a%20b'])

  const told = new Map(resultsHeard(brain, 4))
  expect(told.get('c1')).toMatchObject({ tools: [{ name: 'many.changeThing42', effect: 'write' }, {}, {}] })
  expect(told.get('c2')).toMatchObject({ name: 'many.changeThing42', inputSchema: { required: ['id', 'body'] } })
  expect(told.get('c3')).toEqual({ error: expect.stringContaining('there is no tool "many.changeThing420"; near are many.') })
  expect(told.get('c4')).toEqual({ error: expect.stringContaining('body is required') })
  expect(told.get('c5')).toEqual({ text: 'new' })

  // Each request sends the same tools, after the restart as well, and a history that only grows: the provider's prompt cache stays valid.
  const bodies = brain.requests.map(({ body }) => body as { tools: { function: { name: string } }[] })
  expect(bodies[0]?.tools.map((tool) => tool.function.name)).toEqual(['countersign_search_tools', 'countersign_tool', 'countersign_call'])
  expect(new Set(bodies.map(({ tools }) => JSON.stringify(tools))).size).toBe(1)
  const histories = bodies.map((_, nth) => brainHeard(brain, nth).map((message) => JSON.stringify(message)))
  for (const [nth, history] of histories.slice(1).entries()) expect(history.slice(0, histories[nth]?.length)).toEqual(histories[nth])
  expect(brainHeard(brain, 4).findLast(({ tool_calls }) => tool_calls)?.tool_calls?.[0]?.function).toMatchObject({
    name: 'countersign_call',
  })
})

test('the tool that an agent looked up in its catalogue is the one that it calls, also where a model sees another tool under its name', async () => {
  await using target = await startTarget(async () => ({ status: 200, body: {} }))
  using folder = temporaryFolder()
  const document = join(folder.path, 'many.json')
  writeFileSync(document, JSON.stringify(largeDocument()))
  const long = `refund_${'x'.repeat(70)}`
  const forged = modelNames([`shop.${long}`]).get(`shop.${long}`) ?? ''
  await using replay = await startReplayServer()
  const brain = replay.play(
    [
      { calls: [{ id: 'c1', tool: 'countersign_tool', input: { name: forged } }] },
      { calls: [{ id: 'c2', tool: 'countersign_call', input: { name: forged, arguments: {} } }] },
    ].map(brainSays),
  )
  const postTo = (path: string, description: string) => ({ method: 'POST' as const, path, description })
  const config: ConfigInput = {
    agents: { desk: { model: `remote/${brain.baseUrl}`, tools: ['*'] } },
    tools: {
      shop: { routes: { baseUrl: target.url, tools: { [long]: postTo('/refund', 'Gives the money back') } } },
      notes: { prefix: false, routes: { baseUrl: target.url, tools: { [forged]: postTo('/note', 'Writes a note') } } },
      many: { openapi: { document, baseUrl: target.url } },
    },
  }
  await using server = await startTestServer({ config })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { proposal: card } = await stream.next('action_proposed')
  expect(new Map(resultsHeard(brain, 1)).get('c1')).toMatchObject({ name: forged, description: 'Writes a note' })
  expect(card).toMatchObject({ tool: forged })
})

test('the names of a document are stable, and a large one is derived where it is asked for', async () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, 'many.json'), JSON.stringify(largeDocument()))
  const open = () =>
    openConfig(
      { tools: { many: { openapi: { document: 'many.json', baseUrl: 'http://127.0.0.1:9' } } } },
      { environment: {}, folder: folder.path },
    )
  const [first, again] = [await open(), await open()]
  expect(again.tools.all().map(({ name, modelName }) => [name, modelName])).toEqual(
    first.tools.all().map(({ name, modelName }) => [name, modelName]),
  )
  // The schema is still a getter: no code has read it.
  for (const tool of first.tools.all()) expect(Object.getOwnPropertyDescriptor(tool, 'inputSchema')?.get).toBeTypeOf('function')
})
