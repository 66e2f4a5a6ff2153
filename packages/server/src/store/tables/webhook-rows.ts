import type { DisabledWhy } from '@countersign/core'

/** Where events are sent. */
export interface WebhookRow {
  id: string
  url: string
  description: string
  /** JSON: the types it hears of. */
  events: string
  secret: string
  /** Signs beside the new one until `earlier_until`. */
  earlier_secret: string | null
  earlier_until: number | null
  failing_since: number | null
  disabled_at: number | null
  disabled_why: DisabledWhy | null
  created_by: string
  created_at: number
}

/** One event for one webhook. */
export interface WebhookDeliveryRow {
  webhook_id: string
  /** Of the event. */
  id: string
  type: string
  action_id: string | null
  /** JSON: ids, names of tools, states, times. */
  facts: string
  /** JSON: sentences that may name values. Null for none, and once the action was redacted. */
  words: string | null
  redacted: number
  state: 'waiting' | 'delivered' | 'failed'
  /** Failed attempts since it was last put in the queue. */
  tries: number
  /** How often it was claimed: only the last one to claim it settles it. */
  epoch: number
  /** While it waits: when it is sent, or until when whoever claimed it has it. */
  next_at: number | null
  /** The process that claimed it. */
  runner: string | null
  /** JSON: the last of them. */
  attempts: string
  answer: string | null
  created_at: number
  ended_at: number | null
}
