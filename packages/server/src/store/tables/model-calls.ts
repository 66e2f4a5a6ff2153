import { insertInto } from './insert.ts'

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
