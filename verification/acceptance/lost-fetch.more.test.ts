import { expect, inject, onTestFinished, test } from 'vitest'
import { openFaultProxy, throughProxy, type Verdict } from '../testing/fault-proxy.ts'
import type { BrainCall } from '../testing/live-brain.ts'
import { openSeveralServers } from '../testing/several-servers.ts'
import { openTestDatabase } from '../testing/test-database.ts'

const onPostgres = test.skipIf(inject('database') !== 'postgres')

/** How soon a job starts whose fetch was lost: the server notices at once, or at its next comparison with the rows. */
const SOON = { interval: 50 }

/**
 * Starts a server that runs one action and one model call at a time, with its database behind a proxy. A server with room starts the work of
 * its own transactions without a fetch; here an action and a session are under way until `makeRoom`, so everything else is fetched.
 * `lose` applies a verdict to the next answer that hands out the matching jobs.
 */
async function openBusy() {
  const database = await openTestDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const { hostname: host, port } = new URL(database.url)
  const proxy = await openFaultProxy({ host, port: Number(port) })
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  const room = Promise.withResolvers<void>()
  const all = await openSeveralServers({
    databaseUrl: throughProxy(database.url, proxy),
    environment: { COUNTERSIGN_MAX_EXECUTIONS: '1', COUNTERSIGN_MAX_MODEL_CALLS: '1' },
    async speak({ about }: BrainCall) {
      if (about === 'first') await room.promise
      return { text: 'Here I am.' }
    },
    async answer({ body }) {
      if ((body as { what: string }).what === 'first') await room.promise
      return { status: 200, body: { id: 6 } }
    },
  })
  onTestFinished(() => all[Symbol.asyncDispose]())
  onTestFinished(() => room.resolve())
  const { admin } = await all.start()
  let lost = 0
  const world = {
    all,
    admin,
    lost: () => lost,
    makeRoom: () => room.resolve(),
    lose: (verdict: Verdict, isMeant: (answer: Buffer) => boolean) => world.loseUntil(() => lost > 0, verdict, isMeant),
    loseUntil(isOver: () => boolean, verdict: Verdict, isMeant: (answer: Buffer) => boolean) {
      proxy.onAnswer = (bytes) => {
        // Matches job rows that are locked for a pool of this process.
        if (isOver() || (!bytes.includes('"pool-') && !bytes.includes('pool-')) || !isMeant(bytes)) return 'pass'
        lost++
        return verdict
      }
    },
    async propose(what: string): Promise<string> {
      const { id } = await admin.post('/api/actions', { tool: 'unkeyed', arguments: { what } })
      return id
    },
    approve: (id: string) => admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' }),
    async say(content: string): Promise<string> {
      const { id } = await admin.post('/api/sessions', {})
      await admin.post(`/api/sessions/${id}/messages`, { content })
      return id
    },
  }
  const first = await world.propose('first')
  // After a grace period it starts from a job, and so takes the room for jobs. Without one it would start with its decision.
  await admin.post(`/api/actions/${first}/decision`, { verdict: 'approve', startAfter: 'PT1S' })
  await world.say('first')
  await expect.poll(() => [all.target.writes.length, all.brain.calls.length], SOON).toEqual([1, 1])
  return { ...world, first }
}

type Busy = Awaited<ReturnType<typeof openBusy>>

/** Approves a second action while the first is under way. */
async function approveSecond(world: Busy, verdict: Verdict): Promise<string> {
  const id = await world.propose('second')
  world.lose(verdict, (bytes) => bytes.includes(id))
  await world.approve(id)
  world.makeRoom()
  return id
}

async function expectOnce({ all, admin }: Busy, id: string): Promise<void> {
  expect(await admin.get(`/api/actions/${id}?wait=60&until=settled`)).toMatchObject({ state: 'succeeded', attempt: 1 })
  expect(all.target.writes).toHaveLength(2)
}

onPostgres('an approved action is carried out once when the connection breaks at the answer to the job fetch', async () => {
  const world = await openBusy()
  const id = await approveSecond(world, 'cut-before')
  await expect.poll(() => world.all.target.writes.length, SOON).toBe(2)
  expect(world.lost()).toBe(1)
  await expectOnce(world, id)
})

onPostgres('an approved action is carried out once when the database never answers the job fetch', async () => {
  const world = await openBusy()
  const id = await approveSecond(world, 'hold')
  // The server gives up a connection after 15 seconds without an answer.
  await expect.poll(() => world.all.target.writes.length, { interval: 50 }).toBe(2)
  expect(world.lost()).toBe(1)
  await expectOnce(world, id)
})

onPostgres('an approved action whose job fetches are never answered is an alarm, which ends when one is', async () => {
  const world = await openBusy()
  const { admin } = world
  let isAnswered = false
  const id = await world.propose('second')
  world.loseUntil(
    () => isAnswered,
    'hold',
    (bytes) => bytes.includes(id),
  )
  await world.approve(id)
  world.makeRoom()
  const readiness = async () => {
    const { status, body } = await admin.send('GET', '/readyz')
    return { status, overdue: body.overdueActions }
  }
  // The server gives up a fetch after 15 s, and fetches again: there is no alarm for the moment in between.
  const alarm = async () => [await readiness(), /^countersign_overdue_actions \d+$/m.exec((await admin.send('GET', '/metrics')).text)?.[0]]
  await expect.poll(alarm, { interval: 100 }).toEqual([{ status: 503, overdue: 1 }, 'countersign_overdue_actions 1'])
  expect(world.lost()).toBeGreaterThan(0)
  expect(world.all.target.writes).toHaveLength(1)
  isAnswered = true
  await expectOnce(world, id)
  await expect.poll(async () => (await readiness()).status, SOON).toBe(200)
})

onPostgres('a session goes on when the connection breaks at the answer to its job fetch', async () => {
  const world = await openBusy()
  const { id } = await world.admin.post('/api/sessions', {})
  using stream = await world.admin.stream(`/api/sessions/${id}/events`)
  world.lose('cut-before', (bytes) => bytes.includes(id))
  await world.admin.post(`/api/sessions/${id}/messages`, { content: 'second' })
  world.makeRoom()
  await expect.poll(() => world.all.brain.calls.length, SOON).toBe(2)
  await stream.next('done')
  expect(world.lost()).toBe(1)
  expect(world.all.brain.calls).toHaveLength(2)
})

/** Makes Postgres drop each new job silently; `keep` ends that. */
async function dropJobs({ all }: Busy): Promise<{ keep(): Promise<void> }> {
  await all.sql(`create function drop_job() returns trigger language plpgsql as 'begin return null; end'`)
  await all.sql('create trigger drop_job before insert on graphile_worker._private_jobs for each row execute function drop_job()')
  return { keep: async () => void (await all.sql('drop trigger drop_job on graphile_worker._private_jobs')) }
}

const jobsOf = ({ all }: Busy, id: string) => all.sql(`select id from graphile_worker._private_jobs where payload ->> 'id' = $1`, [id])

onPostgres('an approved action whose job is not there gets a new one and is carried out once', async () => {
  const world = await openBusy()
  const jobs = await dropJobs(world)
  const id = await world.propose('second')
  await world.approve(id)
  expect(await jobsOf(world, id)).toEqual([])
  await jobs.keep()
  world.makeRoom()
  await expect.poll(() => world.all.target.writes.length, SOON).toBe(2)
  await expectOnce(world, id)
  const { text } = await world.admin.send('GET', '/metrics')
  // More than 1 where the server also looked while new jobs were dropped.
  expect(text).toMatch(/^countersign_reconciled_total\{reason="missing"\} [1-9]\d*$/m)
})

onPostgres('a server with room carries out an action once although its job is not there', async () => {
  const world = await openBusy()
  world.makeRoom()
  await world.admin.get(`/api/actions/${world.first}?wait=60&until=settled`)
  await dropJobs(world)
  const id = await world.propose('second')
  await world.approve(id)
  expect(await jobsOf(world, id)).toEqual([])
  await expectOnce(world, id)
})

onPostgres('a session that calls for work and that nobody takes up for 10 s is an alarm, which ends by itself', async () => {
  const world = await openBusy()
  const { admin } = world
  const { id } = await admin.post('/api/sessions', {})
  using stream = await admin.stream(`/api/sessions/${id}/events`)
  const jobs = await dropJobs(world)
  const since = Date.now()
  await admin.post(`/api/sessions/${id}/messages`, { content: 'second' })
  world.makeRoom()
  const readiness = async () => {
    const { status, body } = await admin.send('GET', '/readyz')
    return { status, overdue: body.overdueSessions }
  }
  await expect.poll(readiness, { interval: 100 }).toEqual({ status: 503, overdue: 1 })
  expect(Date.now() - since).toBeGreaterThanOrEqual(9_000)
  expect((await admin.send('GET', '/metrics')).text).toContain('\ncountersign_overdue_sessions 1\n')
  expect(world.all.brain.calls).toHaveLength(1)

  await jobs.keep()
  await stream.next('done')
  expect(world.all.brain.calls).toHaveLength(2)
  await expect.poll(async () => (await readiness()).status, SOON).toBe(200)
})
