import type { AuditKind } from '@countersign/core'

/**
 * What each kind of row of the record says about the end of its action: it ended, it ended with an unknown outcome, or nothing. A new kind does
 * not compile until it is named here.
 */
const ENDS: Readonly<Record<AuditKind, 'ended' | 'unknown' | 'no'>> = {
  proposed: 'no',
  repeated: 'no',
  impossible: 'no',
  voted: 'no',
  approved: 'no',
  declined: 'ended',
  expired: 'ended',
  cancelled: 'ended',
  asked_again: 'no',
  claimed: 'no',
  executing: 'no',
  resent: 'no',
  taken_over: 'no',
  retried: 'no',
  succeeded: 'ended',
  failed: 'ended',
  outcome_unknown: 'unknown',
  resolved: 'ended',
  verified: 'ended',
  checks_ended: 'no',
  released: 'no',
  voided: 'ended',
  withdrawn: 'ended',
  redacted: 'no',
  approve_all: 'no',
  grant_made: 'no',
  grant_revoked: 'no',
  delegated: 'no',
  delegation_ended: 'no',
  invited: 'no',
  uninvited: 'no',
  session_renamed: 'no',
  session_deleted: 'no',
  escalated: 'no',
  policy_saved: 'no',
  key_made: 'no',
  key_accepted: 'no',
  key_revoked: 'no',
  embed_token_made: 'no',
  webhook_made: 'no',
  webhook_changed: 'no',
  webhook_rotated: 'no',
  webhook_disabled: 'no',
  webhook_deleted: 'no',
  principal_changed: 'no',
  person_disabled: 'no',
  person_enabled: 'no',
  vote_voided: 'no',
  run_stopped: 'no',
  signed_in: 'no',
  signed_out: 'no',
  refused: 'no',
  sign_in_refused: 'no',
  held: 'no',
  copy_accepted: 'no',
  record_problem: 'no',
  record_accepted: 'no',
  record_memory_lost: 'no',
  archived: 'no',
}

/** True for a row that says that its action ended with a known outcome. */
export const endsAction = (kind: AuditKind): boolean => ENDS[kind] === 'ended'

/** True for a row that says that its action ended, with a known outcome or an unknown one. */
export const endsOrIsUnknown = (kind: AuditKind): boolean => ENDS[kind] !== 'no'
