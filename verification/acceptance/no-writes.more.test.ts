import { renameSync, rmSync } from 'node:fs'
import type { Action } from '@countersign/core'
import { Client } from 'pg'
import { expect, inject, test } from 'vitest'
import { decide, settled } from '../testing/decisions.ts'
import { createDatabase, runOn, startPostgres } from '../testing/postgres.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { openTestDatabase } from '../testing/test-database.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

/** A place for a server whose database takes writes or does not, as it is told while the server runs. */
async function openPlace(stack: AsyncDisposableStack) {
  const { path } = stack.use(temporaryFolder())
  if (inject('database') === 'sqlite') {
    const dataDir = `${path}/data`
    return {
      place: { dataDir, environment: {} },
      takeWrites: async (does: boolean) => (does ? renameSync(`${path}/moved`, dataDir) : renameSync(dataDir, `${path}/moved`)),
    }
  }
  const postgres = stack.use(await startPostgres({ fsync: false }))
  return {
    place: { dataDir: path, environment: { DATABASE_URL: await createDatabase(postgres.url('postgres')) } },
    /** As a provider does when the disk of a database is full: for all, whatever they are at. */
    async takeWrites(does: boolean) {
      const client = new Client({ connectionString: postgres.url('postgres') })
      await client.connect()
      await client.query('set default_transaction_read_only = off')
      await client.query(`alter system set default_transaction_read_only = ${does ? 'off' : 'on'}`)
      await client.query('select pg_reload_conf()')
      await client.end()
      // The server tells its processes some time later. Who connects has the new setting only once all others were told.
      const setting = () => runOn(postgres.url('postgres'), 'show default_transaction_read_only')
      await expect.poll(setting).toEqual([{ default_transaction_read_only: does ? 'off' : 'on' }])
    },
  }
}

test('a database that takes no writes for a time, or is moved away: readyz says so, what was acknowledged stays, and all goes on by itself', async () => {
  await using stack = new AsyncDisposableStack()
  const held = Promise.withResolvers<void>()
  const target = stack.use(
    await startTarget(async ({ body }) => {
      if ((body as { what: string }).what === 'under way') await held.promise
      return { status: 200, body: { id: 1 } }
    }),
  )
  const { place, takeWrites } = await openPlace(stack)
  const server = stack.use(await startTestServer({ config: { tools: toolsOf(target) }, place }))
  const { admin } = server
  const propose = (what: string, tool = 'unkeyed'): Promise<Action> => admin.post('/api/actions', { tool, arguments: { what } })
  const [before, underWay, during] = [await propose('before'), await propose('under way'), await propose('during')]
  await decide(server, before, { verdict: 'approve' })
  expect((await settled(server, before.id)).state).toBe('succeeded')
  await decide(server, underWay, { verdict: 'approve' })
  await expect.poll(() => target.writes.length).toBe(2)

  await takeWrites(false)
  expect((await admin.send('GET', '/readyz')).body).toMatchObject({ code: 'not_ready', status: 503 })
  const refused = await admin.send('POST', `/api/actions/${during.id}/decision`, { body: { verdict: 'approve' } })
  expect([503, 507]).toContain(refused.status)
  expect((await admin.send('GET', '/readyz')).body).toMatchObject({ code: 'not_ready', status: 503 })
  expect((await admin.send('GET', '/healthz')).status).toBe(200)
  // The answer of the target arrives while nothing can be stored.
  held.resolve()
  for (const again of ['once', 'twice']) {
    const { status } = await admin.send('POST', `/api/actions/${during.id}/decision`, { body: { verdict: 'approve', reason: again } })
    expect([503, 507]).toContain(status)
  }
  expect(await admin.get(`/api/actions/${before.id}`)).toMatchObject({ state: 'succeeded' })

  await takeWrites(true)
  await expect.poll(() => admin.send('GET', '/readyz').then(({ body }) => body)).toEqual({ status: 'ok' })
  expect(await settled(server, underWay.id)).toMatchObject({ state: 'succeeded', attempt: 1 })
  expect(await admin.get(`/api/actions/${during.id}`)).toMatchObject({ state: 'proposed', votes: [] })
  await decide(server, during, { verdict: 'approve' })
  expect(await settled(server, during.id)).toMatchObject({ state: 'succeeded', attempt: 1 })
  expect(target.writes.map(({ body }) => (body as { what: string }).what)).toEqual(['before', 'under way', 'during'])
})

test.skipIf(inject('database') !== 'postgres')(
  'the data folder beside a Postgres database is removed while the server runs: decisions count and are carried out once, and the next start finds all',
  async () => {
    await using stack = new AsyncDisposableStack()
    const { path } = stack.use(temporaryFolder())
    const { url } = stack.use(await openTestDatabase())
    const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
    const place = { dataDir: `${path}/data`, environment: { DATABASE_URL: url } }
    const server = stack.use(await startTestServer({ config: { tools: toolsOf(target) }, place }))
    const done: string[] = []
    const act = async (what: string) => {
      const action = await server.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what } })
      await decide(server, action, { verdict: 'approve' })
      expect(await settled(server, action.id)).toMatchObject({ state: 'succeeded' })
      done.push(action.id)
    }
    await act('before')
    rmSync(place.dataDir, { recursive: true })
    await act('without')
    expect((await server.admin.send('GET', '/healthz')).status).toBe(200)
    await server.restart()
    await act('after')
    for (const id of done) expect((await server.admin.get(`/api/actions/${id}`)).state).toBe('succeeded')
    expect(target.writes).toHaveLength(3)
  },
)

test.skipIf(inject('database') !== 'postgres')(
  'a table that decisions write and that somebody keeps locked: readyz names it and the metrics count it while a decision waits, then all goes on',
  async () => {
    await using stack = new AsyncDisposableStack()
    const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
    const { url } = stack.use(await openTestDatabase())
    const place = { dataDir: stack.use(temporaryFolder()).path, environment: { DATABASE_URL: url } }
    const server = stack.use(await startTestServer({ config: { tools: toolsOf(target) }, place }))
    const { admin } = server
    const locker = new Client({ connectionString: url })
    await locker.connect()
    stack.defer(() => locker.end())
    const { id }: Action = await admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'x' } })
    // As CREATE INDEX without CONCURRENTLY does, for as long as it takes.
    await locker.query('begin; lock table audit in share mode')
    const decision = admin.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })
    const ready = async () => (await admin.send('GET', '/readyz')).body
    const named = expect.stringMatching(/database session \d+ locks the table audit;/)
    await expect.poll(ready).toMatchObject({ status: 503, code: 'not_ready', detail: named })
    expect((await admin.send('GET', '/metrics')).text).toMatch(/^countersign_trouble 1$/m)
    await locker.query('rollback')
    expect((await decision).status).toBe(200)
    expect(await ready()).toEqual({ status: 'ok' })
    expect(await settled(server, id)).toMatchObject({ state: 'succeeded', attempt: 1 })
  },
)
