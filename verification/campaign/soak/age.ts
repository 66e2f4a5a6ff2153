import type { SoakDatabase } from './database.ts'

const DAY_MS = 24 * 60 * 60_000

/**
 * Makes rows old that the workload is done with, so that the server's own cleaning is seen within the hour: what is older than `afterMs`
 * looks as if it had been written `DAYS` before.
 */
export async function ageRows(database: SoakDatabase, afterMs: number, nowMs = Date.now()): Promise<void> {
  const before = nowMs - afterMs
  const back = (days: number) => days * DAY_MS
  const young = (column: string, days: number) => `${column} < ${before} and ${column} > ${before - back(days)}`
  await database.run(`update once set created_at = created_at - ${back(2)} where kept_for = 'day' and ${young('created_at', 1)}`)
  await database.run(`update once set created_at = created_at - ${back(40)} where kept_for = 'action' and ${young('created_at', 1)}`)
  // The time that the result of a call is kept runs from the end of its action.
  await database.run(
    `update action set updated_at = updated_at - ${back(40)} where ${young('updated_at', 1)} and id in (select action_id from gateway_call)
     and state not in ('proposed', 'approved', 'executing', 'outcome_unknown')`,
  )
  await database.run(`update gateway_call set created_at = created_at - ${back(40)} where ${young('created_at', 1)}`)
  await database.run(`update model_call set created_at = created_at - ${back(500)} where ${young('created_at', 1)}`)
  await database.run(
    `update console_session set created_at = created_at - ${back(40)}, seen_at = seen_at - ${back(40)}, ended_at = ended_at - ${back(40)} where ${young('created_at', 1)}`,
  )
}
