import { sql } from 'kysely'
import { question, recall, type Tx } from '../query.ts'
import type { Outbox } from '../store.ts'
import { IS_UNCLAIMED, NOTHING_IS_HELD } from './claims.ts'
import type { RunRow } from './session-rows.ts'

/** The purpose of a job: `advance` advances a session, `execute` executes an approved action. */
export type JobName = 'advance' | 'execute'

export interface JobPayload {
  id: string
}

/** A job that is locked for the process whose transaction requires it. */
export interface HeldJob {
  name: JobName
  /** Id of the session or action. */
  id: string
  /** Unique among all jobs. It begins with the id under which the job is locked, and a colon. */
  key: string
  /** The session's next step, which the transaction claimed for its process. */
  claimed?: ClaimedStep
}

/** A model call that is a process's to make. */
export type ClaimedStep = Pick<RunRow, 'session_id' | 'id' | 'steps'> & {
  /** The id of the process. */
  runner: string
}

/** Held jobs that have ended. */
export interface EndedJobs {
  /** The id under which they are locked. */
  holder: string
  keys: readonly string[]
}

// Sent with the insert of other jobs: see `WriteBatch`.
const removeEndedJobs = question<{ holder: string; keys: string }>((db, p) => ({
  compile: () =>
    sql`delete from graphile_worker._private_jobs /* rows: ended */ where locked_by = ${p.holder}
      and key in (select value from json_array_elements_text(${p.keys}::json))`.compile(db),
}))

const addHeldJobs = question<{ specs: string }>((db, p) => ({
  compile: () =>
    sql`insert into graphile_worker._private_jobs (task_id, payload, key, locked_by, locked_at, attempts)
      select task.id, json_build_object('id', job.id), job.key, split_part(job.key, ':', 1), clock_timestamp(), 1
      from json_to_recordset(${p.specs}::json) as job (name text, id text, key text)
      left join graphile_worker._private_tasks as task on task.identifier = job.name`.compile(db),
}))

// A step that a process is making stays that process's, and be it this one.
const claimDueStep = question<ClaimedStep>((db, p) => ({
  compile: () =>
    sql`update run set runner = ${p.runner}, claimed = steps
      where session_id = ${p.session_id} and id = ${p.id} and steps = ${p.steps} and state = 'open'
      and ${sql.raw(IS_UNCLAIMED)} and ${sql.raw(NOTHING_IS_HELD)}`.compile(db),
}))

const addJobs = question<{ specs: string }>((db, p) => ({
  compile: () => sql`select countersign_quiet.add_jobs(${p.specs}::json)`.compile(db),
}))

/**
 * Enqueues the work that a transaction requires, and removes the jobs that have ended, in that transaction. Postgres only.
 *
 * It uses neither `queue_name` nor `job_key`. Fetching a job locks every named queue (1.7 ms with 1,000 of them, 144 ms with 100,000), and
 * one per session would create that many. A second job with the same key can get lost: `add_jobs` leaves the work to the first one, which
 * another process may have fetched just before and which does not see the writes of this transaction.
 *
 * Jobs in `held` are written as graphile-worker's fetch leaves them: one insert of 0.1 ms instead of `add_jobs` (0.4 ms) and a fetch. The
 * steps that they are for are claimed with them: a claim of its own is a commit more before the model is asked.
 */
export function* enqueueJobs({
  sessions,
  actions,
  held = [],
  runner,
  ended,
}: Pick<Outbox, 'sessions' | 'actions' | 'held' | 'runner' | 'ended'>): Tx<void> {
  if (ended) yield* removeEndedJobs.run({ holder: ended.holder, keys: JSON.stringify(ended.keys) })
  if (held.length > 0) {
    yield* addHeldJobs.run({ specs: JSON.stringify(held) })
    if (runner !== undefined) yield* claimDueSteps(held, runner)
    return
  }
  const spec = (identifier: JobName) => (id: string) => ({ identifier, payload: { id } satisfies JobPayload })
  const specs = [...[...actions].map(spec('execute')), ...[...sessions].map(spec('advance'))]
  if (specs.length > 0) yield* addJobs.run({ specs: JSON.stringify(specs) })
}

function* claimDueSteps(held: readonly HeldJob[], runner: string): Tx<void> {
  for (const job of held) {
    if (job.name !== 'advance') continue
    const run = yield* recall((memory) => memory.dueStep(job.id))
    if (!run) continue
    const { session_id, id, steps } = run
    const step = { session_id, id, steps, runner }
    if ((yield* claimDueStep.expectChange(step)) > 0) job.claimed = step
  }
}
