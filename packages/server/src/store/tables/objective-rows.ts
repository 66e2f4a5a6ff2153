import type { ObjectiveChangeKind, ObjectiveState } from '@countersign/core'

export interface ObjectiveRow {
  id: string
  title: string
  description: string
  owner: string
  period: string
  state: ObjectiveState
  /** Increases with every change of its own values; key results have their own. */
  version: number
  created_at: number
  updated_at: number
}

export interface KeyResultRow {
  id: string
  objective_id: string
  title: string
  metric: string
  unit: string
  /** Decimals as text: `0.1` stays exact, instead of the nearest double. */
  start_value: string
  target_value: string
  current_value: string
  version: number
  /** When it was removed; its history stays. */
  archived_at: number | null
  created_at: number
  updated_at: number
}

/** A change of an objective: one for every attempt. */
export interface ObjectiveChangeRow {
  id: string
  objective_id: string
  key_result_id: string | null
  kind: ObjectiveChangeKind
  before: string
  after: string
  note: string | null
  by_id: string | null
  action_id: string
  attempt_key: string
  at: number
}
