import { z } from 'zod'
import { Json } from './json.ts'
import { PageQuery } from './page.ts'
import { PrincipalKind } from './principal.ts'
import { SeenBy } from './seen.ts'

/**
 * The kinds of rows in the record. About an action, each row is one transition. About the `system`, each row is a change of rights or
 * rules. Add a kind here, and say in scripts/docs/record-texts.ts what its row holds.
 */
export const AUDIT_KINDS = [
  'proposed',
  'repeated',
  'impossible',
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
  'checks_ended',
  'released',
  'voided',
  'withdrawn',
  'ran_elsewhere',
  'redacted',
  'approve_all',
  'grant_made',
  'grant_revoked',
  'delegated',
  'delegation_ended',
  'invited',
  'uninvited',
  'session_renamed',
  'session_deleted',
  'escalated',
  'extended',
  'assigned',
  'policy_saved',
  'key_made',
  'key_accepted',
  'key_revoked',
  'embed_token_made',
  'webhook_made',
  'webhook_changed',
  'webhook_rotated',
  'webhook_disabled',
  'webhook_deleted',
  'tool_registered',
  'tool_changed',
  'tool_removed',
  'tool_accepted',
  'principal_changed',
  'person_disabled',
  'person_enabled',
  'vote_voided',
  'run_stopped',
  'signed_in',
  'signed_out',
  'refused',
  'sign_in_refused',
  'held',
  'copy_accepted',
  'record_problem',
  'record_accepted',
  'record_memory_lost',
  'archived',
] as const
export type AuditKind = (typeof AUDIT_KINDS)[number]

/** The actor. The server itself has the kind `system`. */
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
  /** The details, without secrets of the configuration. Null once it was redacted. */
  data: z.record(z.string(), Json).nullable(),
  dataHash: z.string(),
  prev: z.string(),
  hash: z.string(),
  /** True when a signed head covers it: a second after it was written, as a rule. */
  sealed: z.boolean(),
})
export type AuditEntryView = z.infer<typeof AuditEntryView>

/** The names of the principals whose ids rows mention, by id. */
const Names = z.record(z.string(), z.string())

export const AuditList = z.object({
  items: z.array(AuditEntryView),
  nextCursor: z.string().nullable(),
  names: Names,
  /** The titles of the actions that the rows are about, by id; none for a redacted one. */
  titles: z.record(z.string(), z.string()),
  /**
   * When whoever decided first had that revision on their screen, by the id of the row of the decision. Their page reported it, so it is
   * beside the chain and no part of it; a decision without it says nothing about looking.
   */
  seen: z.record(z.string(), z.string()),
})
export type AuditList = z.infer<typeof AuditList>

/** How an action came to its end: its rows of the record, the oldest first, and what its agent was told. */
export const ActionStory = z.object({
  steps: z.array(AuditEntryView.pick({ id: true, at: true, kind: true, actor: true, data: true })),
  names: Names,
  /** The people who have had the action on their screen, once for each revision, the earliest first; the newest 200. Empty for an agent or a service. */
  seen: z.array(SeenBy),
  /** When its result was put into its conversation; null while it was not, and for an action without one: that agent asks for it. */
  toldAt: z.string().nullable(),
  /** The model's next answer in the conversation; tokens where they are known. */
  answered: z
    .object({ at: z.string(), model: z.string().nullable(), inputTokens: z.int().nullable(), outputTokens: z.int().nullable() })
    .nullable(),
})
export type ActionStory = z.infer<typeof ActionStory>

const Instant = z.iso.datetime({ offset: true })

/** `since` and `until` are ISO 8601: from that time on, and before it. */
export const AuditListQuery = z.object({
  action: z.string().max(200).optional().describe('Only rows about this action: its id.'),
  session: z.string().max(200).optional().describe('Only rows of this session: its id.'),
  actor: z.string().max(200).optional().describe('Only rows of this actor: its id.'),
  kind: z.enum(AUDIT_KINDS).optional().describe('Only rows of this kind.'),
  since: Instant.optional().describe('From this time on.'),
  until: Instant.optional().describe('Before this time.'),
  ...PageQuery.shape,
})
export type AuditListQuery = z.infer<typeof AuditListQuery>

export const AuditExportQuery = z.object({
  format: z.enum(['jsonl', 'csv']).default('jsonl').describe('The format of the answer.'),
  since: Instant.optional().describe('From this time on.'),
  until: Instant.optional().describe('Before this time.'),
})
export type AuditExportQuery = z.infer<typeof AuditExportQuery>

/** The public half of what the record is signed with: 32 bytes as base64url. */
export const AuditKeyView = z.object({ algorithm: z.literal('Ed25519'), publicKey: z.string() })
export type AuditKeyView = z.infer<typeof AuditKeyView>

const HeadRefView = z.object({ number: z.int(), hash: z.string() })

/** Whether the record is sealed, and how far back this server remembers what it signed. */
export const AuditSealView = z.object({
  /** Why no head is signed: the database does not hold the record that this server remembers. Null while all is well. */
  problem: z
    .object({
      /** `behind`: newer heads are missing, as in an earlier copy. `changed`: something that was sealed is not what it was. */
      kind: z.enum(['behind', 'changed']),
      why: z.string(),
      since: z.string(),
      found: HeadRefView,
      remembered: HeadRefView,
    })
    .nullable(),
  /** The newest head. Noted down elsewhere, it proves everything before it: `countersign audit verify FILE --anchor NUMBER:HASH`. */
  head: HeadRefView.extend({ at: z.string() }).nullable(),
  memory: z.object({
    /** `file`: outside the database; a restart does not end it. */
    place: z.enum(['file', 'process']),
    /** Since when, and from which head on, heads are remembered without a break. Null before the first head. */
    since: z.string().nullable(),
    from: z.int().nullable(),
  }),
  /** Where heads are sent, as `record.anchor` of the configuration says: the newest that arrived, and why the last try failed. */
  anchor: z.object({ head: z.int().nullable(), failure: z.string().nullable() }).nullable(),
})
export type AuditSealView = z.infer<typeof AuditSealView>

/** Why the record is accepted as it is found. */
export const AcceptRecordBody = z.strictObject({ reason: z.string().trim().min(1).max(2_000) })
export type AcceptRecordBody = z.infer<typeof AcceptRecordBody>

/** Why the data of an action is blanked. The reason itself stays. */
export const RedactBody = z.strictObject({ reason: z.string().trim().min(1).max(2_000) })
export type RedactBody = z.infer<typeof RedactBody>
