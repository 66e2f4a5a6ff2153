import { lit, question } from '../query.ts'
import type { ActionRevisionRow, ActionRow } from './action-rows.ts'
import { insertInto } from './insert.ts'

/** The fields of an action that another revision may change. */
export const REVISED_COLUMNS = [
  'effect',
  'arguments',
  'definition_hash',
  'destination',
  'credential',
  'precondition',
  'digest',
  'description',
  'preview',
  'preview_error',
  'previewed_at',
  'risk',
  'policy',
  'requires',
  'executor',
  'idempotency_key',
  'revised',
  'edited_by',
  'requesters',
  'due_at',
  'expires_at',
  'remind_at',
  'escalate_at',
  'grant_id',
  'error',
  'resolution',
] as const satisfies readonly (keyof ActionRow)[]

/**
 * Records when the values of a waiting revision were last read and found unchanged, or why they could not be read. `updated_at` stays: the
 * change is not announced, and followers of the stream have the current action.
 */
export const notePreview = question<{
  id: string
  revision: number
  previewed_at: number | null
  preview_error: string | null
}>((db, p) =>
  db
    .updateTable('action')
    .set({ previewed_at: p.previewed_at, preview_error: p.preview_error })
    .where('id', '=', p.id)
    .where('state', '=', lit('proposed'))
    .where('revision', '=', p.revision),
)

/** Stores a revision that was replaced. */
export const insertRevision = insertInto('action_revision', {
  action_id: true,
  revision: true,
  tool: true,
  arguments: true,
  digest: true,
  definition_hash: true,
  destination: true,
  credential: true,
  precondition: true,
  description: true,
  preview: true,
  preview_error: true,
  previewed_at: true,
  risk: true,
  policy: true,
  requires: true,
  revised: true,
  ended: true,
})

/** The earlier revisions of an action, the first one first. */
export const revisionsOf = question<{ action_id: string }, ActionRevisionRow>((db, p) =>
  db.selectFrom('action_revision').selectAll().where('action_id', '=', p.action_id).orderBy('revision').limit(lit(1_000)),
)
