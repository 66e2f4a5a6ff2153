import type { Verdict } from '@countersign/core'
import type { ActionRevisionRow, ActionRow, GrantRow, VoteRow } from './action-rows.ts'
import type { AuditHeadRow, AuditRow } from './audit-rows.ts'
import type { KeyResultRow, ObjectiveChangeRow, ObjectiveRow } from './objective-rows.ts'
import type { PreferenceRow } from './preferences.ts'
import type { ApiKeyRow, ConsoleSessionRow, DelegationRow, EmbedTokenRow, PrincipalRow } from './principal-rows.ts'
import type { PushSubscriptionRow } from './push-subscriptions.ts'
import type { SeenRow } from './seen.ts'
import type {
  AgentRequestRow,
  ArchiveFileRow,
  EventRow,
  MessageRow,
  ModelCallRow,
  ParticipantRow,
  RunRow,
  SessionRow,
  SessionThreadRow,
} from './session-rows.ts'
import type { SnoozeRow } from './snoozes.ts'
import type { WebhookDeliveryRow, WebhookEarlierSecretRow, WebhookRow } from './webhook-rows.ts'

/** The tables in the form that both databases share: text ids, epoch milliseconds, JSON as text, booleans as 0 and 1. */
export interface Schema {
  setting: { name: string; value: string }
  principal: PrincipalRow
  api_key: ApiKeyRow
  embed_token: EmbedTokenRow
  console_session: ConsoleSessionRow
  used_sign_in: { state_hash: string; used_at: number }
  session: SessionRow
  session_participant: ParticipantRow
  run: RunRow
  model_call: ModelCallRow
  message: MessageRow
  action: ActionRow
  action_revision: ActionRevisionRow
  vote: VoteRow
  delegation: DelegationRow
  action_grant: GrantRow
  event: EventRow
  agent_request: AgentRequestRow
  archive_file: ArchiveFileRow
  audit: AuditRow
  audit_head: AuditHeadRow
  policy_version: PolicyVersionRow
  policy_difference: PolicyDifferenceRow
  gateway_call: GatewayCallRow
  tool_pin: ToolPinRow
  registered_tool: RegisteredToolRow
  session_thread: SessionThreadRow
  objective: ObjectiveRow
  key_result: KeyResultRow
  objective_change: ObjectiveChangeRow
  webhook: WebhookRow
  webhook_delivery: WebhookDeliveryRow
  webhook_earlier_secret: WebhookEarlierSecretRow
  push_subscription: PushSubscriptionRow
  preference: PreferenceRow
  snooze: SnoozeRow
  action_seen: SeenRow
  instance: InstanceRow
  once: { scope: string; key: string; request_hash: string; answer: string; kept_for: 'day' | 'action'; created_at: number }
}

/** The one row that identifies the installation of the database. */
export interface InstanceRow {
  only_one: number
  /** Changes with each epoch. */
  id: string
  /** Increases whenever a copy is accepted. */
  epoch: number
  /** Null until a server has started on it. */
  bound_at: number | null
  /** On Postgres: the cluster and the database in it. */
  system: string | null
  /** On Postgres: the timeline that a process has vouched for. */
  timeline: string | null
  /** Hash of the token that its processes have in their environment. */
  token: string | null
  /** While this is set, nothing is executed. */
  held_at: number | null
  held_why: string | null
}

/** A source's definition of a tool, when it was first seen or when people last accepted it. */
export interface ToolPinRow {
  group_name: string
  tool: string
  hash: string
  definition: string
  pinned_at: number
}

export interface RegisteredToolRow {
  name: string
  owner_id: string
  definition: string
  hash: string
  accepted: string
  accepted_hash: string
  removed_at: number | null
  created_at: number
  updated_at: number
}

export interface PolicyVersionRow {
  number: number
  document: string
  /** The document as its author wrote it, comments included; null where it came as data. */
  written: string | null
  /** SHA-256 (hex) of the document's canonical form. */
  digest: string
  source: 'file' | 'api'
  /** The principal who saved it. */
  author: string | null
  reason: string
  /** `shadow`: on trial beside the one in force, without effect. */
  in_use: 'force' | 'shadow' | null
  /** The version that was in force when it was saved; null for the first, and for those from before this was stored. */
  replaces: number | null
  created_at: number
}

/** A proposal on which the version on trial has a different verdict. */
export interface PolicyDifferenceRow {
  shadow: number
  action_id: string
  in_force: number
  was: Verdict
  would_be: Verdict
  /** JSON: the complete result of the version on trial. */
  said: string
}

/** A call over MCP whose result was not delivered yet. */
export interface GatewayCallRow {
  /** Hash of caller, tool and arguments. */
  call: string
  /** The idempotency key of its proposal. */
  once_key: string
  /** Null until it was proposed. */
  action_id: string | null
  created_at: number
}
