import type { ActionState, Effect, Executor, PrincipalKind, SessionStatus, Verdict } from '@countersign/core'
import type { KeyResultRow, ObjectiveChangeRow, ObjectiveRow } from './objective-rows.ts'
import type { PreferenceRow } from './preferences.ts'
import type { PushSubscriptionRow } from './push-subscriptions.ts'
import type { SeenRow } from './seen.ts'
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

export interface SessionThreadRow {
  owner_id: string
  surface: string
  thread: string
  session_id: string
  created_at: number
}

export interface PrincipalRow {
  id: string
  kind: PrincipalKind
  name: string
  roles: string
  /** The person behind it: its own id for a person, the owner of an agent or a service. */
  person_id: string | null
  /** A disabled person can sign in nowhere, and none of their votes and credentials counts. */
  disabled_at: number | null
  disabled_by: string | null
  /** JSON: which of `roles` the sign-in service gave; null for a principal that has never used one. */
  provided_roles: string | null
  /** The name that an agent's keys prove; null for persons and services, and for agents from before names were stored. */
  agent: string | null
  /** Of a person that only embed tokens identify: the service that vouches for them. */
  host_id: string | null
  created_at: number
}

export interface ApiKeyRow {
  id: string
  principal_id: string
  name: string
  hash: string
  created_by: string | null
  /** JSON: which of its principal's roles it carries; null for all of them. */
  roles: string | null
  /** JSON: the scopes that it is limited to; null for everything. */
  scopes: string | null
  expires_at: number | null
  revoked_at: number | null
  revoked_by: string | null
  /** To the minute. */
  last_used_at: number | null
  /** When its person accepted it, or when it was created if no acceptance is needed. Without it, a person's key can only read. */
  accepted_at: number | null
  /** JSON: the roles that its embed tokens may carry; null for a key that makes none. */
  embed_roles: string | null
  created_at: number
}

/** A short-lived token that a host's server made for one of its own people. */
export interface EmbedTokenRow {
  id: string
  hash: string
  /** The host's key: its tokens end with it. */
  key_id: string
  principal_id: string
  /** JSON. */
  roles: string
  created_at: number
  expires_at: number
}

/** A person's session at a console. */
export interface ConsoleSessionRow {
  id: string
  principal_id: string
  /** Hash of the secret in its cookie, and of the previous one. */
  hash: string
  earlier_hash: string | null
  how: 'local' | 'key' | 'oidc'
  /** Hash of the key that opened it: it ends with that key. */
  key_hash: string | null
  id_token: string | null
  created_at: number
  /** To the minute. */
  seen_at: number
  rotated_at: number
  ended_at: number | null
}

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

export interface ActionRow {
  id: string
  session_id: string | null
  run_id: string | null
  message_id: string | null
  tool_call_id: string | null
  position: number
  tool: string
  effect: Effect
  destination: string
  /** The principal whose rights apply. */
  credential: string
  definition_hash: string
  arguments: string
  digest: string
  revision: number
  /** Why the revision is not the first: JSON of `{why, reason, by, at}`. */
  revised: string | null
  /** The person who changed the arguments last. */
  edited_by: string | null
  description: string
  preview: string | null
  preview_error: string | null
  previewed_at: number | null
  /** Hash of the values that must be unchanged when it starts. */
  precondition: string | null
  /** The version of the target that the attempt is checked against. */
  target_version: string | null
  risk: string
  state: ActionState
  policy: string
  requires: string
  requested_by: string
  /** JSON: the ids of all authors whose messages led to it; null for one from before they were stored. */
  requesters: string | null
  agent: string | null
  /** 1 when the key of the caller proves the agent's name. Unused for an action in a session: that agent is the server's own. */
  agent_verified: number
  agent_says: string | null
  /** Further claims of the agent: JSON of `{run?, url?, reason?}`. */
  context: string | null
  /** Where its proposer is told what became of it: JSON of `{webhook, url}`. */
  callback: string | null
  /** How often it was proposed. */
  times_asked: number
  /** 1 when it was proposed without an idempotency key. */
  unkeyed: number
  executor: Executor
  attempt: number
  epoch: number
  result_delivered: number
  runner: string | null
  due_at: number | null
  resolution: string | null
  cached_from: string | null
  reusable_until: number | null
  /** The principal whose client executes the attempt. */
  claimed_by: string | null
  idempotency_key: string
  /** 1 once an attempt ended without a known outcome: from then on the idempotency key stays. */
  in_doubt: number
  /** The attempt that the current series of sends began with. */
  first_send: number
  /** How an unknown outcome is checked: JSON of `{since, until, lastAt, lastFound}`. The next check is at `due_at`. */
  checks: string | null
  result: string | null
  result_url: string | null
  error: string | null
  expires_at: number | null
  /** The extension of the deadline: JSON of `{by, at, from}`. Null while nobody did; then it stays, so that it is done once. */
  extended: string | null
  /** JSON of who should decide, said by whom and when; null for nobody in particular. */
  assigned: string | null
  /** When people are reminded; null after the reminder. */
  remind_at: number | null
  /** When it is escalated to further people; null after that. */
  escalate_at: number | null
  /** The grant that approved it. */
  grant_id: string | null
  /** Since then it can no longer change. */
  archived_at: number | null
  /** Since then its content is redacted. */
  redacted_at: number | null
  /** The epoch of the installation in which the last attempt started. */
  instance_epoch: number | null
  /** When a person released it from a hold. */
  released_at: number | null
  /** When an approved action starts, if it has a grace period. It has begun to be due once `due_at` is null. */
  starts_at: number | null
  /** When its current revision was approved or declined, by people or the policy. */
  decided_at: number | null
  /** When its last attempt started. */
  started_at: number | null
  /** When it was settled; null while it is not, also after an attempt that is repeated. */
  settled_at: number | null
  created_at: number
  updated_at: number
}

/** An earlier revision of an action. */
export type ActionRevisionRow = Pick<
  ActionRow,
  | 'revision'
  | 'tool'
  | 'arguments'
  | 'digest'
  | 'definition_hash'
  | 'destination'
  | 'credential'
  | 'precondition'
  | 'description'
  | 'preview'
  | 'preview_error'
  | 'previewed_at'
  | 'risk'
  | 'policy'
  | 'requires'
  | 'revised'
> & {
  action_id: string
  /** Why it was replaced: JSON as in {@link ActionRow.revised}. */
  ended: string
}

export interface VoteRow {
  action_id: string
  revision: number
  principal_id: string
  /** The person whose right it uses, if that is not the voter's own. */
  for_id: string | null
  verdict: 'approve' | 'decline'
  reason: string | null
  created_at: number
}

/** A delegation: who votes in whose place, and until when. */
export interface DelegationRow {
  id: string
  from_id: string
  to_id: string
  reason: string | null
  made_by: string
  expires_at: number
  revoked_at: number | null
  revoked_by: string | null
  created_at: number
}

/** A recorded approval of later calls. */
export interface GrantRow {
  id: string
  scope: 'session' | 'agent'
  session_id: string | null
  agent: string | null
  /** The key of the outside agent that it is for; null for an agent of the configuration. */
  requested_by: string | null
  /** Of a session: JSON, the ids of the requesters that it covers; null for the session's owner alone. */
  requesters: string | null
  /** Null for any of `definitions`. */
  tool: string | null
  /** JSON: the tools at that time, by name, each with the hash of its definition. */
  definitions: string
  /** Canonical JSON of exactly these arguments. */
  arguments: string | null
  /** CEL. */
  condition: string | null
  uses_left: number | null
  used: number
  last_used_at: number | null
  made_by: string
  /** The action that it was created from. */
  made_from: string | null
  expires_at: number
  revoked_at: number | null
  revoked_by: string | null
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
