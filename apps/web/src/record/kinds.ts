import type { AuditKind } from '@countersign/client'
import { showInvisible } from '@countersign/react'

const WORDS: Record<AuditKind, string> = {
  proposed: 'Proposed',
  voted: 'Voted',
  approved: 'Approved',
  declined: 'Declined',
  expired: 'Expired',
  cancelled: 'Cancelled',
  repeated: 'Asked for once more',
  impossible: 'Could not be done',
  asked_again: 'Asked again',
  claimed: 'Claimed',
  executing: 'Started',
  resent: 'Sent again',
  taken_over: 'Taken over',
  retried: 'Retried',
  succeeded: 'Succeeded',
  failed: 'Failed',
  outcome_unknown: 'Outcome unknown',
  resolved: 'Resolved',
  verified: 'Verified',
  checks_ended: 'Automatic checks ended',
  released: 'Released while held',
  voided: 'Voided',
  withdrawn: 'Withdrawn',
  redacted: 'Redacted',
  approve_all: 'Approved all',
  grant_made: 'Grant made',
  grant_revoked: 'Grant revoked',
  delegated: 'Delegated',
  delegation_ended: 'Delegation ended',
  invited: 'Invited to a session',
  uninvited: 'Invitation ended',
  session_renamed: 'Session renamed',
  session_deleted: 'Session deleted',
  escalated: 'Escalated',
  policy_saved: 'Policy saved',
  key_made: 'Key made',
  key_accepted: 'Key accepted',
  key_revoked: 'Key revoked',
  principal_changed: 'Principal changed',
  person_disabled: 'Person disabled',
  person_enabled: 'Person enabled',
  vote_voided: 'Vote voided',
  run_stopped: 'Run stopped',
  signed_in: 'Signed in',
  signed_out: 'Signed out',
  refused: 'Refused',
  sign_in_refused: 'Sign-in refused',
  held: 'Everything held',
  copy_accepted: 'Copy accepted',
  record_problem: 'Record does not match',
  record_accepted: 'Record accepted',
  record_memory_lost: 'Remembered head lost',
  archived: 'Events archived',
}

export const isKind = (text: string): text is AuditKind => Object.hasOwn(WORDS, text)

/** Every kind of row, in the order of the filter. */
export const KINDS: readonly AuditKind[] = Object.keys(WORDS).filter(isKind)

/** The word for a kind; a kind of a newer server is shown as it is. */
export const kindWords = (kind: string): string => (isKind(kind) ? WORDS[kind] : showInvisible(kind))
