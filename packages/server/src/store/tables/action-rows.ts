import type { ActionState, Effect, Executor } from '@countersign/core'

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
  /** 0 for a vote that did not count when its action was decided last; null for any other. */
  counts: 0 | null
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
