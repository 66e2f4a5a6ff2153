import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { gatewayStarter } from '../../packages/server/src/ext-authz/index.ts'
import type { Database } from '../../packages/server/src/store/index.ts'
import { decide, waiting } from '../testing/decisions.ts'
import { askWith, startGatewayServer } from '../testing/gateway-server.ts'
import { startTarget, type TargetAnswer, toolsOf } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

// A gateway may be set to let requests pass while the server that it asks is in trouble: a 5xx would then be a yes.

async function change(database: Database, sql: string): Promise<void> {
  if (database.kind === 'sqlite') {
    using db = new DatabaseSync(join(database.dataDir, 'countersign.db'))
    db.exec(sql)
    return
  }
  const client = new Client({ connectionString: database.url })
  await client.connect()
  await client.query(sql).finally(() => client.end())
}

test.each(['action', 'principal'])('a server whose table %s is gone refuses, says no more, and logs why', async (table) => {
  const { server, ask } = await startGatewayServer()
  await change(server.database, `alter table "${table}" rename to lost`)
  for (const method of ['GET', 'POST']) {
    const { status, detail } = await ask(method, '/orders')
    expect([status, detail], method).toEqual([
      403,
      'Not allowed: Countersign failed while it looked at this request. Nothing was passed on.',
    ])
  }
  expect(server.errors.join('')).toContain('ext_authz.failed')
  await change(server.database, `alter table lost rename to "${table}"`)
  expect((await ask('GET', '/orders')).status).toBe(200)
})

test('a server that shuts down refuses what a gateway asks meanwhile', async () => {
  const answered = Promise.withResolvers<TargetAnswer>()
  const hasBegun = Promise.withResolvers<void>()
  await using target = await startTarget(() => {
    hasBegun.resolve()
    return answered.promise
  })
  const { server, ask } = await startGatewayServer({ others: toolsOf(target) })
  const { id } = await server.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'x' } })
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  await hasBegun.promise
  const restarted = server.restart()
  for (const method of ['GET', 'POST']) {
    const { status, detail } = await ask(method, '/orders')
    expect([status, detail], method).toEqual([403, expect.stringContaining('the server is shutting down')])
  }
  answered.resolve({ status: 200 })
  await restarted
  expect((await ask('GET', '/orders')).status).toBe(200)
})

test('a held server lets nothing pass, not even a read that policy allows', async () => {
  using folder = temporaryFolder()
  await using database = await openServerDatabase()
  const place = { dataDir: join(folder.path, 'data'), environment: database.environment }
  const first = await startGatewayServer({ place })
  expect((await first.ask('GET', '/orders')).status).toBe(200)
  await first.server.stop()
  const tools = { gateway: { 'ext-authz': { bodies: true } } }
  await using held = await startTestServer({
    config: { tools, policy: { rules: gatewayStarter('gateway') } },
    place,
    flags: { hold: true },
  })
  for (const method of ['GET', 'POST']) {
    const { status, detail } = await askWith(() => held.url, first.key)(method, '/orders')
    expect([status, detail], method).toEqual([403, expect.stringContaining('this server is held')])
  }
})

/** Breaks the connection of the next request that a gateway asks about: as it arrives, or once it has reached this checkpoint. */
function breakConnection(at: 'arrival' | 'claim.storing'): void {
  let open: Socket | undefined
  const listeners: [channel: string, listener: (message: unknown) => void][] = [
    [
      'http.server.request.start',
      (message) => {
        const { request, socket } = message as { request: { url: string }; socket: Socket }
        if (!request.url.startsWith('/ext-authz')) return
        open = socket
        if (at === 'arrival') stop().destroy()
      },
    ],
    ['countersign.checkpoint', (name) => void (name === at && stop().destroy())],
  ]
  const stop = () => {
    for (const [channel, listener] of listeners) unsubscribe(channel, listener)
    if (!open) throw new Error('no gateway asks')
    return open
  }
  for (const [channel, listener] of listeners) subscribe(channel, listener)
  onTestFinished(() => void listeners.map(([channel, listener]) => unsubscribe(channel, listener)))
}

test.each([{}, { headers: { 'idempotency-key': 'a' } }])(
  'a request whose gateway was gone before it got the answer is not recorded as passed, with %j',
  async (more) => {
    const { server, ask } = await startGatewayServer()
    const send = () => ask('POST', '/refunds', { body: '{"amount":5}', ...more })
    await send()
    const card = await waiting(server)
    await decide(server, card, { verdict: 'approve' })
    breakConnection('claim.storing')
    await expect(send()).rejects.toThrow()
    const state = async () => (await server.admin.get(`/api/actions/${card.id}`)).state
    await expect.poll(state).toBe('executing')
    expect((await send()).detail).toContain('is being passed on')
    expect(await state()).toBe('executing')
  },
)

test('a gateway that is gone as its request arrives uses no approval', async () => {
  const { server, ask } = await startGatewayServer()
  await ask('DELETE', '/orders/7')
  const card = await waiting(server)
  await decide(server, card, { verdict: 'approve' })
  breakConnection('arrival')
  await expect(ask('DELETE', '/orders/7')).rejects.toThrow()
  expect(await ask('DELETE', '/orders/7')).toMatchObject({ status: 200 })
  await expect.poll(async () => (await server.admin.get(`/api/actions/${card.id}`)).state).toBe('succeeded')
})
