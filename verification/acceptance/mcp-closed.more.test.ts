import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { z } from 'zod'
import { type ChildServer, startChildServer } from '../testing/child-server.ts'
import { dumpDatabase } from '../testing/database.ts'
import { MCP_CLIENTS, takeBack } from '../testing/mcp-clients.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { temporaryFolder } from '../testing/test-server.ts'

// A client cancels its call with a message in the protocols with sessions, and by closing the connection in 2026-07-28. The message can
// reach any process, and the process that holds the call may die.

const [oldest, older, newest] = MCP_CLIENTS

// Only Postgres allows several processes on one database.
const onPostgres = test.skipIf(inject('database') !== 'postgres')
// Each of these tests starts several servers, which takes longer than the default timeout on a busy machine.
const TIME = { timeout: 600_000 }

const Rows = z.array(z.object({ call: z.string(), once_key: z.string() }))

/** Opens a place where servers share one database and one target. */
async function openDesk(gateway: { waitSeconds: number; graceSeconds: number }) {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget((_, nth) => ({ status: 200, body: { nth } })))
  const folder = stack.use(temporaryFolder())
  const database = stack.use(await openServerDatabase())
  const configFile = join(folder.path, 'countersign.json')
  const dataDir = join(folder.path, 'data')
  mkdirSync(dataDir)
  const configure = (changed: Partial<typeof gateway> = {}): void =>
    writeFileSync(configFile, JSON.stringify({ tools: toolsOf(target), gateway: { ...gateway, ...changed } }))
  configure()
  return {
    target,
    configure,
    /** Rows of requests that wait, or whose connection ended. */
    requests: async () => {
      const { gateway_call: rows } = await dumpDatabase(database.in(dataDir))
      return Rows.parse(rows).filter(({ call }) => call.startsWith('request '))
    },
    start: async () => stack.use(await startChildServer({ configFile, dataDir, environment: database.environment })),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const keyFor = async (server: ChildServer): Promise<string> => (await server.admin.post('/api/keys', { name: 'bot', kind: 'agent' })).key
const mcpOf = ({ admin }: ChildServer): string => `${admin.url}/mcp`

const WITHDRAWN = { state: 'cancelled', error: { kind: 'withdrawn', message: 'Withdrawn by the agent bot' } }
const CLOSED = { state: 'cancelled', error: { kind: 'withdrawn', message: 'Withdrawn by the agent bot: the client closed its request' } }

onPostgres('a call that a client takes back is withdrawn when its message reaches another process', TIME, async () => {
  await using desk = await openDesk({ waitSeconds: 50, graceSeconds: 30 })
  const [one, other] = await Promise.all([desk.start(), desk.start()])
  const key = await keyFor(one)
  // Acts like a load balancer: the call goes to one process, and its cancellation to the other.
  const balance: typeof fetch = (input, init) => {
    const isCancel = String(init?.body).includes('notifications/cancelled')
    return fetch(isCancel ? mcpOf(other) : input, init)
  }
  for (const { connect } of [oldest, older]) {
    await using client = await connect({ url: mcpOf(one), key, fetch: balance })
    await takeBack(client)
    await expect.poll(async () => (await one.admin.get('/api/actions?state=proposed')).items).toEqual([])
  }
  expect((await one.admin.get('/api/actions')).items).toMatchObject([WITHDRAWN, WITHDRAWN])
})

onPostgres('an action that a call to another process waits for is not withdrawn', TIME, async () => {
  await using desk = await openDesk({ waitSeconds: 50, graceSeconds: 0 })
  const [one, other] = await Promise.all([desk.start(), desk.start()])
  const key = await keyFor(one)
  await using patient = await oldest.connect({ url: mcpOf(other), key })
  const progress = Promise.withResolvers<void>()
  const waits = patient.call('keyed', { what: 'a' }, { onprogress: () => progress.resolve() })
  await progress.promise
  for (const { connect } of [oldest, newest]) {
    await using hasty = await connect({ url: mcpOf(one), key })
    await takeBack(hasty)
  }
  // The server has handled the request of the closed connection and removed its row.
  await expect.poll(async () => (await desk.requests()).filter(({ once_key }) => once_key !== 'lost')).toHaveLength(1)
  const { items } = await one.admin.get('/api/actions')
  expect(items).toMatchObject([{ state: 'proposed' }])
  await one.admin.post(`/api/actions/${items[0].id}/decision`, { verdict: 'approve' })
  expect(await waits).toMatchObject({ structuredContent: { nth: 1 } })
})

test('in 2026-07-28 who closes the connection takes the call back: withdrawn after the grace, and the same call is a new one', async () => {
  await using desk = await openDesk({ waitSeconds: 50, graceSeconds: 1 })
  const server = await desk.start()
  const key = await keyFor(server)
  await using client = await newest.connect({ url: mcpOf(server), key })
  await takeBack(client)
  await expect.poll(async () => (await server.admin.get('/api/actions')).items).toMatchObject([CLOSED])
  const again = new AbortController()
  const progress = Promise.withResolvers<void>()
  const call = client.call('keyed', { what: 'a' }, { signal: again.signal, onprogress: () => progress.resolve() })
  await progress.promise
  expect((await server.admin.get('/api/actions')).items).toMatchObject([{ state: 'proposed' }, CLOSED])
  again.abort()
  await expect(call).rejects.toThrow()
})

test('a client of 2026-07-28 that comes back within the grace finds its action, which then waits for its people', async () => {
  await using desk = await openDesk({ waitSeconds: 50, graceSeconds: 3_600 })
  const before = await desk.start()
  const key = await keyFor(before)
  await using client = await newest.connect({ url: mcpOf(before), key })
  // The client of one action comes back, the client of the other does not.
  for (const what of ['a', 'b']) await takeBack(client, what)
  await expect.poll(() => desk.requests()).toMatchObject([{ once_key: 'closed' }, { once_key: 'closed' }])
  await before.stop()

  desk.configure({ waitSeconds: 1 })
  const meanwhile = await desk.start()
  await using back = await newest.connect({ url: mcpOf(meanwhile), key })
  const first = await back.call('keyed', { what: 'a' })
  expect(first).toMatchObject({ structuredContent: { status: 'waiting_for_approval' } })
  await expect.poll(() => desk.requests()).toMatchObject([{ once_key: 'closed' }])
  await meanwhile.stop()

  // The grace is over at once.
  desk.configure({ graceSeconds: 0 })
  const server = await desk.start()
  await expect.poll(async () => (await server.admin.get('/api/actions')).items).toMatchObject([CLOSED, { state: 'proposed' }])
  await expect.poll(() => desk.requests()).toEqual([])
  const { items } = await server.admin.get('/api/actions?state=proposed')
  await server.admin.post(`/api/actions/${items[0].id}/decision`, { verdict: 'approve' })
  await using later = await newest.connect({ url: mcpOf(server), key })
  expect(await later.call('countersign_wait', { actionId: items[0].id, seconds: 50 })).toMatchObject({ structuredContent: { nth: 1 } })
})

test('in the older protocols a connection that ended takes nothing back: a message does, after it too', async () => {
  await using desk = await openDesk({ waitSeconds: 50, graceSeconds: 0 })
  const server = await desk.start()
  const key = await keyFor(server)
  const hangUp = new AbortController()
  const progress = Promise.withResolvers<void>()
  let cancel: RequestInit | undefined
  const losesConnection: typeof fetch = (input, init) => {
    const body = String(init?.body)
    // The cancellation does not get through.
    if (body.includes('notifications/cancelled')) {
      cancel = { ...init, signal: null }
      return Promise.reject(new TypeError('fetch failed'))
    }
    return fetch(input, body.includes('"tools/call"') ? { ...init, signal: hangUp.signal } : init)
  }
  await using client = await oldest.connect({ url: mcpOf(server), key, fetch: losesConnection })
  const stop = new AbortController()
  const call = client.call('keyed', { what: 'a' }, { signal: stop.signal, onprogress: () => progress.resolve() })
  const ended = expect(call).rejects.toThrow()
  await progress.promise
  hangUp.abort()
  await expect.poll(() => desk.requests()).toMatchObject([{ once_key: 'lost' }])
  stop.abort()
  await ended

  // The action of a 2026-07-28 client is withdrawn meanwhile, which shows that the grace has passed.
  await using newer = await newest.connect({ url: mcpOf(server), key: await keyFor(server) })
  await takeBack(newer)
  await expect.poll(async () => (await server.admin.get('/api/actions')).items).toMatchObject([CLOSED, { state: 'proposed' }])

  // The cancellation gets through at last.
  expect((await fetch(mcpOf(server), cancel)).status).toBe(202)
  expect((await server.admin.get('/api/actions')).items).toMatchObject([CLOSED, WITHDRAWN])
})

test('what a client closed is withdrawn although the process that heard of it is killed', async () => {
  await using desk = await openDesk({ waitSeconds: 50, graceSeconds: 3_600 })
  const before = await desk.start()
  const key = await keyFor(before)
  await using client = await newest.connect({ url: mcpOf(before), key })
  await takeBack(client)
  await expect.poll(() => desk.requests()).toMatchObject([{ once_key: 'closed' }])
  await before.kill()
  desk.configure({ graceSeconds: 0 })
  const after = await desk.start()
  await expect.poll(async () => (await after.admin.get('/api/actions')).items).toMatchObject([CLOSED])
  expect(desk.target.writes).toEqual([])
})
