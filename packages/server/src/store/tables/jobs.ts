import { sql } from 'kysely'
import { question, type Tx } from '../query.ts'
import type { Outbox } from '../store.ts'

/** The purpose of a job: `advance` advances a session, `execute` executes an approved action. */
export type JobName = 'advance' | 'execute'

/** The payload of a job. */
export interface JobPayload {
  id: string
}

const addJobs = question<{ specs: string }>((db, p) => ({
  compile: () => sql`select countersign_quiet.add_jobs(${p.specs}::json)`.compile(db),
}))

/**
 * Enqueues the work that a transaction requires, in that transaction. Postgres only.
 *
 * It uses neither `queue_name` nor `job_key`. Fetching a job locks every named queue (1.7 ms with 1,000 of them, 144 ms with 100,000), and
 * one per session would create that many. A second job with the same key can get lost: `add_jobs` leaves the work to the first one, which
 * another process may have fetched just before and which does not see the writes of this transaction.
 */
export function* enqueueJobs({ sessions, actions }: Pick<Outbox, 'sessions' | 'actions'>): Tx<void> {
  const spec = (identifier: JobName) => (id: string) => ({ identifier, payload: { id } satisfies JobPayload })
  const specs = [...[...actions].map(spec('execute')), ...[...sessions].map(spec('advance'))]
  if (specs.length > 0) yield* addJobs.run({ specs: JSON.stringify(specs) })
}
