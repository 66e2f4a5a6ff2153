import { z } from 'zod'
import { Json } from './json.ts'
import { PrincipalKind } from './principal.ts'

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
  'taken_over',
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

/** Who did it. The server itself, for what nobody asked for, is of the kind `system`. */
export const AuditActor = z.object({ id: z.string(), kind: z.enum([...PrincipalKind.options, 'system']), name: z.string() })
export type AuditActor = z.infer<typeof AuditActor>

/** One row of the record. */
export const AuditEntryView = z.object({
  id: z.int(),
  scope: z.string(),
  seq: z.int(),
  at: z.string(),
  kind: z.enum(AUDIT_KINDS),
  actor: AuditActor,
  actionId: z.string().nullable(),
  /** Null once it was redacted. */
  data: z.record(z.string(), Json).nullable(),
  dataHash: z.string(),
  prev: z.string(),
  hash: z.string(),
  /** True when a signed head covers it: a second after it was written, as a rule. */
  sealed: z.boolean(),
})
export type AuditEntryView = z.infer<typeof AuditEntryView>

export const AuditList = z.object({ items: z.array(AuditEntryView), nextCursor: z.string().nullable() })
export type AuditList = z.infer<typeof AuditList>

const Instant = z.iso.datetime({ offset: true })

/** `since` and `until` are ISO 8601: from that time on, and before it. */
export const AuditListQuery = z.object({
  action: z.string().max(200).optional(),
  session: z.string().max(200).optional(),
  actor: z.string().max(200).optional(),
  kind: z.enum(AUDIT_KINDS).optional(),
  since: Instant.optional(),
  until: Instant.optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(200).optional(),
})
export type AuditListQuery = z.infer<typeof AuditListQuery>

export const AuditExportQuery = z.object({
  format: z.enum(['jsonl', 'csv']).default('jsonl'),
  since: Instant.optional(),
  until: Instant.optional(),
})
export type AuditExportQuery = z.infer<typeof AuditExportQuery>

/** The public half of what the record is signed with: 32 bytes as base64url. */
export const AuditKeyView = z.object({ algorithm: z.literal('Ed25519'), publicKey: z.string() })
export type AuditKeyView = z.infer<typeof AuditKeyView>

/** Why the data of an action is blanked. The reason itself stays. */
export const RedactBody = z.strictObject({ reason: z.string().trim().min(1).max(2_000) })
export type RedactBody = z.infer<typeof RedactBody>
