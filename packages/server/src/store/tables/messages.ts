import type { Kysely } from 'kysely'
import { lit, question } from '../query.ts'
import { insertJoined } from './insert.ts'
import type { Schema } from './schema.ts'
import type { MessageRow } from './session-rows.ts'

export const insertMessage = insertJoined(
  'message',
  {
    session_id: true,
    seq: true,
    id: true,
    run_id: true,
    role: true,
    kind: true,
    in_history: true,
    queued: true,
    content: true,
    tool_calls: true,
    tool_call_id: true,
    action_ids: true,
    model: true,
    payload: true,
    author_id: true,
    created_at: true,
  },
  { isNoted: true },
)

/** A message of a session, searched from its end. */
export const findMessage = question<{ session_id: string; id: string }, MessageRow>((db, p) =>
  db.selectFrom('message').selectAll().where('session_id', '=', p.session_id).where('id', '=', p.id).orderBy('seq', 'desc').limit(lit(1)),
)

/** Adds the attachments of a message and its author, where they are missing. */
export const addPayload = question<{ session_id: string; id: string; payload: string; model: string }>((db, p) =>
  db
    .updateTable('message')
    .set({ payload: p.payload, model: p.model })
    .where('session_id', '=', p.session_id)
    .where('id', '=', p.id)
    .where('payload', 'is', null),
)

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

/** The last message of a person in a session, whatever was said behind it. */
export const lastByPerson = question<{ session_id: string }, MessageRow>((db, p) =>
  db
    .selectFrom('message')
    .selectAll()
    .where('session_id', '=', p.session_id)
    .where('role', '=', lit('user'))
    .orderBy('seq', 'desc')
    .limit(lit(1)),
)

type NoMessage = { [K in keyof MessageRow]: null }

/**
 * The messages of a session for the model, after place `after`, in order. Empty when the run is not at this step or has ended; one row
 * without a message when there is none.
 */
export const historyAtStep = question<{ session_id: string; run_id: string; steps: number; after: number }, MessageRow | NoMessage>(
  (db, p) =>
    db
      .selectFrom('run')
      .leftJoin('message', (join) =>
        join.onRef('message.session_id', '=', 'run.session_id').on('message.seq', '>', p.after).on('message.in_history', '=', lit(1)),
      )
      .selectAll('message')
      .where('run.session_id', '=', p.session_id)
      .where('run.state', '=', lit('open'))
      .where('run.id', '=', p.run_id)
      .where('run.steps', '=', p.steps)
      .orderBy('message.seq')
      .limit(lit(100_000))
      .$castTo<MessageRow | NoMessage>(),
)

/** The last messages of a run: of the agent, or notes to people about it. Newest first. */
export const lastOfRun = question<{ session_id: string; run_id: string }, MessageRow>((db, p) =>
  db
    .selectFrom('message')
    .selectAll()
    .where('session_id', '=', p.session_id)
    .where('run_id', '=', p.run_id)
    .where('role', 'in', [lit('assistant'), lit('system')])
    .orderBy('seq', 'desc')
    .limit(lit(10)),
)

/** When the result of a tool call was put into its session, and the place of it. */
export const findToolResult = question<{ session_id: string; tool_call_id: string }, Pick<MessageRow, 'seq' | 'created_at'>>((db, p) =>
  db
    .selectFrom('message')
    .select(['seq', 'created_at'])
    .where('session_id', '=', p.session_id)
    .where('tool_call_id', '=', p.tool_call_id)
    .where('role', '=', lit('tool'))
    .limit(lit(1)),
)

/** The first answer of a model after a place of its session, with its tokens where they are known. */
export const nextAnswer = question<
  { session_id: string; after: number },
  Pick<MessageRow, 'model' | 'created_at'> & { input_tokens: number | null; output_tokens: number | null }
>((db, p) =>
  db
    .selectFrom('message')
    // Both are stored in one transaction, at its time.
    .leftJoin('model_call', (join) =>
      join
        .onRef('model_call.created_at', '=', 'message.created_at')
        .onRef('model_call.session_id', '=', 'message.session_id')
        .onRef('model_call.run_id', '=', 'message.run_id'),
    )
    .select(['message.model', 'message.created_at', 'model_call.input_tokens', 'model_call.output_tokens'])
    .where('message.session_id', '=', p.session_id)
    .where('message.seq', '>', p.after)
    .where('message.role', '=', lit('assistant'))
    .where('message.kind', '=', lit('text'))
    .orderBy('message.seq')
    .limit(lit(1)),
)

/** The change of a message that waits: in the queue (1), or until its held request is called (2). */
const changeWaiting = (db: Kysely<Schema>, { session_id, seq }: { session_id: string; seq: number }, queued: 1 | 2) =>
  db.updateTable('message').where('session_id', '=', session_id).where('seq', '=', seq).where('queued', '=', lit(queued)).returningAll()

/** Enqueues the message of a held request. No row changes when it was enqueued before. */
export const callHeldMessage = question<{ session_id: string; seq: number }, MessageRow>(
  (db, p) => changeWaiting(db, p, 2).set({ queued: 1 }),
  { isNoted: true },
)

/** Moves a message from the queue into the history of a run, at the place `to`. */
export const dequeueMessage = question<{ session_id: string; seq: number; run_id: string; to: number }, MessageRow>(
  (db, p) => changeWaiting(db, p, 1).set({ seq: p.to, queued: 0, in_history: 1, run_id: p.run_id }),
  { isNoted: true },
)

/** Leaves a queued message in its place, and excludes it from the model's history. */
export const unqueueMessage = question<{ session_id: string; seq: number }, MessageRow>(
  (db, p) => changeWaiting(db, p, 1).set({ queued: 0 }),
  { isNoted: true },
)

/** A message of this author that a run answers, searched from the end of the session. */
export const messageInRun = question<{ session_id: string; run_id: string; author_id: string }, Pick<MessageRow, 'seq'>>((db, p) =>
  db
    .selectFrom('message')
    .select('seq')
    .where('session_id', '=', p.session_id)
    .where('run_id', '=', p.run_id)
    .where('author_id', '=', p.author_id)
    .orderBy('seq', 'desc')
    .limit(lit(1)),
)

/** The ids of the authors of the model's history in a session. */
export const authorsOf = question<{ session_id: string }, { author_id: string }>((db, p) =>
  db
    .selectFrom('message')
    .select((eb) => eb.ref('author_id').$notNull().as('author_id'))
    .distinct()
    .where('session_id', '=', p.session_id)
    .where('in_history', '=', lit(1))
    .where('author_id', 'is not', null)
    .orderBy('author_id')
    .limit(lit(1_000)),
)
