import { lit, question } from '../query.ts'
import { insertInto } from './insert.ts'
import type { Schema } from './schema.ts'

/** Stores which model made a step of a run, and its usage. */
export const insertModelCall = insertInto('model_call', {
  session_id: true,
  run_id: true,
  step: true,
  agent: true,
  model: true,
  fell_back: true,
  error: true,
  input_tokens: true,
  cached_input_tokens: true,
  cache_write_tokens: true,
  output_tokens: true,
  estimated: true,
  created_at: true,
})

/** The call whose answer was stored at this time: a step stores its message and its call in one transaction. */
export const callAt = question<{ created_at: number; session_id: string; run_id: string }, Schema['model_call']>((db, p) =>
  db
    .selectFrom('model_call')
    .selectAll()
    .where('created_at', '=', p.created_at)
    .where('session_id', '=', p.session_id)
    .where('run_id', '=', p.run_id)
    .limit(lit(1)),
)
