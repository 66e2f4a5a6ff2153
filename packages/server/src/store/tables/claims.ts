import { OPEN_STATES } from '@countersign/core'
import type { JobName } from './jobs.ts'
import type { OwnConnection } from './processes.ts'
import type { RunRow } from './session-rows.ts'
import type { SessionState } from './session-state.ts'

// Exactly these states in this order: a partial index serves them.
const OPEN = `(${OPEN_STATES.map((state) => `'${state}'`).join(', ')})`

/** True for a run whose next step no process is making. */
export const IS_UNCLAIMED = `(runner is null or claimed is distinct from steps
  or not exists (select 1 from process where process.id = run.runner))`

/** True while nothing is held. */
export const NOTHING_IS_HELD = 'not exists (select 1 from instance where held_at is not null or timeline <> countersign_timeline())'

const CLAIM = `update run set runner = $1, claimed = steps
  where session_id = $2 and state = 'open' and id = $3 and steps = $4 and (runner = $1 or ${IS_UNCLAIMED}) and ${NOTHING_IS_HELD}`

// Everything that is written to a session gets a number of its log or of its part of the record, except that somebody behind it is disabled.
const IS_AS_WRITTEN = `exists (select 1 from session where id = $2 and last_seq = $5 and audit_seq = $6 and deleted_at is null)
  and not exists (select 1 from principal join principal as person on person.id = coalesce(principal.person_id, principal.id)
    where principal.id = any($7) and person.disabled_at is not null)`

/**
 * Claims the next model call of a run for a process. Returns false when another process makes that call, or it has been made: one caller
 * per step, however many processes were woken. Returns false, too, while everything is held.
 * @param written The session as it must still be: false when anybody has written to it since, or a person behind it is disabled.
 */
export async function claimStep(
  connection: OwnConnection,
  processId: string,
  { session_id, id, steps }: RunRow,
  written?: SessionState,
): Promise<boolean> {
  const values = [processId, session_id, id, steps]
  const { rowCount } = await connection.query(
    written
      ? { name: 'step_claim_as_written', text: `${CLAIM} and ${IS_AS_WRITTEN}`, values: [...values, ...versionOf(written)] }
      : { name: 'step_claim', text: CLAIM, values },
  )
  return rowCount === 1
}

const versionOf = ({ session: { last_seq, audit_seq, owner_id }, authors }: SessionState) => [last_seq, audit_seq, [owner_id, ...authors]]

const GIVE_BACK = `with given as (
    update run set runner = null, claimed = null where runner = $1 and state = 'open' and claimed = steps returning session_id
  ), told as (
    select json_agg(json_build_object('identifier', 'advance', 'payload', json_build_object('id', session_id))) as specs from given
  )
  select countersign_quiet.add_jobs(specs) from told where specs is not null`

/** Releases the model calls that a process began and did not end, and enqueues their sessions again. */
export const giveBackSteps = (connection: OwnConnection, processId: string): Promise<unknown> =>
  connection.query({ name: 'step_give_back', text: GIVE_BACK, values: [processId] })

/** Releases a job that a process had and may not have done, with the model call that it began for it. */
export const giveBackJob = (connection: OwnConnection, processId: string, name: JobName, id: string): Promise<unknown> =>
  connection.query({
    name: 'job_give_back',
    text: `with given as (
        update run set runner = null, claimed = null where runner = $1 and session_id = $3 and state = 'open' and claimed = steps
      )
      select countersign_quiet.add_jobs(json_build_array(json_build_object('identifier', $2::text, 'payload', json_build_object('id', $3::text))))`,
    values: [processId, name, id],
  })

/** Enqueues a job that this process fetched and did not begin. A model call of the same session that this process is making stays claimed. */
export const enqueueAgain = (connection: OwnConnection, name: JobName, id: string): Promise<unknown> =>
  connection.query({
    name: 'job_enqueue_again',
    text: `select countersign_quiet.add_jobs(json_build_array(json_build_object('identifier', $1::text, 'payload', json_build_object('id', $2::text))))`,
    values: [name, id],
  })

/** Unlocks the jobs that were locked under these ids. */
export const unlockJobs = (connection: OwnConnection, pools: readonly string[]): Promise<unknown> =>
  connection.query({ name: 'job_unlock', text: 'select graphile_worker.force_unlock_workers($1)', values: [pools] })

/** A job that is locked for a process. */
export interface LockedRow {
  id: string
  /** Id of the session or the action. */
  subject: string
  lockedAtMs: number
  /** The same time in the database's format, to the microsecond. */
  lockedAt: string
}

const MAX_LOCKED = 10_000

/** The jobs that are locked under these ids. */
export async function lockedJobs(connection: OwnConnection, pools: readonly string[]): Promise<LockedRow[]> {
  const { rows } = await connection.query<{ id: string; subject: string; locked_at: Date; text: string }>({
    name: 'job_locked',
    text: `select id, payload ->> 'id' as subject, locked_at, locked_at::text as text from graphile_worker._private_jobs
      where locked_by is not null and locked_by = any($1) limit ${MAX_LOCKED}`,
    values: [pools],
  })
  return rows.map(({ id, subject, locked_at, text }) => ({ id, subject, lockedAtMs: locked_at.getTime(), lockedAt: text }))
}

/** Unlocks jobs that are still locked as they were read. The attempt that never happened is not counted. */
export const unlockLostJobs = (connection: OwnConnection, jobs: readonly LockedRow[]): Promise<unknown> =>
  connection.query({
    name: 'job_unlock_lost',
    text: `update graphile_worker._private_jobs as job set locked_by = null, locked_at = null, attempts = greatest(0, job.attempts - 1)
      from unnest($1::bigint[], $2::timestamptz[]) as lost(id, locked_at) where job.id = lost.id and job.locked_at = lost.locked_at`,
    values: [jobs.map(({ id }) => id), jobs.map(({ lockedAt }) => lockedAt)],
  })

interface HeldRow {
  key: string
  name: JobName
  /** Id of the session or the action. */
  subject: string
}

/** The jobs that are locked under this id since at least two seconds: by then a commit is answered. */
export async function heldJobs(connection: OwnConnection, holder: string): Promise<HeldRow[]> {
  const { rows } = await connection.query<HeldRow>({
    name: 'job_held',
    text: `select job.key, task.identifier as name, job.payload ->> 'id' as subject
      from graphile_worker._private_jobs as job join graphile_worker._private_tasks as task on task.id = job.task_id
      where job.locked_by = $1 and job.locked_by is not null and job.locked_at < clock_timestamp() - interval '2 seconds' limit ${MAX_LOCKED}`,
    values: [holder],
  })
  return rows
}

/** Removes ended jobs, except those that have been unlocked since: another process may have begun them. */
export const removeHeldJobs = (connection: OwnConnection, holder: string, keys: readonly string[]): Promise<unknown> =>
  connection.query({
    name: 'job_remove_held',
    text: 'delete from graphile_worker._private_jobs where key = any($2) and locked_by = $1',
    values: [holder, keys],
  })

/** Unlocks a job that failed, with the pause before its next attempt that graphile-worker makes. */
export const failHeldJob = (connection: OwnConnection, holder: string, key: string, message: string): Promise<unknown> =>
  connection.query({
    name: 'job_fail_held',
    text: `update graphile_worker._private_jobs set last_error = $3, locked_by = null, locked_at = null, key = null,
        run_at = greatest(now(), run_at) + (exp(least(attempts, 10)) * interval '1 second')
      where key = $2 and locked_by = $1`,
    values: [holder, key, message],
  })

interface FoundJob {
  /** Id of the session or the action. */
  id: string
  /** True when a process has it. */
  taken: boolean
  /** True when it was begun before and failed. */
  failed: boolean
}

/**
 * Returns which of these sessions and actions have a job that will be done, or a step that a process is making: its job may be gone, because
 * graphile-worker deletes the job of a process that was suspended even if another process has it by then. A job that failed too often, or
 * that is locked for an unknown process, will not be done.
 */
export async function findJobs(connection: OwnConnection, ids: readonly string[]): Promise<FoundJob[]> {
  const { rows } = await connection.query<FoundJob>({
    name: 'job_find',
    text: `select payload ->> 'id' as id, bool_or(locked_by is not null) as taken, bool_or(last_error is not null) as failed from graphile_worker._private_jobs as job
      where payload ->> 'id' = any($1) and (is_available
        or exists (select 1 from process where pools::jsonb ? job.locked_by)) group by 1
      union all select session_id, true, false from run
      where session_id = any($1) and state = 'open' and claimed = steps and exists (select 1 from process where process.id = run.runner)`,
    values: [ids],
  })
  return rows
}

/**
 * Adds the jobs of those sessions and actions that still call for work, and returns how many. The rows may have changed since they were read: a
 * process that was paused between the two reads would otherwise enqueue work that is done. The keys keep processes that find the same from
 * enqueueing it twice.
 */
export async function addMissingJobs(connection: OwnConnection, jobs: readonly { name: JobName; id: string }[]): Promise<number> {
  const { rows } = await connection.query<{ count: string }>({
    name: 'job_add_missing',
    text: `with wanted as (select name, id from json_to_recordset($1) as wanted (name text, id text)),
      due as (select name, id from wanted where case name
        when 'execute' then exists (select 1 from action where action.id = wanted.id and state = 'approved' and executor = 'server'
          and due_at is null)
        else exists (select 1 from session where session.id = wanted.id and status = 'active'
            and exists (select 1 from run where run.session_id = wanted.id and run.state = 'open')
            and not exists (select 1 from action where action.session_id = wanted.id and action.state in ${OPEN}))
          or exists (select 1 from message where message.session_id = wanted.id and queued = 1
            and not exists (select 1 from run where run.session_id = wanted.id and run.state = 'open')) end),
      specs as (select json_agg(json_build_object('identifier', name, 'payload', json_build_object('id', id), 'job_key', name || ':' || id))
        as specs from due),
      added as (select countersign_quiet.add_jobs(specs) from specs where specs is not null)
      select count(*) as count, (select count(*) from added) from due`,
    values: [JSON.stringify(jobs.map(({ name, id }) => ({ name, id })))],
  })
  return Number(rows[0]?.count)
}

/** Indexes for finding jobs by subject and by holder, among a million that wait. */
const JOB_INDEXES = {
  countersign_job_by_subject: `((payload ->> 'id'))`,
  countersign_job_by_holder: '(locked_by) where locked_by is not null',
} as const

/** Adds these indexes to graphile-worker's table of jobs, where they are missing. */
export async function addJobIndexes(connection: OwnConnection): Promise<void> {
  for (const [name, columns] of Object.entries(JOB_INDEXES)) {
    // Checked first: "create index if not exists" waits for every writer of the table even when there is nothing to do.
    const { rows } = await connection.query({ text: `select to_regclass('graphile_worker.${name}') as there` })
    if (rows[0]?.there !== null) continue
    await connection.query({ text: `create index if not exists ${name} on graphile_worker._private_jobs ${columns}` })
  }
}

/** Adds the kinds of jobs, which graphile-worker adds only while its pools start. */
export const addJobKinds = (connection: OwnConnection, names: readonly JobName[]): Promise<unknown> =>
  connection.query({
    text: `insert into graphile_worker._private_tasks (identifier) select unnest($1::text[]) on conflict do nothing`,
    values: [names],
  })

/** The ids under which jobs are locked although no process has them. */
export async function strayPools(connection: OwnConnection): Promise<string[]> {
  const { rows } = await connection.query<{ locked_by: string }>({
    text: `select distinct locked_by from graphile_worker.jobs where locked_by is not null
      and not exists (select 1 from process where pools::jsonb ? locked_by)`,
  })
  return rows.map((row) => row.locked_by)
}

/** Unknown processes that actions name as their executor. */
export async function strayRunners(connection: OwnConnection): Promise<string[]> {
  const { rows } = await connection.query<{ runner: string }>({
    text: `select distinct runner from action where state = 'executing' and executor = 'server'
      and runner is not null and not exists (select 1 from process where process.id = action.runner)`,
  })
  return rows.map((row) => row.runner)
}

/** Counts the jobs of all processes that wait, run or will be retried. */
export async function countJobs(connection: OwnConnection): Promise<number> {
  const { rows } = await connection.query<{ count: string }>({
    name: 'job_count',
    text: 'select count(*) as count from graphile_worker.jobs where attempts < max_attempts or locked_at is not null',
  })
  return Number(rows[0]?.count)
}

const MAX_COUNTED = 100_000

/** Counts the jobs that are due and held by no process, of all processes. The count ends at 100,000, so that it stays cheap. */
export async function countWaitingJobs(connection: OwnConnection): Promise<number> {
  const { rows } = await connection.query<{ count: string }>({
    name: 'job_count_waiting',
    text: `select count(*) as count from (
      select 1 from graphile_worker._private_jobs where is_available and run_at <= now() limit ${MAX_COUNTED}
    ) as waiting`,
  })
  return Number(rows[0]?.count)
}

const PAGE = 1_000

/** Rows that require work: active sessions or sessions with queued messages, and approved actions. */
const CALLS = {
  advance: `select id from session where status = 'active' and id > $1
    union select session_id from message where queued = 1 and session_id > $1
      and not exists (select 1 from run where run.session_id = message.session_id and run.state = 'open')`,
  execute: `select id from action where state = 'approved' and executor = 'server' and due_at is null and id > $1`,
} as const

/** Enqueues a page of jobs and returns their number and the id of the last. */
async function enqueuePage(
  connection: OwnConnection,
  name: keyof typeof CALLS,
  after: string,
): Promise<{ count: number; last: string | null }> {
  const { rows } = await connection.query<{ last: string | null; count: string }>({
    name: `enqueue_${name}`,
    text: `with page as (select id from (${CALLS[name]}) as calls order by id limit ${PAGE}),
      -- Keyed, so that processes which start together do not enqueue everything once each.
      specs as (select json_agg(json_build_object('identifier', '${name}', 'payload', json_build_object('id', id), 'job_key', '${name}:' || id))
        as specs from page),
      added as (select countersign_quiet.add_jobs(specs) from specs where specs is not null)
      select max(id) as last, count(*) as count, (select count(*) from added) from page`,
    values: [after],
  })
  return { count: Number(rows[0]?.count ?? 0), last: rows[0]?.last ?? null }
}

/**
 * Enqueues a job for everything that requires work. A session or action with a job gets another one, which finds nothing left to do: that
 * is harmless, and it replaces jobs that failed too often. Returns the number of jobs.
 */
export async function enqueueWork(connection: OwnConnection): Promise<number> {
  let total = 0
  for (const name of ['advance', 'execute'] as const) {
    for (let after: string | null = ''; after !== null; ) {
      const { count, last } = await enqueuePage(connection, name, after)
      total += count
      after = count === PAGE ? last : null
    }
  }
  return total
}
