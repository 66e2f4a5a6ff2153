import type { SessionStatus } from '@countersign/core'

export interface SessionRow {
  id: string
  agent: string
  title: string
  status: SessionStatus
  owner_id: string
  archived_at: number | null
  /** Its events up to this number are in the archive. */
  archived_seq: number
  /** Since then it is invisible: its messages are deleted, its actions and its part of the record are kept. */
  deleted_at: number | null
  last_seq: number
  last_run: number
  /** The end of the session's chain in the record: number, hash and place of its last row; null without any. */
  audit_seq: number
  audit_hash: string
  audit_place: number | null
  created_at: number
  updated_at: number
}

/** A person who may write in a session besides its owner. */
export interface ParticipantRow {
  session_id: string
  principal_id: string
  invited_by: string
  created_at: number
}

export interface SessionThreadRow {
  owner_id: string
  surface: string
  thread: string
  session_id: string
  created_at: number
}

export interface RunRow {
  session_id: string
  number: number
  id: string
  state: 'open' | 'done' | 'failed' | 'cancelled'
  steps: number
  input_tokens: number
  cached_input_tokens: number
  output_tokens: number
  cache_write_tokens: number
  /** How many of its steps have estimated tokens, because the provider reported none. */
  estimated_steps: number
  created_at: number
  updated_at: number
}

/** One step of a run: the model that answered, and its usage. */
export interface ModelCallRow {
  session_id: string
  run_id: string
  /** From 1. */
  step: number
  agent: string
  /** The model that answered, or failed last. */
  model: string
  /** Why the agent's first model did not answer. */
  fell_back: string | null
  /** Why the step failed. */
  error: string | null
  input_tokens: number
  cached_input_tokens: number
  cache_write_tokens: number
  output_tokens: number
  estimated: number
  created_at: number
}

/** A request that runs only during a call. */
export interface AgentRequestRow {
  /** Id of its run, which begins when it is called and has its turn. */
  id: string
  session_id: string
  /** The place of its message while that is held. */
  held_seq: number
}

export interface MessageRow {
  session_id: string
  seq: number
  id: string
  run_id: string | null
  role: 'user' | 'assistant' | 'tool' | 'system'
  kind: 'text' | 'request' | 'note'
  in_history: number
  /** 1 while it waits for its turn, 2 while it is held until a client calls it. With a `run_id`, its run will be that one. */
  queued: number
  content: string
  tool_calls: string | null
  tool_call_id: string | null
  action_ids: string | null
  model: string | null
  payload: string | null
  /** The author, where a person or a program wrote it. */
  author_id: string | null
  created_at: number
}

export interface EventRow {
  /** Given by the database on insert. */
  id: number
  session_id: string | null
  last_seq: number | null
  delta_of: string | null
  inbox: number
  /** JSON, shortened: see `eventsJson`. */
  events: string
  created_at: number
}

/** One file of the archive. Without a hash it is being written, or its run was interrupted. */
export interface ArchiveFileRow {
  number: number
  /** Absolute. */
  folder: string
  name: string
  /** Hex, of the file's bytes. */
  sha256: string | null
  /** The hash of its last line. */
  head: string | null
  bytes: number | null
  row_count: number | null
  /** The highest id of an event row that was archived, in this file or before. */
  last_event: number | null
  created_at: number
}
