import { expect, onTestFinished, test } from 'vitest'
import { held, openJobCluster } from '../../../../../verification/testing/job-cluster.ts'
import { shortWaits } from '../../../../../verification/testing/short-waits.ts'
import { claims, enqueueJobs, thisMachine } from '../../store/index.ts'
import { openNotices } from './notices.ts'

const WITHIN = { interval: 10 }

const actionIn = (state: string, principal: string, session = '') => `insert into action (id, session_id, tool, effect, destination,
    definition_hash, arguments, digest, description, risk, state, policy, requires, requested_by, executor, idempotency_key, created_at, updated_at)
  values ('act_a', nullif('${session}', ''), 't', 'write', 'local', '', '{}', '', '', '{}', '${state}', '{}', '{}', '${principal}', 'server', 'k', 1, 1)`

test('a job stands or falls with its transaction, and nobody is notified by it', async () => {
  const { start, store, call, sql, heard } = await openJobCluster()
  const begun: string[] = []
  const { dispatch } = await start({
    execute: async (id) => void begun.push(id),
  })
  await sql('listen "jobs:insert"')
  await expect(
    store.transact(function* (outbox) {
      outbox.actions.add('act_undone')
      yield* enqueueJobs(outbox)
      throw new Error('on second thoughts')
    }),
  ).rejects.toThrow('on second thoughts')
  await call({ actions: ['act_done'] })
  dispatch.lookForJobs()
  await expect.poll(() => begun, WITHIN).toEqual(['act_done'])
  await dispatch.idle()
  await sql(`select pg_notify('jobs:insert', 'from here')`)
  await expect.poll(() => heard, WITHIN).toEqual(['from here'])
})

test('a session that is called for while its job is being taken gets another one', async () => {
  const { call, start, sql } = await openJobCluster()
  const { begun, gates, run } = held()
  await call({ sessions: ['ses_a'] })
  await call({ sessions: ['ses_a'] })
  // Counted before anybody is there: the second one ends at once where the loop of the first runs.
  expect(await sql('select count(*)::int as jobs from graphile_worker.jobs')).toEqual([{ jobs: 2 }])
  const { dispatch } = await start({ advance: run })
  dispatch.lookForJobs()
  await expect.poll(() => begun, WITHIN).toEqual(['ses_a'])
  gates[0]?.resolve()
  // A process runs one loop per session: the second job makes the first loop look once more.
  await expect.poll(() => begun, WITHIN).toEqual(['ses_a', 'ses_a'])
  gates[1]?.resolve()
  await dispatch.idle()
  expect(begun).toHaveLength(2)
})

test('what fails is tried again, and what failed too often is put up again as long as its rows call for it', async () => {
  const { call, start, sql } = await openJobCluster()
  let attempts = 0
  const execute = async () => {
    if (++attempts < 3) throw new Error('not yet')
  }
  // It does not look by itself every two seconds: however late this test is, nobody has tried again by then.
  const { dispatch, processes } = await start({ execute }, { advance: 4, execute: 4 }, shortWaits(2_000))
  await call({ actions: ['act_a'] })
  dispatch.lookForJobs()
  await expect.poll(() => attempts, WITHIN).toBe(1)
  const failed = () =>
    sql(`update graphile_worker._private_jobs set run_at = now(), max_attempts = 1 where locked_at is null returning attempts`)
  await expect.poll(failed, WITHIN).toEqual([{ attempts: 1 }])
  dispatch.lookForJobs()
  await dispatch.idle()
  expect(attempts).toBe(1)

  await sql(`insert into principal (id, kind, name, roles, created_at) values ('prn_ana', 'person', 'Ana', '[]', 1)`)
  await sql(actionIn('approved', 'prn_ana'))
  expect(await claims.enqueueWork(processes.connection)).toBe(1)
  dispatch.lookForJobs()
  await expect.poll(() => attempts, WITHIN).toBe(2)
  await expect.poll(failed, WITHIN).toEqual([{ attempts: 1 }, { attempts: 1 }])
  await Promise.all([claims.enqueueWork(processes.connection), claims.enqueueWork(processes.connection)])
  dispatch.lookForJobs()
  await expect.poll(() => attempts, WITHIN).toBe(3)
  await dispatch.idle()
  expect(attempts).toBe(3)
})

test('what one process has no room for is done by another', async () => {
  const { url, call, start } = await openJobCluster()
  const told: boolean[] = []
  const listener = await openNotices(url, thisMachine)
  onTestFinished(() => listener[Symbol.asyncDispose]())
  // Those of processes that join name no jobs.
  listener.onNotice(({ jobs }) => jobs && told.push(jobs))
  const [busy, idle] = [held(), held()]
  const first = await start({ advance: busy.run, execute: busy.run }, { advance: 1, execute: 1 })
  await call({ sessions: ['ses_a'] })
  first.dispatch.take({ sessions: new Set(['ses_a']), actions: new Set() })
  await expect.poll(() => busy.begun, WITHIN).toEqual(['ses_a'])
  // A session that waits for its model does not keep an action from execution.
  await call({ actions: ['act_a'] })
  first.dispatch.take({ sessions: new Set(), actions: new Set(['act_a']) })
  await expect.poll(() => busy.begun, WITHIN).toEqual(['ses_a', 'act_a'])
  // Only now a second process starts, which would take the action as well.
  await start({ advance: idle.run })
  await call({ sessions: ['ses_b'] })
  first.dispatch.take({ sessions: new Set(['ses_b']), actions: new Set() })
  await expect.poll(() => told, WITHIN).toContain(true)
  await expect.poll(() => idle.begun, WITHIN).toEqual(['ses_b'])
  for (const gate of [...busy.gates, ...idle.gates]) gate.resolve()
})

test('it goes on by itself when its connections break, also between a job and its end', async () => {
  const { call, start, sql } = await openJobCluster()
  const { begun, gates, run } = held()
  const { dispatch } = await start({ execute: run })
  await call({ actions: ['act_a'] })
  dispatch.lookForJobs()
  await expect.poll(() => begun, WITHIN).toEqual(['act_a'])
  const cut = () =>
    sql(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'countersign jobs'
    and datname = current_database()`)
  // Nothing can record that the job has ended. A lock of the table would hold up a fetch as well, which says nothing about the job.
  await sql('begin; select 1 from graphile_worker._private_jobs for update')
  gates[0]?.resolve()
  await expect
    .poll(() => sql('select 1 from pg_locks where not granted and transactionid = pg_current_xact_id()::xid'), WITHIN)
    .not.toEqual([])
  await cut()
  await sql('commit')
  // The job is not recorded as done, so it runs again; repeating it is harmless.
  await expect.poll(() => begun, WITHIN).toEqual(['act_a', 'act_a'])
  gates[1]?.resolve()
  await cut()
  await call({ actions: ['act_b'] })
  dispatch.lookForJobs()
  await expect.poll(() => begun.includes('act_b'), WITHIN).toBe(true)
  for (const gate of gates) gate.resolve()
  await dispatch.idle()
})

test('a process that stops gives back what it had not begun, and what it had begun once more', async () => {
  const { call, start, sql } = await openJobCluster()
  const { begun, gates, run } = held()
  const { dispatch } = await start({ execute: run }, { advance: 1, execute: 2 })
  await call({ actions: ['act_a', 'act_b', 'act_c', 'act_d'] })
  dispatch.lookForJobs()
  await expect.poll(() => begun.length, WITHIN).toBe(2)
  dispatch.stop()
  for (const gate of gates) gate.resolve()
  await dispatch.drained()
  expect(begun).toHaveLength(2)
  const left = await sql(`select payload ->> 'id' as id, locked_by from graphile_worker._private_jobs order by 1`)
  expect(left).toEqual(['act_a', 'act_b', 'act_c', 'act_d'].map((id) => ({ id, locked_by: null })))
})

test('work that is done when its job is found missing gets none', async () => {
  const { start, sql } = await openJobCluster()
  const { dispatch, processes } = await start({}, { advance: 0, execute: 0 })
  await sql(`insert into principal (id, kind, name, roles, created_at) values ('prn_a', 'person', 'Ana', '[]', 0)`)
  for (const [id, status] of [
    ['ses_done', 'waiting_approval'],
    ['ses_due', 'active'],
    ['ses_waits', 'waiting_approval'],
    ['ses_acts', 'active'],
  ])
    await sql(
      `insert into session (id, agent, title, status, owner_id, created_at, updated_at) values ($1, 'cluster', '', $2, 'prn_a', 0, 0)`,
      [id, status],
    )
  // A queued message of ses_waits waits for the run that is open, and the run of ses_acts for an action.
  for (const [session, run] of [
    ['ses_waits', 'run_a'],
    ['ses_due', 'run_b'],
    ['ses_acts', 'run_c'],
  ])
    await sql(`insert into run (session_id, number, id, state, created_at, updated_at) values ($1, 1, $2, 'open', 0, 0)`, [session, run])
  await sql(actionIn('executing', 'prn_a', 'ses_acts'))
  await sql(`insert into message (id, session_id, seq, role, kind, content, queued, in_history, created_at)
    values ('msg_a', 'ses_waits', 1, 'user', 'text', 'Go on', 1, 0, 0)`)
  expect(
    await claims.addMissingJobs(processes.connection, [
      { name: 'advance', id: 'ses_waits' },
      { name: 'advance', id: 'ses_acts' },
      { name: 'advance', id: 'ses_done' },
      { name: 'advance', id: 'ses_due' },
      { name: 'execute', id: 'act_gone' },
    ]),
  ).toBe(1)
  expect(await sql(`select payload ->> 'id' as id from graphile_worker._private_jobs`)).toEqual([{ id: 'ses_due' }])
  expect(await dispatch.reconcile({ sessions: ['ses_done', 'ses_due'], actions: [] })).toMatchObject({ enqueued: 0 })
})
