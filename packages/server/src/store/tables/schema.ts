import type { ActionState, Effect, Executor, PrincipalKind, SessionStatus, Verdict } from '@countersign/core'
import type { KeyResultRow, ObjectiveChangeRow, ObjectiveRow } from './objective-rows.ts'
import type { WebhookDeliveryRow, WebhookRow } from './webhook-rows.ts'

/** The tables as both databases hold them: text ids, epoch milliseconds, JSON as text, booleans as 0 and 1. */
export interface Schema {
  setting: { name: string; value: string }
  principal: PrincipalRow
  api_key: ApiKeyRow
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
  objective: ObjectiveRow
  key_result: KeyResultRow
  objective_change: ObjectiveChangeRow
  webhook: WebhookRow
  webhook_delivery: WebhookDeliveryRow
  instance: InstanceRow
  once: { scope: string; key: string; request_hash: string; answer: string; kept_for: 'day' | 'action'; created_at: number }
}

/** The one row that says which installation the database belongs to. */
export interface InstanceRow {
  only_one: number
  /** Another one with each epoch. */
  id: string
  /** Begins anew whenever a copy is accepted. */
  epoch: number
  /** Null until a server has started on it. */
  bound_at: number | null
  /** Of Postgres: the cluster and the database in it. */
  system: string | null
  /** Of Postgres: the timeline that a process has vouched for. */
  timeline: string | null
  /** Hash of the token that its processes have in their environment. */
  token: string | null
  /** While this is set, nothing is carried out. */
  held_at: number | null
  held_why: string | null
}

/** What a source said that a tool is, when it was first seen or when people last agreed to it. */
export interface ToolPinRow {
  group_name: string
  tool: string
  hash: string
  definition: string
  pinned_at: number
}

export interface PrincipalRow {
  id: string
  kind: PrincipalKind
  name: string
  roles: string
  /** The person behind it: its own id for a person, the owner of an agent or a service. */
  person_id: string | null
  /** A disabled person signs in nowhere, and nothing of theirs counts. */
  disabled_at: number | null
  disabled_by: string | null
  /** JSON: which of `roles` the sign-in service gave; null for somebody who has never used one. */
  provided_roles: string | null
  /** The name that an agent's keys prove; null for persons and services, and for agents from before names were kept. */
  agent: string | null
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
  /** JSON: what it may be used for; null for everything. */
  scopes: string | null
  expires_at: number | null
  revoked_at: number | null
  revoked_by: string | null
  /** To the minute. */
  last_used_at: number | null
  /** When its person accepted it, or when it was made where nobody has to. A person's key without it only reads. */
  accepted_at: number | null
  created_at: number
}

/** Somebody signed in at a console. */
export interface ConsoleSessionRow {
  id: string
  principal_id: string
  /** Of the secret in its cookie, and of the one before. */
  hash: string
  earlier_hash: string | null
  how: 'local' | 'key' | 'oidc'
  /** Of the key that opened it: it ends with that key. */
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
  /** Since then nobody sees it: what was said is gone, its actions and its part of the record are kept. */
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

/** Somebody who may write in a session besides its owner. */
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
  /** How many of its steps have estimated tokens, because the provider did not say. */
  estimated_steps: number
  created_at: number
  updated_at: number
}

/** One step of a run: which model answered, and what that counted. */
export interface ModelCallRow {
  session_id: string
  run_id: string
  /** From 1. */
  step: number
  agent: string
  /** Who answered, or failed last. */
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

/** A request that runs when somebody calls for it. */
export interface AgentRequestRow {
  /** Of its run, which begins when it is called for and has its turn. */
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
  /** 1 while it waits for its turn, 2 while it is held until somebody executes it. With a `run_id`, its run will be that one. */
  queued: number
  content: string
  tool_calls: string | null
  tool_call_id: string | null
  action_ids: string | null
  model: string | null
  payload: string | null
  /** Who wrote it, where a person or a program did. */
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
  /** Whose rights it happens with. */
  credential: string
  definition_hash: string
  arguments: string
  digest: string
  revision: number
  /** Why the revision is not the first: JSON of `{why, reason, by, at}`. */
  revised: string | null
  /** Who changed the arguments last. */
  edited_by: string | null
  description: string
  preview: string | null
  preview_error: string | null
  previewed_at: number | null
  /** Hash of what has to be the same still when it starts. */
  precondition: string | null
  /** The version of the target that the attempt is held against. */
  target_version: string | null
  risk: string
  state: ActionState
  policy: string
  requires: string
  requested_by: string
  /** JSON: the ids of all whose words led to it; null for one from before this was kept. */
  requesters: string | null
  agent: string | null
  /** 1 when the key of the caller proves the agent's name. Of an action in a session it says nothing: that agent is the server's own. */
  agent_verified: number
  agent_says: string | null
  /** How often it was asked for. */
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
  /** The principal whose client carries the attempt out. */
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
  /** When people are reminded; null once they were. */
  remind_at: number | null
  /** When others are asked too, until they were. */
  escalate_at: number | null
  /** The grant by which it was approved. */
  grant_id: string | null
  /** Since then nothing can be done about it any more. */
  archived_at: number | null
  /** Since then what it was about is blanked. */
  redacted_at: number | null
  /** The epoch of the installation that the last attempt was started in. */
  instance_epoch: number | null
  /** When a person let it go on although the rest was held. */
  released_at: number | null
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
  /** Why it is over: JSON as of {@link ActionRow.revised}. */
  ended: string
}

export interface VoteRow {
  action_id: string
  revision: number
  principal_id: string
  /** The person whose right it uses, where that is not the voter's own. */
  for_id: string | null
  verdict: 'approve' | 'decline'
  reason: string | null
  created_at: number
}

/** Who decides in whose place, and until when. */
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
  /** Of a session: JSON, the ids of those whose requests it covers; null for the session's owner alone. */
  requesters: string | null
  /** Null for any of `definitions`. */
  tool: string | null
  /** JSON: the tools as they were, by name, each with the hash of its definition. */
  definitions: string
  /** Canonical JSON of exactly these arguments. */
  arguments: string | null
  /** CEL. */
  condition: string | null
  uses_left: number | null
  used: number
  last_used_at: number | null
  made_by: string
  /** The action it was made for. */
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
  events: string
  created_at: number
}

/** One file of the archive. Without a hash it is still being written, or was when its run was interrupted. */
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

/** One row of the record. `hash` covers everything but `id`; the data by its hash, so that it can be blanked. */
export interface AuditRow {
  /** Its place in the record. */
  id: number
  /** A session, an action that has none, or `system`. */
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
  /** Canonical JSON; null once redacted, as the salt. */
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
  /** What a person accepted before this head, as JSON; null for almost all. */
  gap: string | null
}

export interface PolicyVersionRow {
  number: number
  document: string
  /** SHA-256 (hex) of the document's canonical form. */
  digest: string
  source: 'file' | 'api'
  /** The principal who saved it. */
  author: string | null
  reason: string
  /** `shadow`: tried beside the one in force, and decides nothing. */
  in_use: 'force' | 'shadow' | null
  /** The version that was in force when it was saved; null for the first, and for those of before this was kept. */
  replaces: number | null
  created_at: number
}

/** A proposal about which the version that is tried says something else. */
export interface PolicyDifferenceRow {
  shadow: number
  action_id: string
  in_force: number
  was: Verdict
  would_be: Verdict
  /** JSON: all that the tried version says. */
  said: string
}

/** A call that came in over MCP and whose result nobody was given yet. */
export interface GatewayCallRow {
  /** Hash of who calls what with which arguments. */
  call: string
  /** Under which it is proposed once. */
  once_key: string
  /** Null until it was proposed. */
  action_id: string | null
  created_at: number
}
