import { expect, test, vi } from 'vitest'
import { countStatements } from '../../../../../verification/testing/count-cost.ts'
import { held, type JobCluster, openJobCluster } from '../../../../../verification/testing/job-cluster.ts'
import { stillClock } from '../../../../../verification/testing/shifted-clock.ts'
import { shortWaits } from '../../../../../verification/testing/short-waits.ts'
import { writeSession } from '../../gate/index.ts'
import { claims, type RunRow } from '../../store/index.ts'
import { UNUSED_MS } from './job-pool.ts'

const WITHIN = { interval: 10 }
const JOBS = `select payload ->> 'id' as id, locked_by, attempts from graphile_worker._private_jobs order by 1`

test('a process with room starts the work of its commits without a fetch, and its jobs are locked for it until they are done', async () => {
  const { call, start, sql } = await openJobCluster({ holds: true })
  const { begun, gates, run } = held()
  const { dispatch } = await start({ advance: run, execute: run })
  await call({ sessions: ['ses_a'], actions: ['act_a'] })
  await expect.poll(() => begun, WITHIN).toEqual(['act_a', 'ses_a'])
  const locked_by = expect.stringMatching(/^commit-/)
  expect(await sql(JOBS)).toEqual([
    { id: 'act_a', locked_by, attempts: 1 },
    { id: 'ses_a', locked_by, attempts: 1 },
  ])
  const [holders] = await sql('select pools from process')
  expect(JSON.parse(String(holders?.pools))).toContainEqual(locked_by)
  for (const gate of gates) gate.resolve()
  await dispatch.idle()
  expect(await sql(JOBS)).toEqual([])
})

test('a process without room leaves the work of its commits to the others', async () => {
  const { call, start, sql } = await openJobCluster({ holds: true })
  const { begun, gates, run } = held()
  const { dispatch } = await start({ execute: run }, { advance: 1, execute: 2 })
  await call({ actions: ['act_a', 'act_b'] })
  await expect.poll(() => begun, WITHIN).toEqual(['act_a', 'act_b'])
  await call({ actions: ['act_c'] })
  // The first fetch of its pool may bring it, and it is given back.
  await expect.poll(async () => (await sql(JOBS)).at(-1), WITHIN).toEqual({ id: 'act_c', locked_by: null, attempts: 0 })
  expect(begun).toEqual(['act_a', 'act_b'])
  // With nobody else there, it takes the job as soon as it has room.
  gates[0]?.resolve()
  await expect.poll(() => begun, WITHIN).toEqual(['act_a', 'act_b', 'act_c'])
  for (const gate of gates) gate.resolve()
  await dispatch.idle()
})

test('a process without a sign of life fetches nothing, and looks for jobs as soon as it has one again', async () => {
  const { call, start, sql } = await openJobCluster({ holds: true })
  const { begun, gates, run } = held()
  const { dispatch, processes } = await start({ execute: run })
  const again = Promise.withResolvers<void>()
  let isAlive = false
  const whenAlive = vi.spyOn(processes, 'whenAlive').mockReturnValue(again.promise)
  vi.spyOn(processes, 'isAlive', 'get').mockImplementation(() => isAlive)
  await call({ actions: ['act_a'] })
  // A wait of another kind is asked for after the fetch would have been.
  await expect.poll(() => whenAlive.mock.calls.length, WITHIN).toBeGreaterThan(0)
  dispatch.lookForJobs()
  expect(await sql(JOBS)).toEqual([{ id: 'act_a', locked_by: null, attempts: 0 }])
  isAlive = true
  again.resolve()
  await expect.poll(() => begun, WITHIN).toEqual(['act_a'])
  for (const gate of gates) gate.resolve()
  await dispatch.idle()
})

test('a process without room gives back what it fetched, and begins it when there is room', async () => {
  const { call, start, sql } = await openJobCluster({ holds: true })
  const { begun, gates, run } = held()
  const { dispatch } = await start({ execute: run }, { advance: 1, execute: 2 })
  await call({ actions: ['act_a', 'act_b'] })
  await expect.poll(() => begun, WITHIN).toEqual(['act_a', 'act_b'])
  // The worker library announces a job that is added in its own way, and its pool fetches at once.
  const [added] = await sql(`select id from graphile_worker.add_job('execute', '{"id": "act_c"}')`)
  // A job that is given back is a new one.
  const isBack = async () =>
    begun.length > 2 || (await sql('select 1 from graphile_worker._private_jobs where id = $1', [added?.id])).length === 0
  await expect.poll(isBack, WITHIN).toBe(true)
  expect(begun).toEqual(['act_a', 'act_b'])
  // A fetch that is still on its way may bring it once more.
  await expect.poll(async () => (await sql(JOBS)).at(-1), WITHIN).toEqual({ id: 'act_c', locked_by: null, attempts: 0 })
  gates[0]?.resolve()
  await expect.poll(() => begun, WITHIN).toEqual(['act_a', 'act_b', 'act_c'])
  for (const gate of gates) gate.resolve()
  await dispatch.idle()
})

test('a step that is being made stays claimed when another job of its session is given back', async () => {
  const { call, start, sql } = await openJobCluster({ holds: true })
  const { begun, run } = held()
  const { processes } = await start({ advance: run }, { advance: 1, execute: 1 })
  await insertClaimedStep(sql, processes.id)
  await call({ sessions: ['ses_a'] })
  await expect.poll(() => begun, WITHIN).toEqual(['ses_a'])
  const [added] = await sql(`select id from graphile_worker.add_job('advance', '{"id": "ses_a"}')`)
  const isBack = async () => (await sql('select 1 from graphile_worker._private_jobs where id = $1', [added?.id])).length === 0
  await expect.poll(isBack, WITHIN).toBe(true)
  expect(await sql('select runner, claimed from run')).toEqual([{ runner: processes.id, claimed: '0' }])
})

test('a job that was fetched without room begins when a job ends soon', async () => {
  const { call, start, sql } = await openJobCluster({ holds: true })
  const { begun, gates, run } = held()
  // However slow the machine is, the wait for room does not end before the job in front of it.
  const { dispatch } = await start({ execute: run }, { advance: 1, execute: 1 }, shortWaits(UNUSED_MS))
  await call({ actions: ['act_a'] })
  await expect.poll(() => begun, WITHIN).toEqual(['act_a'])
  await sql(`select graphile_worker.add_job('execute', '{"id": "act_b"}')`)
  const isFetched = async () =>
    (await sql(`select 1 from graphile_worker._private_jobs where attempts = 1 and payload ->> 'id' = 'act_b'`)).length === 1
  await expect.poll(isFetched, WITHIN).toBe(true)
  expect(begun).toEqual(['act_a'])
  gates[0]?.resolve()
  await expect.poll(() => begun, WITHIN).toEqual(['act_a', 'act_b'])
  for (const gate of gates) gate.resolve()
  await dispatch.idle()
})

test('the work of a commit whose answer was lost is begun by some process', async () => {
  const { call, start, sql } = await openJobCluster({ holds: true })
  const { begun, gates, run } = held()
  const { dispatch } = await start({ execute: run })
  await call({ actions: ['act_a'] })
  await expect.poll(() => begun, WITHIN).toEqual(['act_a'])
  // As the transaction would have left it, if its answer had not arrived: just now, however long this test takes.
  await sql(`insert into graphile_worker._private_jobs (task_id, payload, key, locked_by, locked_at, attempts)
    select task_id, '{"id": "act_lost"}', key || '0', locked_by, now() + interval '1 hour', attempts from graphile_worker._private_jobs`)
  await dispatch.reconcile({ sessions: [], actions: [] })
  expect(await sql(JOBS)).toMatchObject([{ id: 'act_a' }, { id: 'act_lost', locked_by: expect.any(String) }])
  await sql(`update graphile_worker._private_jobs set locked_at = locked_at - interval '1 hour 2 seconds'`)
  expect(await dispatch.reconcile({ sessions: [], actions: [] })).toMatchObject({ unlocked: 1 })
  await expect.poll(() => begun, WITHIN).toEqual(['act_a', 'act_lost'])
  for (const gate of gates) gate.resolve()
  await dispatch.idle()
})

/** Begins a run of a new session in a transaction that calls for its first step, and returns who has the step. */
async function beginRun({ store, sql }: Pick<JobCluster, 'store' | 'sql'>): Promise<() => Promise<unknown>> {
  await insertSession(sql, 'idle')
  await store.transact(function* (outbox) {
    const writer = yield* writeSession(outbox, 'ses_a', 1)
    yield* writer.beginRun('run_a')
    outbox.sessions.add('ses_a')
    yield* writer.finish()
  })
  return async () => (await sql('select runner, claimed from run'))[0]
}

const NOBODYS = { runner: null, claimed: null }

test('a step that becomes due where there is room is claimed with the commit, and made without another claim', async () => {
  const cluster = await openJobCluster({ holds: true })
  const { begun, gates, run } = held()
  // A claim of more than a second ago is asked about again.
  const { dispatch, processes } = await cluster.start({ advance: run }, { advance: 4, execute: 4 }, stillClock())
  const claim = await beginRun(cluster)
  await expect.poll(() => begun, WITHIN).toEqual(['ses_a'])
  expect(await claim()).toEqual({ runner: processes.id, claimed: '0' })
  using counted = countStatements()
  const step = { session_id: 'ses_a', id: 'run_a', steps: 0 } as RunRow
  expect(await dispatch.claimStep(step)).toBe(true)
  expect(counted.sent.filter((text) => /update run/.test(text))).toEqual([])
  for (const gate of gates) gate.resolve()
  await dispatch.idle()
  expect(await claim(), 'it is made').toEqual({ runner: processes.id, claimed: '0' })
})

test('a step that was claimed with the commit and is not made is anybody’s again', async () => {
  const cluster = await openJobCluster({ holds: true })
  const { begun, gates, run } = held()
  const { dispatch } = await cluster.start({ advance: run })
  const claim = await beginRun(cluster)
  await expect.poll(() => begun, WITHIN).toEqual(['ses_a'])
  gates[0]?.resolve()
  await expect.poll(claim, WITHIN).toEqual(NOBODYS)
  await expect.poll(() => begun, WITHIN).toEqual(['ses_a', 'ses_a'])
  gates[1]?.resolve()
  await dispatch.idle()
})

test('a step that becomes due while the loop of its session runs is made by that loop', async () => {
  const cluster = await openJobCluster({ holds: true })
  const { begun, gates, run } = held()
  const { dispatch, processes } = await cluster.start({ advance: run })
  await cluster.call({ sessions: ['ses_a'] })
  await expect.poll(() => begun, WITHIN).toEqual(['ses_a'])
  const claim = await beginRun(cluster)
  // The job of another commit has ended by then, and with it whatever the one before has given back.
  await cluster.call({ sessions: ['ses_b'] })
  await expect.poll(() => begun, WITHIN).toEqual(['ses_a', 'ses_b'])
  gates[1]?.resolve()
  await expect.poll(async () => (await cluster.sql(JOBS)).map(({ id }) => id), WITHIN).not.toContain('ses_b')
  expect(await claim()).toEqual({ runner: processes.id, claimed: '0' })
  gates[0]?.resolve()
  await expect.poll(() => begun, WITHIN).toEqual(['ses_a', 'ses_b', 'ses_a'])
  expect(await dispatch.claimStep({ session_id: 'ses_a', id: 'run_a', steps: 0 } as RunRow)).toBe(true)
  gates[2]?.resolve()
  await dispatch.idle()
  expect(await claim()).toEqual({ runner: processes.id, claimed: '0' })
  expect(begun).toHaveLength(3)
})

test('a step whose commit was not answered is anybody’s again', async () => {
  const cluster = await openJobCluster({ holds: true })
  const { sql } = cluster
  const { begun, gates, run } = held()
  const { dispatch, processes } = await cluster.start({ advance: run })
  await insertClaimedStep(sql, processes.id)
  await sql(`insert into graphile_worker._private_jobs (task_id, payload, key, locked_by, locked_at, attempts)
    select task.id, '{"id": "ses_a"}', pool || ':lost', pool, now() - interval '3 seconds', 1
    from graphile_worker._private_tasks as task, process, json_array_elements_text(pools::json) as pool
    where task.identifier = 'advance' and pool like 'commit-%'`)
  expect(await dispatch.reconcile({ sessions: [], actions: [] })).toMatchObject({ unlocked: 1 })
  expect(await sql('select runner, claimed from run')).toEqual([NOBODYS])
  await expect.poll(() => begun, WITHIN).toEqual(['ses_a'])
  for (const gate of gates) gate.resolve()
  await dispatch.idle()
})

test('a step that another process is making stays that one’s, whatever this one commits', async () => {
  const cluster = await openJobCluster({ holds: true })
  const { sql, store } = cluster
  const { begun, gates, run } = held()
  const { dispatch } = await cluster.start({ advance: run })
  await sql(`insert into process (id, name, version, pools, backend, started_at, seen_at) values ('prc_b', 'b', '1', '[]', 0, 0, 0)`)
  await insertClaimedStep(sql, 'prc_b')
  await store.transact(function* (outbox) {
    const writer = yield* writeSession(outbox, 'ses_a', 1)
    outbox.sessions.add('ses_a')
    yield* writer.finish()
  })
  await expect.poll(() => begun, WITHIN).toEqual(['ses_a'])
  const step = { session_id: 'ses_a', id: 'run_a', steps: 0 } as RunRow
  expect(await dispatch.claimStep(step)).toBe(false)
  gates[0]?.resolve()
  await dispatch.drained()
  expect(await sql('select runner, claimed from run')).toEqual([{ runner: 'prc_b', claimed: '0' }])
  await sql(`delete from process where id = 'prc_b'`)
  expect(await dispatch.claimStep(step), 'a process that nobody knows makes no step').toBe(true)
})

test('a process that is thought dead does not end a job that another process has by then', async () => {
  const { call, start, sql } = await openJobCluster({ holds: true })
  const { begun, gates, run } = held()
  const { dispatch } = await start({ execute: run })
  await call({ actions: ['act_a'] })
  await expect.poll(() => begun, WITHIN).toEqual(['act_a'])
  await sql(`update graphile_worker._private_jobs set locked_by = 'another'`)
  gates[0]?.resolve()
  await dispatch.drained()
  expect(await sql(JOBS)).toEqual([{ id: 'act_a', locked_by: 'another', attempts: 1 }])
})

test('work that fails is tried again after a pause, by any process', async () => {
  const { call, start, sql } = await openJobCluster({ holds: true })
  let attempts = 0
  const execute = async () => {
    if (++attempts === 1) throw new Error('not yet')
  }
  // It does not look by itself every two seconds: however late this test is, nobody has tried again by then.
  const { dispatch } = await start({ execute }, { advance: 4, execute: 4 }, shortWaits(2_000))
  await call({ actions: ['act_a'] })
  await dispatch.drained()
  expect(
    await sql(
      `select attempts, locked_by, last_error, run_at > created_at + interval '2 seconds' as later from graphile_worker._private_jobs`,
    ),
  ).toEqual([{ attempts: 1, locked_by: null, last_error: 'Error: not yet', later: true }])
  await sql('update graphile_worker._private_jobs set run_at = now()')
  dispatch.lookForJobs()
  await expect.poll(() => attempts, WITHIN).toBe(2)
  await dispatch.idle()
})

test('a process that stops hands over what it committed and had not begun', async () => {
  const { call, start, sql } = await openJobCluster({ holds: true })
  const { begun, gates, run } = held()
  const { dispatch } = await start({ execute: run })
  await call({ actions: ['act_a'] })
  await expect.poll(() => begun, WITHIN).toEqual(['act_a'])
  dispatch.stop()
  await call({ actions: ['act_b'] })
  gates[0]?.resolve()
  await dispatch.drained()
  expect(await sql(JOBS)).toMatchObject([
    { id: 'act_a', locked_by: null },
    { id: 'act_b', locked_by: null },
  ])
})

test('a session whose step a process is making is not overdue without a job', async () => {
  const { start, sql } = await openJobCluster()
  const { processes } = await start({}, { advance: 0, execute: 0 })
  await insertClaimedStep(sql, processes.id)
  expect(await claims.findJobs(processes.connection, ['ses_a'])).toEqual([{ id: 'ses_a', taken: true, failed: false }])
  await sql('update run set steps = 1')
  expect(await claims.findJobs(processes.connection, ['ses_a'])).toEqual([])
})

async function insertSession(sql: JobCluster['sql'], status: string): Promise<void> {
  await sql(`insert into principal (id, kind, name, roles, created_at) values ('prn_a', 'person', 'Ana', '[]', 0)`)
  await sql(
    `insert into session (id, agent, title, status, owner_id, created_at, updated_at) values ('ses_a', 'cluster', '', $1, 'prn_a', 0, 0)`,
    [status],
  )
}

/** Inserts a session with a run whose first step this process is making. */
async function insertClaimedStep(sql: JobCluster['sql'], processId: string): Promise<void> {
  await insertSession(sql, 'active')
  await sql(
    `insert into run (session_id, number, id, state, runner, claimed, created_at, updated_at) values ('ses_a', 1, 'run_a', 'open', $1, 0, 0, 0)`,
    [processId],
  )
}
