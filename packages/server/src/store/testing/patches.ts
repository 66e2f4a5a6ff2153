import type { PatchOf } from '../tables/action-moves.ts'
import type { ActionRow } from '../tables/action-rows.ts'

/** The changes to an action's row when a process begins an attempt. */
export const startedBy = (row: ActionRow, runner: string): PatchOf<'start'> => ({
  attempt: row.attempt + 1,
  epoch: row.epoch + 1,
  first_send: row.attempt + 1,
  checks: null,
  runner,
  due_at: null,
  target_version: null,
  error: null,
  resolution: null,
})

/** The changes when an attempt has ended. */
export const ENDED: PatchOf<'succeed'> = {
  result: null,
  result_url: null,
  error: null,
  in_doubt: 0,
  checks: null,
  result_delivered: 1,
  runner: null,
  due_at: null,
  resolution: null,
}
