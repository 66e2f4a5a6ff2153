import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import { expect, inject, test } from 'vitest'
import type { Database } from '../../packages/server/src/store/index.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

/** The alarm comes 10 s after an action was due; the comparison runs every 3 s. */
const ALARM = { interval: 100 }

/** Runs SQL beside the server. */
async function runBeside(database: Database, sql: { sqlite: string; postgres: string }): Promise<void> {
  if (database.kind === 'sqlite') {
    const db = new DatabaseSync(join(database.dataDir, 'countersign.db'), { timeout: 240_000 })
    db.exec(sql.sqlite)
    db.close()
    return
  }
  const client = new Client({ connectionString: database.url })
  await client.connect()
  await client.query(sql.postgres)
  await client.end()
}

/** Makes another program that can keep the server from writing this action: it holds its row, or on SQLite the whole file. */
async function openBlocker(database: Database, id: string) {
  if (database.kind === 'sqlite') {
    const db = new DatabaseSync(join(database.dataDir, 'countersign.db'), { timeout: 240_000 })
    return { block: async () => db.exec('begin immediate'), release: async () => db.close() }
  }
  const client = new Client({ connectionString: database.url })
  await client.connect()
  await client.query('begin')
  return { block: () => client.query('select 1 from action where id = $1 for update', [id]), release: () => client.end() }
}

const REFUSE = {
  sqlite: `create trigger refuse_start before update on action when new.state = 'executing' begin select raise(abort, 'not now'); end`,
  postgres: `create function refuse_start() returns trigger language plpgsql as 'begin raise exception ''not now''; end';
    create trigger refuse_start before update on action for each row when (new.state = 'executing') execute function refuse_start()`,
}
const ALLOW = { sqlite: 'drop trigger refuse_start', postgres: 'drop trigger refuse_start on action' }

const readiness = async ({ admin }: TestServer) => {
  const { status, body } = await admin.send('GET', '/readyz')
  return { status, ...(status !== 200 && { code: body.code, overdue: body.overdueActions, detail: body.detail }) }
}

async function metrics({ admin }: TestServer): Promise<string> {
  const { headers, text } = await admin.send('GET', '/metrics')
  expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  return text
}

test('an approved action that cannot start is an alarm in log, metrics and readyz, and no alarm once it starts', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  await expect.poll(() => readiness(server), ALARM).toEqual({ status: 200 })
  expect(await metrics(server)).toContain('\ncountersign_overdue_actions 0\n')
  const { id } = await server.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'x' } })
  await runBeside(server.database, REFUSE)
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })

  await expect
    .poll(() => readiness(server), ALARM)
    .toEqual({
      status: 503,
      code: 'not_ready',
      overdue: 1,
      detail: '1 approved action has not started 10 seconds after its turn; the log names it',
    })
  const alarms = () => server.errors.filter((line) => line.includes('action.overdue'))
  expect(alarms().map((line) => JSON.parse(line).actionId)).toEqual([id])
  const text = await metrics(server)
  expect(text).toContain('\ncountersign_overdue_actions 1\n')
  expect(text).toContain('\ncountersign_actions{state="approved"} 1\n')
  expect(Number(/\ncountersign_overdue_actions_oldest_seconds (\S+)\n/.exec(text)?.[1])).toBeGreaterThanOrEqual(10)

  await runBeside(server.database, ALLOW)
  await expect.poll(() => readiness(server), ALARM).toEqual({ status: 200 })
  expect(await server.admin.get(`/api/actions/${id}?wait=60&until=settled`)).toMatchObject({ state: 'succeeded', attempt: 1 })
  expect(target.writes).toHaveLength(1)
  expect(alarms()).toHaveLength(1)
})

const alarmsOf = ({ errors }: TestServer) =>
  errors.filter((line) => line.includes('action.overdue')).map((line) => JSON.parse(line).actionId)

test('an action that cannot be written is overdue 10 seconds after its grace period, and starts once when it can', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const { admin } = server
  const { id, revision, digest } = await admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'x' } })
  const blocker = await openBlocker(server.database, id)
  await admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest, startAfter: 'PT5S' })
  await blocker.block()
  expect(await admin.get(`/api/actions/${id}`)).toMatchObject({ state: 'approved' })

  await expect.poll(() => alarmsOf(server), ALARM).toEqual([id])
  expect(await metrics(server)).toContain('\ncountersign_overdue_actions 1\n')
  expect((await readiness(server)).status).toBe(503)

  await blocker.release()
  expect(await admin.get(`/api/actions/${id}?wait=60&until=settled`)).toMatchObject({ state: 'succeeded', attempt: 1 })
  await expect.poll(() => readiness(server), ALARM).toEqual({ status: 200 })
  expect(target.writes).toHaveLength(1)
  expect(alarmsOf(server)).toEqual([id])
})

test.skipIf(inject('database') !== 'postgres')(
  'an action whose row is locked is overdue 10 seconds after it got its slot, not before',
  async () => {
    const held = Promise.withResolvers<void>()
    await using target = await startTarget(async ({ body }) => {
      if ((body as { what: string }).what === 'first') await held.promise
      return { status: 200, body: { id: 1 } }
    })
    await using server = await startTestServer({
      config: { tools: toolsOf(target) },
      environment: { COUNTERSIGN_MAX_EXECUTIONS: '1' },
    })
    const approve = async (what: string): Promise<string> => {
      const { id } = await server.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what } })
      await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
      return id
    }
    await approve('first')
    await expect.poll(() => target.writes.length, ALARM).toBe(1)
    const id = await approve('second')
    const blocker = await openBlocker(server.database, id)
    await blocker.block()
    // Waits longer than the alarm takes, by the server's own clock.
    const since = Date.now()
    await expect.poll(() => Date.now() - since, { interval: 500 }).toBeGreaterThan(15_000)
    expect([await readiness(server), alarmsOf(server)]).toEqual([{ status: 200 }, []])

    const freedMs = Date.now()
    held.resolve()
    await expect.poll(() => readiness(server), ALARM).toMatchObject({ status: 503, overdue: 1 })
    expect(alarmsOf(server)).toEqual([id])
    expect(JSON.parse(server.errors.find((line) => line.includes('action.overdue')) ?? '{}').waitedMs).toBeLessThanOrEqual(
      Date.now() - freedMs,
    )

    await blocker.release()
    await expect.poll(() => readiness(server), ALARM).toEqual({ status: 200 })
    expect(await server.admin.get(`/api/actions/${id}?wait=60&until=settled`)).toMatchObject({ state: 'succeeded', attempt: 1 })
    expect(target.writes).toHaveLength(2)
  },
)

test('an action that can neither start nor be marked as failed is told once and keeps nobody from being ready', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const { id } = await server.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'x' } })
  await runBeside(server.database, REFUSE)
  await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  await expect.poll(async () => (await readiness(server)).status, ALARM).toBe(503)
  const givenUp = () => server.errors.some((line) => line.includes('action.start_abandoned'))
  await expect.poll(givenUp, { interval: 200 }).toBe(true)
  await expect.poll(async () => (await readiness(server)).status, { interval: 200 }).toBe(200)
  expect(target.writes).toHaveLength(0)
})

test('an action that waits for a concurrency limit is not overdue', async () => {
  const held = Promise.withResolvers<void>()
  await using target = await startTarget(async () => {
    await held.promise
    return { status: 200, body: { id: 1 } }
  })
  await using server = await startTestServer({
    config: { tools: toolsOf(target) },
    environment: { COUNTERSIGN_MAX_EXECUTIONS: '2' },
  })
  const ids = await Promise.all(
    ['a', 'b', 'c', 'd'].map(async (what) => (await server.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what } })).id),
  )
  for (const id of ids) await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  await expect.poll(() => target.writes.length, ALARM).toBe(1)
  // One tool gets half of the limit: one of the four actions runs, and three wait.
  await expect.poll(() => metrics(server), { interval: 100 }).toContain('\ncountersign_jobs_waiting 3\n')
  // Waits longer than the alarm takes, by the server's own clock.
  const since = Date.now()
  await expect.poll(() => Date.now() - since, { interval: 500 }).toBeGreaterThan(15_000)
  // An action that was overdue would stay so, because it goes on waiting.
  await expect.poll(() => readiness(server), ALARM).toEqual({ status: 200 })
  const { items } = await server.admin.get('/api/actions?state=approved')
  expect(items).not.toEqual([])
  expect(server.errors.filter((line) => line.includes('action.overdue'))).toEqual([])
  held.resolve()
  await server.settle()
  expect(await metrics(server)).toContain('\ncountersign_jobs_waiting 0\n')
})
