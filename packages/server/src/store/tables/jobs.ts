import { sql } from 'kysely'
import { question, type Tx } from '../query.ts'
import type { Outbox } from '../store.ts'

/** What a job is about: `advance` goes on with a session, `execute` carries out an approved action. */
export type JobName = 'advance' | 'execute'

/** What one is given. */
export interface JobPayload {
  id: string
}

const addJobs = question<{ specs: string }>((db, p) => ({
  compile: () => sql`select countersign_quiet.add_jobs(${p.specs}::json)`.compile(db),
}))

/**
 * Puts what a transaction wants done into the queue of jobs, in that transaction. Postgres only.
 *
 * Neither `queue_name` nor `job_key`. Taking a job locks every named queue there is (1.7 ms with 1,000 of them, 144 ms with 100,000), and
 * a session each makes as many. A second job of the same key can vanish: `add_jobs` leaves it to the first one, which another process may
 * have taken just before and which does not see what this transaction wrote.
 */
export function* enqueueJobs({ sessions, actions }: Pick<Outbox, 'sessions' | 'actions'>): Tx<void> {
  const spec = (identifier: JobName) => (id: string) => ({ identifier, payload: { id } satisfies JobPayload })
  const specs = [...[...actions].map(spec('execute')), ...[...sessions].map(spec('advance'))]
  if (specs.length > 0) yield* addJobs.run({ specs: JSON.stringify(specs) })
}
