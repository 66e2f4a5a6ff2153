import { expect, inject, onTestFinished, test } from 'vitest'
import { livingProcess } from '../../packages/server/src/store/tables/processes.ts'
import type { ApiClient } from '../testing/api-client.ts'
import { settled } from '../testing/decisions.ts'
import { openFaultProxy, throughProxy } from '../testing/fault-proxy.ts'
import type { BrainCall } from '../testing/live-brain.ts'
import { connectTo } from '../testing/migrated.ts'
import { createDatabase, startPostgres } from '../testing/postgres.ts'
import { openSeveralServers } from '../testing/several-servers.ts'
import { call } from '../testing/talk.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { openTestDatabase } from '../testing/test-database.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

const onPostgres = test.skipIf(inject('database') !== 'postgres')

const SOON = { interval: 100 }

/** Readiness has two seconds for its answer. A request that hangs ends after five minutes; in between, a machine is only slow. */
const HANGS_MS = 60_000

const readiness = async (client: ApiClient) => {
  const { status, body } = await client.send('GET', '/readyz')
  return [status, status === 200 ? body.status : body.code]
}

onPostgres(
  'a database that goes away and comes back: told by readyz, answered with 503, and nothing is lost or done twice',
  { timeout: 600_000 },
  async () => {
    const postgres = await startPostgres({ fsync: false })
    onTestFinished(() => postgres[Symbol.asyncDispose]())
    const held = Promise.withResolvers<void>()
    const speak = async (heard: BrainCall) => {
      if (heard.about === 'model') await held.promise
      return heard.results === 0 && heard.about === 'tool' ? { calls: [call('a', 'unkeyed', 'x')] } : { text: 'Here I am.' }
    }
    await using all = await openSeveralServers({
      databaseUrl: await createDatabase(postgres.url('postgres')),
      speak,
      async answer() {
        await held.promise
        return { status: 200, body: { id: 6 } }
      },
    })
    const { admin } = await all.start()
    const begin = async (content: string) => {
      const { id } = await admin.post('/api/sessions', {})
      await admin.post(`/api/sessions/${id}/messages`, { content })
      return { id, stream: await admin.stream(`/api/sessions/${id}/events`) }
    }
    const [model, tool] = await Promise.all([begin('model'), begin('tool')])
    const { proposal } = await tool.stream.next('action_proposed')
    await admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
    await expect.poll(() => [all.target.writes.length, all.brain.calls.length], SOON).toEqual([1, 2])
    await expect.poll(() => readiness(admin), SOON).toEqual([200, 'ok'])

    await postgres.stop()
    await expect.poll(() => readiness(admin), SOON).toEqual([503, 'not_ready'])
    const [decision, page, metrics] = await Promise.all([
      admin.send('POST', '/api/actions', { body: { tool: 'keyed', arguments: { what: 'y' } } }),
      admin.send('GET', '/api/actions'),
      admin.send('GET', '/metrics'),
    ])
    expect([decision.body, page.body, metrics.body]).toEqual([
      expect.objectContaining({ code: 'not_ready' }),
      expect.objectContaining({ code: 'not_ready' }),
      expect.objectContaining({ code: 'not_ready' }),
    ])
    // The model call and the tool call end while the database is away.
    held.resolve()

    await postgres.start()
    await expect.poll(() => readiness(admin), SOON).toEqual([200, 'ok'])
    expect(await settled({ admin }, proposal.id)).toMatchObject({ state: 'succeeded', attempt: 1 })
    for (const { id, stream } of [model, tool]) {
      stream.close()
      using again = await admin.stream(`/api/sessions/${id}/events?after=${stream.seen.at(-1)?.id ?? 0}`)
      if (!stream.seen.some(({ type }) => type === 'done')) await again.next('done')
      const { items } = await admin.get(`/api/sessions/${id}/messages`)
      expect(items[0]).toMatchObject({ role: 'assistant', content: 'Here I am.' })
    }
    expect(all.target.writes).toHaveLength(1)
    expect(await admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'y' } })).toMatchObject({ state: 'proposed' })
  },
)

onPostgres('a process that comes back to a database of a newer version decides and begins nothing, and says why', async () => {
  await using database = await openTestDatabase()
  await using psql = await connectTo(database)
  using folder = temporaryFolder()
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({
    config: { tools: toolsOf(target) },
    place: { dataDir: folder.path, environment: { DATABASE_URL: database.url } },
  })
  const { id } = await server.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'y' } })
  // It was suspended, say: nobody saw it alive, and a newer version changed the tables.
  await psql.query(`insert into migration values (9000, '9000_time_travel.sql', 1)`)
  await psql.query(`select pg_terminate_backend(backend, 5000) from process`)
  const why = /newer than this version.*9000_time_travel/
  await expect
    .poll(async () => (await server.admin.send('GET', '/readyz')).body, SOON)
    .toMatchObject({ code: 'not_ready', detail: expect.stringMatching(why) })
  const decided = await server.admin.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })
  expect(decided.body).toMatchObject({ code: 'not_ready', detail: expect.stringMatching(why) })
  await expect.poll(() => livingProcess(psql), SOON).toBe(undefined)
  expect(server.errors.filter((line) => line.includes('database.newer'))).toHaveLength(1)
  expect(target.writes).toEqual([])
})

onPostgres(
  'a database that keeps its connections and says nothing: readyz says so at once, and it goes on by itself',
  { timeout: 600_000 },
  async () => {
    await using database = await openTestDatabase()
    const { hostname: host, port } = new URL(database.url)
    await using proxy = await openFaultProxy({ host, port: Number(port) })
    await using all = await openSeveralServers({
      databaseUrl: throughProxy(database.url, proxy),
      speak: () => ({ text: 'Here I am.' }),
      answer: () => ({ status: 200 }),
    })
    const { admin } = await all.start()
    await expect.poll(() => readiness(admin), SOON).toEqual([200, 'ok'])
    proxy.onRequest = () => 'hold'
    const askedAt = performance.now()
    expect(await readiness(admin)).toEqual([503, 'not_ready'])
    expect(performance.now() - askedAt).toBeLessThan(HANGS_MS)
    proxy.onRequest = () => 'pass'
    proxy.release()
    await expect.poll(() => readiness(admin), SOON).toEqual([200, 'ok'])
    const { id } = await admin.post('/api/sessions', {})
    using stream = await admin.stream(`/api/sessions/${id}/events`)
    await admin.post(`/api/sessions/${id}/messages`, { content: 'go' })
    await stream.next('done')
  },
)

onPostgres(
  'a server that is stopped while its database is gone ends, and the next one takes over the attempt it left',
  { timeout: 600_000 },
  async () => {
    const postgres = await startPostgres({ fsync: false })
    onTestFinished(() => postgres[Symbol.asyncDispose]())
    const held = Promise.withResolvers<void>()
    await using all = await openSeveralServers({
      databaseUrl: await createDatabase(postgres.url('postgres')),
      speak: () => ({ text: 'Here I am.' }),
      async answer() {
        await held.promise
        return { status: 200, body: { id: 6 } }
      },
    })
    const first = await all.start()
    const { id } = await first.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'y' } })
    await first.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
    await expect.poll(() => all.target.writes.length, SOON).toBe(1)
    await postgres.stop('kill')
    await first.stop()

    await postgres.start()
    const { admin } = await all.start()
    expect(await settled({ admin }, id)).toMatchObject({ state: 'outcome_unknown', attempt: 1 })
    held.resolve()
    expect(all.target.writes).toHaveLength(1)
  },
)
