import { z } from 'zod'
import { Duration, durationMs } from './duration.ts'
import { Json } from './json.ts'
import { PageQuery } from './page.ts'
import { Principal } from './principal.ts'

const MAX_GRANT_MS = 30 * 86_400_000

/** The longest condition of a grant, in characters. */
export const MAX_WHEN_CHARS = 2_000

const GrantTime = Duration.refine((text) => (durationMs(text) ?? 0) <= MAX_GRANT_MS, 'a grant ends after 30 days at most: P30D')

const terms = {
  /** For the session alone, or for the agent wherever it works. */
  scope: z.enum(['session', 'agent']),
  /** How long it holds: at most `P30D`. */
  expiresIn: GrantTime,
  /** For exactly these arguments. */
  exact: z.literal(true).optional(),
  /** For arguments that fit this condition (CEL over `args`, `tool`, `agent`, `session`, `requester`). */
  when: z.string().trim().min(1).max(MAX_WHEN_CHARS).optional(),
  /** How often it may be used; without it as often as it likes. */
  uses: z.int().min(1).max(100_000).optional(),
}

const isOne = ({ exact, when }: { exact?: true | undefined; when?: string | undefined }): boolean =>
  (exact === undefined) !== (when === undefined)

const ONE = 'say either "exact": true or "when" with a condition'

/** "Don't ask again": what the approver of an action allows of later calls of its tool. */
export const Remember = z.strictObject(terms).refine(isOne, ONE)
export type Remember = z.infer<typeof Remember>

export const GrantBody = z
  .strictObject({
    ...terms,
    actionId: z.string().min(1).max(100),
    /** The revision of the action that was looked at. It may be left out, with `digest`, only while the action was never changed. */
    revision: z.int().positive().optional(),
    /** The digest of that revision. */
    digest: z.string().max(200).optional(),
  })
  .refine(isOne, ONE)
export type GrantBody = z.infer<typeof GrantBody>

/** A recorded approval of later calls. */
export const Grant = z.object({
  id: z.string(),
  scope: z.enum(['session', 'agent']),
  sessionId: z.string().nullable(),
  agent: z.string().nullable(),
  /** The outside agent whose calls it is for; null for an agent of the configuration. */
  requestedBy: Principal.nullable(),
  /** Null for every tool that the agent had then: "approve all". */
  tool: z.string().nullable(),
  /** With neither these nor `when` it is for any arguments. */
  arguments: z.record(z.string(), Json).nullable(),
  when: z.string().nullable(),
  usesLeft: z.int().nullable(),
  used: z.int(),
  lastUsedAt: z.string().nullable(),
  madeBy: Principal,
  /** The action that it was made for. */
  actionId: z.string().nullable(),
  state: z.enum(['standing', 'used_up', 'over', 'revoked']),
  expiresAt: z.string(),
  revokedAt: z.string().nullable(),
  revokedBy: Principal.nullable(),
  createdAt: z.string(),
})
export type Grant = z.infer<typeof Grant>

export const GrantListQuery = z.object({
  session: z.string().max(100).optional().describe('Only those of this session: its id.'),
  agent: z.string().max(120).optional().describe('Only those of this agent: its name.'),
  state: z.enum(['standing']).optional().describe('`standing` leaves out what is revoked, used up or past its end.'),
  ...PageQuery.shape,
})

export const GrantList = z.object({ items: z.array(Grant), nextCursor: z.string().nullable() })

const Matched = z.object({
  /** Of the latest `of` calls of the tool by the same agent that needed approval, how many it would have approved. */
  matched: z.int(),
  of: z.int(),
})

/** The grants that could replace approving calls like this one. */
export const GrantSuggestion = z.object({
  /** Why nothing can be granted here; null where it can. */
  refusal: z.string().nullable(),
  exact: Matched,
  /** A rule that covers this call and calls that people approved before, and none that they declined; null when no rule does. */
  rule: Matched.extend({ when: z.string() }).nullable(),
})
export type GrantSuggestion = z.infer<typeof GrantSuggestion>
