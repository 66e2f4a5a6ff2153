import type { JobName } from './jobs.ts'
import type { OwnConnection } from './processes.ts'
import type { RunRow } from './schema.ts'

/**
 * Takes the next model call of a run for a process. False when another process makes that call, or it has been made: one caller per step,
 * however many processes were woken.
 */
export async function claimStep(connection: OwnConnection, processId: string, { session_id, id, steps }: RunRow): Promise<boolean> {
  const { rowCount } = await connection.query({
    name: 'step_claim',
    text: `update run set runner = $1, claimed = steps
      where session_id = $2 and state = 'open' and id = $3 and steps = $4
      and (runner is null or runner = $1 or claimed is distinct from steps)`,
    values: [processId, session_id, id, steps],
  })
  return rowCount === 1
}

const GIVE_BACK = `with given as (
    update run set runner = null, claimed = null where runner = $1 and state = 'open' and claimed = steps returning session_id
  ), told as (
    select json_agg(json_build_object('identifier', 'advance', 'payload', json_build_object('id', session_id))) as specs from given
  )
  select countersign_quiet.add_jobs(specs) from told where specs is not null`

/** Gives back the model calls that a process began and did not end, and puts their sessions up again. */
export const giveBackSteps = (connection: OwnConnection, processId: string): Promise<unknown> =>
  connection.query({ name: 'step_give_back', text: GIVE_BACK, values: [processId] })

/** Gives back a job that a process had and may not have done, with the model call that it began for it. */
export const giveBackJob = (connection: OwnConnection, processId: string, name: JobName, id: string): Promise<unknown> =>
  connection.query({
    name: 'job_give_back',
    text: `with given as (
        update run set runner = null, claimed = null where runner = $1 and session_id = $3 and state = 'open' and claimed = steps
      )
      select countersign_quiet.add_jobs(json_build_array(json_build_object('identifier', $2::text, 'payload', json_build_object('id', $3::text))))`,
    values: [processId, name, id],
  })

/** Unlocks the jobs that were taken under these ids. */
export const unlockJobs = (connection: OwnConnection, pools: readonly string[]): Promise<unknown> =>
  connection.query({ name: 'job_unlock', text: 'select graphile_worker.force_unlock_workers($1)', values: [pools] })

/** The ids under which jobs were taken that no process knows as its own. */
export async function strayPools(connection: OwnConnection): Promise<string[]> {
  const { rows } = await connection.query<{ locked_by: string }>({
    text: `select distinct locked_by from graphile_worker.jobs where locked_by is not null
      and not exists (select 1 from process where pools::jsonb ? locked_by)`,
  })
  return rows.map((row) => row.locked_by)
}

/** Processes that nobody knows and that actions name as the one that carries them out. */
export async function strayRunners(connection: OwnConnection): Promise<string[]> {
  const { rows } = await connection.query<{ runner: string }>({
    text: `select distinct runner from action where state = 'executing' and executor = 'server'
      and runner is not null and not exists (select 1 from process where process.id = action.runner)`,
  })
  return rows.map((row) => row.runner)
}

/** Jobs that wait, are under way or are to be tried again, of all processes. */
export async function countJobs(connection: OwnConnection): Promise<number> {
  const { rows } = await connection.query<{ count: string }>({
    name: 'job_count',
    text: 'select count(*) as count from graphile_worker.jobs where attempts < max_attempts or locked_at is not null',
  })
  return Number(rows[0]?.count)
}

const PAGE = 1_000

/** What calls for work: sessions at work or with messages in the queue, and approved actions. */
const CALLS = {
  advance: `select id from session where status = 'active' and id > $1
    union select session_id from message where queued = 1 and session_id > $1
      and not exists (select 1 from run where run.session_id = message.session_id and run.state = 'open')`,
  execute: `select id from action where state = 'approved' and executor = 'server' and id > $1`,
} as const

/** Puts up a page of jobs and answers how many they were and the id of the last. */
async function putUpPage(
  connection: OwnConnection,
  name: keyof typeof CALLS,
  after: string,
): Promise<{ count: number; last: string | null }> {
  const { rows } = await connection.query<{ last: string | null; count: string }>({
    name: `put_up_${name}`,
    text: `with page as (select id from (${CALLS[name]}) as calls order by id limit ${PAGE}),
      -- Keyed, so that processes which start together do not put everything up once each.
      specs as (select json_agg(json_build_object('identifier', '${name}', 'payload', json_build_object('id', id), 'job_key', '${name}:' || id))
        as specs from page),
      added as (select countersign_quiet.add_jobs(specs) from specs where specs is not null)
      select max(id) as last, count(*) as count, (select count(*) from added) from page`,
    values: [after],
  })
  return { count: Number(rows[0]?.count ?? 0), last: rows[0]?.last ?? null }
}

/**
 * Puts up a job for everything that calls for work. Whatever has one already gets another, which finds nothing left to do: harmless, and
 * nothing is lost with a job that failed too often. Answers how many there were.
 */
export async function putUpWork(connection: OwnConnection): Promise<number> {
  let total = 0
  for (const name of ['advance', 'execute'] as const) {
    for (let after: string | null = ''; after !== null; ) {
      const { count, last } = await putUpPage(connection, name, after)
      total += count
      after = count === PAGE ? last : null
    }
  }
  return total
}
