/** One row of the record. `hash` covers everything but `id`, and the data through its own hash, so that the data can be redacted. */
export interface AuditRow {
  /** Its place in the record. */
  id: number
  /** A session, an action without one, or `system`. */
  scope: string
  /** Its number in the scope, from 1. */
  seq: number
  /** The hash of the row before it in the scope; empty for the first. */
  prev: string
  /** The place of that row; null for the first. */
  follows: number | null
  at: number
  kind: string
  actor: string
  action_id: string | null
  /** Canonical JSON; null once redacted, like the salt. */
  data: string | null
  salt: string | null
  data_hash: string
  hash: string
}

/** A signed link of the record: the rows from `first_id` to `last_id`, and the head before it. */
export interface AuditHeadRow {
  number: number
  prev: string
  at: number
  first_id: number
  last_id: number
  row_count: number
  first_at: number
  last_at: number
  rows_hash: string
  key: string
  hash: string
  signature: string
  /** 1: of a version before 27; 2: covers `follows` of its rows, and `gap`. */
  format: number
  /** The gap that a person accepted before this head, as JSON; null for almost all. */
  gap: string | null
}
