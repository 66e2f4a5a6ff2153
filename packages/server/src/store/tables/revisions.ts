import { sql } from 'kysely'
import type { Dialect } from '../dialect.ts'
import { lit, question } from '../query.ts'
import { insertInto } from './insert.ts'
import type { ActionRevisionRow, ActionRow } from './schema.ts'

/** What another revision of an action may have otherwise. */
export type RevisedColumns = Pick<
  ActionRow,
  | 'effect'
  | 'arguments'
  | 'definition_hash'
  | 'destination'
  | 'credential'
  | 'precondition'
  | 'digest'
  | 'description'
  | 'preview'
  | 'preview_error'
  | 'previewed_at'
  | 'risk'
  | 'policy'
  | 'requires'
  | 'executor'
  | 'idempotency_key'
  | 'revised'
  | 'edited_by'
  | 'requesters'
  | 'due_at'
  | 'expires_at'
  | 'remind_at'
  | 'escalate_at'
>

const inTime = (dialect: Dialect, now: number) => sql<boolean>`(expires_at is null or expires_at > ${dialect.nowMs(now)})`

const reviseFrom = (from: 'proposed' | 'approved' | 'failed') =>
  question<{ [K in keyof RevisedColumns]: RevisedColumns[K] } & { id: string; was: number; epoch: number; now: number }>(
    (db, p, dialect) => {
      const update = db
        .updateTable('action')
        .set((eb) => ({
          state: 'proposed' as const,
          revision: eb('revision', '+', 1),
          effect: p.effect,
          arguments: p.arguments,
          definition_hash: p.definition_hash,
          destination: p.destination,
          credential: p.credential,
          precondition: p.precondition,
          digest: p.digest,
          description: p.description,
          preview: p.preview,
          preview_error: p.preview_error,
          previewed_at: p.previewed_at,
          risk: p.risk,
          policy: p.policy,
          requires: p.requires,
          executor: p.executor,
          idempotency_key: p.idempotency_key,
          revised: p.revised,
          edited_by: p.edited_by,
          requesters: p.requesters,
          due_at: p.due_at,
          expires_at: p.expires_at,
          remind_at: p.remind_at,
          escalate_at: p.escalate_at,
          grant_id: null,
          error: null,
          resolution: null,
          updated_at: p.now,
        }))
        .where('id', '=', p.id)
        .where('state', '=', lit(from))
        .where('revision', '=', p.was)
        .where('epoch', '=', p.epoch)
        .where('archived_at', 'is', null)
      return from === 'proposed' ? update.where(inTime(dialect, p.now)) : update
    },
  )

/** Asks another revision of an action that waits for people. Nothing changed: it was decided, or revised, or its time is over. */
export const reviseWaiting = reviseFrom('proposed')
/** Asks again about an action that is approved and not started. Nothing changed: it was started, or withdrawn. */
export const reviseApproved = reviseFrom('approved')
/** Asks again about an action that failed, so did nothing. Nothing changed: it was started again. */
export const reviseFailed = reviseFrom('failed')

/**
 * Notes when the values of a waiting revision were read last, and found as they were, or why they could not be read. `updated_at` stays:
 * nothing is told of it, and who follows the stream holds the action as it is.
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

/** Keeps a revision that is over. */
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

/** Blanks what an earlier revision was about. */
export const blankRevision = question<{ action_id: string; revision: number; revised: string | null; ended: string }>((db, p) =>
  db
    .updateTable('action_revision')
    .set({
      arguments: lit('{}'),
      description: lit('Redacted'),
      preview: null,
      preview_error: null,
      precondition: null,
      revised: p.revised,
      ended: p.ended,
    })
    .where('action_id', '=', p.action_id)
    .where('revision', '=', p.revision),
)

/** The earlier revisions of an action, the first one first. */
export const revisionsOf = question<{ action_id: string }, ActionRevisionRow>((db, p) =>
  db.selectFrom('action_revision').selectAll().where('action_id', '=', p.action_id).orderBy('revision').limit(lit(1_000)),
)
