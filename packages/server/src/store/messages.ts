import { lit, question } from './query.ts'
import type { MessageRow } from './schema.ts'

type Insert = { [K in keyof MessageRow]: MessageRow[K] }

export const insertMessage = question<Insert>((db, p) =>
  db.insertInto('message').values({
    id: p.id,
    session_id: p.session_id,
    run_id: p.run_id,
    seq: p.seq,
    history_seq: p.history_seq,
    role: p.role,
    kind: p.kind,
    queued: p.queued,
    content: p.content,
    tool_calls: p.tool_calls,
    tool_call_id: p.tool_call_id,
    action_id: p.action_id,
    action_ids: p.action_ids,
    model: p.model,
    payload: p.payload,
    created_at: p.created_at,
  }),
)

export const findMessage = question<{ id: string }, MessageRow>((db, p) => db.selectFrom('message').selectAll().where('id', '=', p.id))

/** A page of a session's messages, newest first. */
export const listMessages = question<{ session_id: string; before: number; limit: number }, MessageRow>((db, p) =>
  db
    .selectFrom('message')
    .selectAll()
    .where('session_id', '=', p.session_id)
    .where('seq', '<', p.before)
    .orderBy('seq', 'desc')
    .limit(p.limit),
)

/** What entered the model's history after `after`, in its order. */
export const historyAfter = question<{ session_id: string; after: number }, MessageRow>((db, p) =>
  db
    .selectFrom('message')
    .selectAll()
    .where('session_id', '=', p.session_id)
    .where('history_seq', 'is not', null)
    .where('history_seq', '>', p.after)
    .orderBy('history_seq')
    .limit(lit(100_000)),
)

export const queuedMessages = question<{ session_id: string }, MessageRow>((db, p) =>
  db.selectFrom('message').selectAll().where('session_id', '=', p.session_id).where('queued', '=', lit(1)).orderBy('seq').limit(lit(1_000)),
)

/** Takes a message out of the queue into the history of a run. */
export const dequeueMessage = question<{ id: string; run_id: string; history_seq: number }, MessageRow>((db, p) =>
  db
    .updateTable('message')
    .set({ queued: 0, run_id: p.run_id, history_seq: p.history_seq })
    .where('id', '=', p.id)
    .where('queued', '=', lit(1))
    .returningAll(),
)

/** The tool result that an action left in its session, if any. */
export const toolMessageOf = question<{ action_id: string }, MessageRow>((db, p) =>
  db.selectFrom('message').selectAll().where('action_id', '=', p.action_id).where('role', '=', 'tool'),
)
