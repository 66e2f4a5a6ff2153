import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startChildServer } from '../testing/child-server.ts'
import { MCP_CLIENTS, takeBack } from '../testing/mcp-clients.ts'
import { startTarget, type Target, type TargetAnswer, toolsOf } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { startTestServer, type TestServer, temporaryFolder } from '../testing/test-server.ts'

// A client may repeat a call for many reasons, and the protocol does not say which. However often it repeats the call, there is one action
// and one effect until the result was delivered; the next call is a new action.

const [oldest, older, newest] = MCP_CLIENTS

interface Desk extends AsyncDisposable {
  server: TestServer
  target: Target
  url: string
  key: string
  /** Waiting actions, oldest first. */
  waiting(): Promise<{ id: string }[]>
  approve(actionId: string): Promise<void>
}

/** `allow` names a tool that runs without approval. */
async function openDesk(
  { waitSeconds = 0, allow, limit }: { waitSeconds?: number; allow?: string; limit?: number } = {},
  answer: (nth: number) => TargetAnswer | Promise<TargetAnswer> = (nth) => ({ status: 200, body: { nth } }),
): Promise<Desk> {
  const target = await startTarget((_, nth) => answer(nth))
  const rules = allow === undefined ? [] : [{ name: 'runs', match: { tool: allow }, verdict: 'allow' as const }]
  const server = await startTestServer({
    config: {
      tools: toolsOf(target),
      policy: { rules, ...(limit !== undefined && { limits: { waitingPerAgent: limit } }) },
      gateway: { waitSeconds },
    },
  })
  const { key } = await server.admin.post('/api/keys', { name: 'bot', kind: 'agent' })
  return {
    server,
    target,
    url: `${server.url}/mcp`,
    key,
    waiting: async () => (await server.admin.get('/api/actions?state=proposed')).items.reverse(),
    async approve(actionId) {
      await server.admin.post(`/api/actions/${actionId}/decision`, { verdict: 'approve' })
      await server.settle()
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}

const idOf = ({ structuredContent }: { structuredContent?: unknown }): string =>
  (structuredContent as { actionId?: string } | undefined)?.actionId ?? ''

test('the same call while it waits is the same action; its result is given once, and the call after that is a new one', async () => {
  await using desk = await openDesk()
  await using client = await newest.connect(desk)
  const first = idOf(await client.call('keyed', { what: 'a' }))
  expect(idOf(await client.call('keyed', { what: 'a' }))).toBe(first)
  expect(idOf(await client.call('keyed', { what: 'b' }))).not.toBe(first)
  await desk.approve(first)
  expect(await client.call('keyed', { what: 'a' })).toMatchObject({ structuredContent: { nth: 1 } })

  const second = idOf(await client.call('keyed', { what: 'a' }))
  expect(second).toMatch(/^act_/)
  expect(second).not.toBe(first)
  expect(desk.target.writes).toHaveLength(1)
})

test('countersign_wait gives the result, and then the same call is a new one', async () => {
  await using desk = await openDesk()
  await using client = await oldest.connect(desk)
  const first = idOf(await client.call('keyed', { what: 'a' }))
  expect(await client.call('countersign_wait', { actionId: first, seconds: 0 })).toMatchObject({
    structuredContent: { status: 'waiting_for_approval' },
  })
  await desk.approve(first)
  expect(await client.call('countersign_wait', { actionId: first })).toMatchObject({ structuredContent: { nth: 1 } })
  const second = idOf(await client.call('keyed', { what: 'a' }))
  expect(second).toMatch(/^act_/)
  expect(second).not.toBe(first)
})

test('a result that somebody else fetched was not given to the caller: their same call gets it and makes no second action', async () => {
  await using desk = await openDesk()
  const viewer = (await desk.server.makeKey({ name: 'Vera', kind: 'person', roles: ['viewer'] })).key
  await using client = await oldest.connect(desk)
  await using other = await newest.connect({ ...desk, key: viewer })
  const first = idOf(await client.call('keyed', { what: 'a' }))
  await desk.approve(first)
  expect(await other.call('countersign_wait', { actionId: first })).toMatchObject({ structuredContent: { nth: 1 } })
  const again = await client.call('keyed', { what: 'a' })
  expect(again).toMatchObject({ structuredContent: { nth: 1 } })
  expect(JSON.stringify(again.content)).toContain('carried out once')
  expect((await desk.server.admin.get('/api/actions')).items).toHaveLength(1)
})

test.each(MCP_CLIENTS)('$client ($speaks): a client whose patience ended finds its action again', async ({ connect }) => {
  await using desk = await openDesk({ waitSeconds: 50 })
  await using client = await connect(desk)
  // The client's own timeout ends the call, whether or not the server had received it.
  await expect(client.call('keyed', { what: 'a' }, { timeoutMs: 250 })).rejects.toThrow(/timed out/i)
  const progress = Promise.withResolvers<void>()
  const again = client.call('keyed', { what: 'a' }, { onprogress: () => progress.resolve() })
  await progress.promise
  const [action, ...others] = await desk.waiting()
  expect(others).toEqual([])
  await desk.approve(action?.id ?? '')
  expect(await again).toMatchObject({ structuredContent: { nth: 1 } })
  expect((await desk.server.admin.get('/api/actions')).items).toHaveLength(1)
  expect(desk.target.writes).toHaveLength(1)
})

test('a client that takes its call back withdraws its action, and the same call after that is a new one', async () => {
  await using desk = await openDesk({ waitSeconds: 50 })
  for (const { connect } of [oldest, older]) {
    await using client = await connect(desk)
    await takeBack(client)
    await expect.poll(() => desk.waiting()).toEqual([])
  }
  const { items } = await desk.server.admin.get('/api/actions')
  const withdrawn = { state: 'cancelled', error: { kind: 'withdrawn', message: 'Withdrawn by the agent bot' } }
  expect(items).toMatchObject([withdrawn, withdrawn])
})

test('an action that another call waits for is not withdrawn with the first', async () => {
  await using desk = await openDesk({ waitSeconds: 50 })
  await using patient = await oldest.connect(desk)
  const progress = Promise.withResolvers<void>()
  const waits = patient.call('keyed', { what: 'a' }, { onprogress: () => progress.resolve() })
  await progress.promise
  await using hasty = await oldest.connect(desk)
  await takeBack(hasty)
  await using last = await oldest.connect(desk)
  await expect(last.call('keyed', { what: 'a' }, { timeoutMs: 250 })).rejects.toThrow(/timed out/i)
  const [action, ...others] = await desk.waiting()
  expect(others).toEqual([])
  await desk.approve(action?.id ?? '')
  expect(await waits).toMatchObject({ structuredContent: { nth: 1 } })
})

test('a call that is refused because too much waits leaves no open call behind', async () => {
  await using desk = await openDesk({ limit: 1 })
  await using client = await newest.connect(desk)
  const first = idOf(await client.call('keyed', { what: 'a' }))
  for (const what of ['b', 'c', 'b']) {
    expect(await client.call('keyed', { what })).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('wait for a decision already') }],
    })
  }
  expect((await desk.server.dump()).gateway_call).toMatchObject([{ action_id: first }])
  await desk.server.admin.post(`/api/actions/${first}/decision`, { verdict: 'decline' })
  expect(await client.call('keyed', { what: 'b' })).toMatchObject({ structuredContent: { status: 'waiting_for_approval' } })
})

test('two clients of one agent that make the same call at once make one action, and both get its result', async () => {
  await using desk = await openDesk({ waitSeconds: 50 })
  await using one = await oldest.connect(desk)
  await using other = await newest.connect(desk)
  const waiting: Promise<void>[] = []
  const calls = [one, other, one, other].map((client) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.push(promise)
    return client.call('keyed', { what: 'a' }, { onprogress: () => resolve() })
  })
  await Promise.all(waiting)
  expect(await desk.waiting()).toHaveLength(1)
  const [action] = await desk.waiting()
  await desk.approve(action?.id ?? '')
  const results = await Promise.all(calls)
  expect(results.map(({ structuredContent }) => structuredContent)).toEqual([{ nth: 1 }, { nth: 1 }, { nth: 1 }, { nth: 1 }])
  expect(results.filter(({ content }) => JSON.stringify(content).includes('carried out once'))).toHaveLength(3)
  expect(desk.target.writes).toHaveLength(1)
})

test('what another agent calls is another action', async () => {
  await using desk = await openDesk()
  const { key } = await desk.server.admin.post('/api/keys', { name: 'other', kind: 'agent' })
  await using one = await newest.connect(desk)
  await using other = await newest.connect({ url: desk.url, key })
  const mine = idOf(await one.call('keyed', { what: 'a' }))
  const theirs = idOf(await other.call('keyed', { what: 'a' }))
  expect(theirs).not.toBe(mine)
  expect((await other.call('countersign_wait', { actionId: mine, seconds: 0 })).isError).toBe(true)
})

test('an allowed call that is made one after the other runs each time; the result of an earlier one is given to nobody', async () => {
  await using desk = await openDesk({ allow: 'keyed' })
  await using client = await newest.connect(desk)
  const results = []
  for (let nth = 1; nth <= 20; nth++) results.push(await client.call('keyed', { what: 'a' }))
  expect(results.map(({ structuredContent }) => structuredContent)).toEqual(results.map((_, index) => ({ nth: index + 1 })))
  expect(JSON.stringify(results)).not.toContain('carried out once')
})

test('a key of the client’s own is one call however often it is made, whatever became of it; with other arguments it is refused', async () => {
  await using desk = await openDesk({ allow: 'keyed' })
  await using client = await newest.connect(desk)
  const meta = { 'countersign/idempotencyKey': 'order-7' }
  const first = await client.call('keyed', { what: 'a' }, { meta })
  const again = await client.call('keyed', { what: 'a' }, { meta })
  expect([first, again].map(({ structuredContent }) => structuredContent)).toEqual([{ nth: 1 }, { nth: 1 }])
  expect((await client.call('keyed', { what: 'b' }, { meta })).isError).toBe(true)
  expect(await client.call('keyed', { what: 'a' }, { meta: { 'countersign/idempotencyKey': 'order-8' } })).toMatchObject({
    structuredContent: { nth: 2 },
  })
  expect(desk.target.writes).toHaveLength(2)
})

test('a call whose outcome is not known is not made again by the same call, until a person has found out', async () => {
  await using desk = await openDesk({ allow: 'unkeyed' }, () => 'reset')
  await using client = await newest.connect(desk)
  const first = await client.call('unkeyed', { what: 'a' })
  expect(first).toMatchObject({ isError: true, structuredContent: { status: 'outcome_unknown' } })
  expect(idOf(await client.call('unkeyed', { what: 'a' }))).toBe(idOf(first))
  expect(desk.target.writes).toHaveLength(1)
  await desk.server.admin.post(`/api/actions/${idOf(first)}/resolve`, { outcome: 'failed', note: 'I looked' })
  expect(await client.call('unkeyed', { what: 'a' })).toMatchObject({
    isError: true,
    structuredContent: { status: 'failed', actionId: idOf(first) },
  })
  expect(desk.target.writes).toHaveLength(1)
})

test('the gateway is killed while an approved call is carried out: the same call at the next one gets the result of the one effect', async () => {
  const reached = Promise.withResolvers<void>()
  await using target = await startTarget(async (_, nth) => {
    reached.resolve()
    // The first answer comes when the gateway is dead.
    if (nth === 1) await killed.promise
    return { status: 200, body: { done: true } }
  })
  const killed = Promise.withResolvers<void>()
  using folder = temporaryFolder()
  await using database = await openServerDatabase()
  const configFile = join(folder.path, 'countersign.json')
  const dataDir = join(folder.path, 'data')
  mkdirSync(dataDir)
  writeFileSync(configFile, JSON.stringify({ tools: toolsOf(target), gateway: { waitSeconds: 0 } }))
  const start = () => startChildServer({ configFile, dataDir, environment: database.environment })

  const before = await start()
  const { key } = await before.admin.post('/api/keys', { name: 'bot', kind: 'agent' })
  await using client = await oldest.connect({ url: `${before.admin.url}/mcp`, key })
  const actionId = idOf(await client.call('keyed', { what: 'a' }))
  await before.admin.post(`/api/actions/${actionId}/decision`, { verdict: 'approve' })
  await reached.promise
  await before.kill()
  killed.resolve()

  await using after = await start()
  await using next = await newest.connect({ url: `${after.admin.url}/mcp`, key })
  await after.admin.get(`/api/actions/${actionId}?wait=60&until=settled`)
  const result = await next.call('keyed', { what: 'a' })
  expect(result).toMatchObject({ structuredContent: { done: true }, _meta: { 'countersign/action': { id: actionId } } })
  // The repeat carries the idempotency key that the service knows.
  expect(new Set(target.writes.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
  expect((await after.admin.get('/api/actions')).items).toHaveLength(1)
})
