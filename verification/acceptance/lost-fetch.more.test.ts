import { expect, inject, onTestFinished, test } from 'vitest'
import { openFaultProxy, throughProxy, type Verdict } from '../testing/fault-proxy.ts'
import type { BrainCall } from '../testing/live-brain.ts'
import { openSeveralServers } from '../testing/several-servers.ts'
import { call } from '../testing/talk.ts'
import { openTestDatabase } from '../testing/test-database.ts'

const onPostgres = test.skipIf(inject('database') !== 'postgres')

/** How soon work must begin whose fetch was lost: it is noticed at once, or at the next comparison with the rows. */
const SOON = { timeout: 10_000, interval: 50 }

/** A server whose database is behind a proxy. `lose` does something to the next answer in which jobs about `id` are handed to it. */
async function open() {
  const database = await openTestDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const { hostname: host, port } = new URL(database.url)
  const proxy = await openFaultProxy({ host, port: Number(port) })
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  const all = await openSeveralServers({
    databaseUrl: throughProxy(database.url, proxy),
    speak: (heard: BrainCall) =>
      heard.about === 'tool' && heard.results === 0 ? { calls: [call('a', 'unkeyed', 'x')] } : { text: 'Here I am.' },
    answer: () => ({ status: 200, body: { id: 6 } }),
  })
  onTestFinished(() => all[Symbol.asyncDispose]())
  const { admin } = await all.start()
  let lost = 0
  return {
    all,
    admin,
    proxy,
    lost: () => lost,
    lose(verdict: Verdict, isMeant: (answer: Buffer) => boolean) {
      proxy.onAnswer = (bytes) => {
        // Rows of jobs that were locked for a pool of this process.
        if (lost > 0 || (!bytes.includes('"pool-') && !bytes.includes('pool-')) || !isMeant(bytes)) return 'pass'
        lost++
        return verdict
      }
    },
  }
}

async function propose({ admin }: Awaited<ReturnType<typeof open>>): Promise<string> {
  const { id } = await admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'x' } })
  return id
}

onPostgres('an approved action is carried out once when the connection breaks at the answer to the job fetch', async () => {
  const world = await open()
  const id = await propose(world)
  world.lose('cut-before', (bytes) => bytes.includes(id))
  await world.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  await expect.poll(() => world.all.target.writes.length, SOON).toBe(1)
  expect(world.lost()).toBe(1)
  expect(await world.admin.get(`/api/actions/${id}?wait=20&until=settled`)).toMatchObject({ state: 'succeeded', attempt: 1 })
  expect(world.all.target.writes).toHaveLength(1)
})

onPostgres('an approved action is carried out once when the database never answers the job fetch', async () => {
  const world = await open()
  const id = await propose(world)
  world.lose('hold', (bytes) => bytes.includes(id))
  await world.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  // The server gives the connection up after 15 seconds without an answer.
  await expect.poll(() => world.all.target.writes.length, { timeout: 30_000, interval: 50 }).toBe(1)
  expect(world.lost()).toBe(1)
  expect(await world.admin.get(`/api/actions/${id}?wait=20&until=settled`)).toMatchObject({ state: 'succeeded', attempt: 1 })
  expect(world.all.target.writes).toHaveLength(1)
})

onPostgres('a session goes on when the connection breaks at the answer to its job fetch', async () => {
  const world = await open()
  const { id } = await world.admin.post('/api/sessions', {})
  using stream = await world.admin.stream(`/api/sessions/${id}/events`)
  world.lose('cut-before', (bytes) => bytes.includes(id))
  await world.admin.post(`/api/sessions/${id}/messages`, { content: 'model' })
  await expect.poll(() => world.all.brain.calls.length, SOON).toBe(1)
  await stream.next('done')
  expect(world.lost()).toBe(1)
  expect(world.all.brain.calls).toHaveLength(1)
})

/** From now on Postgres drops each new job without a word; `keep` ends that. */
async function dropJobs({ all }: Awaited<ReturnType<typeof open>>): Promise<{ keep(): Promise<void> }> {
  await all.sql(`create function drop_job() returns trigger language plpgsql as 'begin return null; end'`)
  await all.sql('create trigger drop_job before insert on graphile_worker._private_jobs for each row execute function drop_job()')
  return { keep: async () => void (await all.sql('drop trigger drop_job on graphile_worker._private_jobs')) }
}

onPostgres('an approved action whose job is not there gets a new one and is carried out once', async () => {
  const world = await open()
  const id = await propose(world)
  const jobs = await dropJobs(world)
  await world.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  await jobs.keep()
  expect(await world.all.sql(`select id from graphile_worker._private_jobs where payload ->> 'id' = $1`, [id])).toEqual([])
  await expect.poll(() => world.all.target.writes.length, SOON).toBe(1)
  expect(await world.admin.get(`/api/actions/${id}?wait=20&until=settled`)).toMatchObject({ state: 'succeeded', attempt: 1 })
  expect(world.all.target.writes).toHaveLength(1)
  const { text } = await world.admin.send('GET', '/metrics')
  expect(text).toContain('countersign_reconciled_total{reason="missing"} 1\n')
})

onPostgres('a session that calls for work and that nobody takes up for 10 s is an alarm, which ends by itself', async () => {
  const world = await open()
  const { admin } = world
  const { id } = await admin.post('/api/sessions', {})
  using stream = await admin.stream(`/api/sessions/${id}/events`)
  const jobs = await dropJobs(world)
  const since = Date.now()
  await admin.post(`/api/sessions/${id}/messages`, { content: 'model' })
  const readiness = async () => {
    const { status, body } = await admin.send('GET', '/readyz')
    return { status, overdue: body.overdueSessions }
  }
  await expect.poll(readiness, { timeout: 25_000, interval: 100 }).toEqual({ status: 503, overdue: 1 })
  expect(Date.now() - since).toBeGreaterThanOrEqual(9_000)
  expect((await admin.send('GET', '/metrics')).text).toContain('\ncountersign_overdue_sessions 1\n')
  expect(world.all.brain.calls).toHaveLength(0)

  await jobs.keep()
  await stream.next('done')
  expect(world.all.brain.calls).toHaveLength(1)
  await expect.poll(async () => (await readiness()).status, SOON).toBe(200)
})
