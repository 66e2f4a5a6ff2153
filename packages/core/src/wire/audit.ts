/**
 * What the record knows to have happened. To an action: each is one transition. To a `system`: who may do what, and which rules hold.
 * Add a kind here, and say in docs/audit.md what its row holds.
 */
export const AUDIT_KINDS = [
  'proposed',
  'voted',
  'approved',
  'declined',
  'expired',
  'cancelled',
  'asked_again',
  'claimed',
  'executing',
  'resent',
  'retried',
  'succeeded',
  'failed',
  'outcome_unknown',
  'resolved',
  'verified',
  'redacted',
  'approve_all',
  'grant_made',
  'grant_revoked',
  'delegated',
  'delegation_ended',
  'escalated',
  'policy_saved',
  'key_made',
  'key_revoked',
  'principal_changed',
  'signed_in',
  'signed_out',
] as const
export type AuditKind = (typeof AUDIT_KINDS)[number]
