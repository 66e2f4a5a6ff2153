import { question } from '../query.ts'
import type { ModelCallRow } from './schema.ts'

/** Keeps which model made a step of a run, and what it counted. */
export const insertModelCall = question<{ [K in keyof ModelCallRow]: ModelCallRow[K] }>((db, p) =>
  db.insertInto('model_call').values({
    session_id: p.session_id,
    run_id: p.run_id,
    step: p.step,
    agent: p.agent,
    model: p.model,
    fell_back: p.fell_back,
    error: p.error,
    input_tokens: p.input_tokens,
    cached_input_tokens: p.cached_input_tokens,
    cache_write_tokens: p.cache_write_tokens,
    output_tokens: p.output_tokens,
    estimated: p.estimated,
    created_at: p.created_at,
  }),
)
