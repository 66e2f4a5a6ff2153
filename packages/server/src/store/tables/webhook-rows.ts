import type { DisabledWhy } from '@countersign/core'

/** An endpoint that receives events. */
export interface WebhookRow {
  id: string
  url: string
  description: string
  /** JSON: the types it subscribes to. */
  events: string
  /** 1 when agents may name addresses under `url` as callbacks. */
  callbacks: number
  secret: string
  failing_since: number | null
  /** The receiver asked for this pause (`Retry-After`). */
  paused_until: number | null
  disabled_at: number | null
  disabled_why: DisabledWhy | null
  created_by: string
  created_at: number
}

/** A secret that was replaced and still signs. */
export interface WebhookEarlierSecretRow {
  webhook_id: string
  secret: string
  until: number
}

/** The ways in which events leave the server, each in `notify/`. */
export type ChannelName = 'webhook' | 'push'

/** One event for one webhook, or one message for a browser. */
export interface WebhookDeliveryRow {
  /** Id of the webhook, or of the push subscription. */
  webhook_id: string
  channel: ChannelName
  /** Id of the event. */
  id: string
  type: string
  action_id: string | null
  /** 1 when it goes to the callback of its action instead of the webhook's own URL. */
  is_callback: number
  /** JSON: ids, names of tools, states, times. */
  facts: string
  /** JSON: sentences that may contain values. Null when there is none, and once the action was redacted. */
  words: string | null
  redacted: number
  state: 'waiting' | 'delivered' | 'failed'
  /** Failed attempts since it was last enqueued. */
  tries: number
  /** How often it was claimed: only the last claim may settle it. */
  epoch: number
  /** While it waits: when it is sent, or when the current claim expires. */
  next_at: number | null
  /** The process that claimed it. */
  runner: string | null
  /** JSON: the last of them. */
  attempts: string
  answer: string | null
  created_at: number
  ended_at: number | null
}
