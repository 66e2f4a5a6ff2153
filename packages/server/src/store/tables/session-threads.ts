import { question } from '../query.ts'
import type { Schema } from './schema.ts'
import type { SessionThreadRow } from './session-rows.ts'

type Key = Pick<SessionThreadRow, 'owner_id' | 'surface' | 'thread'>

export const findThread = question<Key, Pick<SessionThreadRow, 'session_id'>>((db, p) =>
  db
    .selectFrom('session_thread')
    .select('session_id')
    .where('owner_id', '=', p.owner_id)
    .where('surface', '=', p.surface)
    .where('thread', '=', p.thread),
)

/** Keeps an existing thread. */
export const insertThread = question<{ [K in keyof SessionThreadRow]: SessionThreadRow[K] }>((db, p) =>
  db
    .insertInto('session_thread')
    .values({
      owner_id: p.owner_id,
      surface: p.surface,
      thread: p.thread,
      session_id: p.session_id,
      created_at: p.created_at,
    } satisfies Schema['session_thread'])
    .onConflict((conflict) => conflict.doNothing()),
)
