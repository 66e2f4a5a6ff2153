import { z } from 'zod'
import { ACTION_STATES } from '../action/lifecycle.ts'
import { OUTCOME_STATUSES } from '../action/outcome.ts'
import { Assignment } from './assign.ts'
import { Duration, Grace } from './duration.ts'
import { Remember } from './grant.ts'
import { Json } from './json.ts'
import { Principal } from './principal.ts'
import { SeenBy } from './seen.ts'

export const ActionState = z.enum(ACTION_STATES)

/** One changed field on a card. */
export const PreviewField = z.object({
  field: z.string(),
  oldValue: Json.optional(),
  newValue: Json.optional(),
  /** A unified diff of one text, in place of both values. */
  diff: z.string().optional(),
  /** Code of ISO 4217, where both values are amounts of money: in whole units, or in hundredths where the last word of `field` is `cents` or `minor`. */
  currency: z.string().optional(),
  /** Set where the row is what somebody else says about the call, which nothing here has verified. */
  unverified: z.literal(true).optional(),
  /** Set where the row says what is different about the tool since it was accepted, and nothing of what the call would change. */
  ofTool: z.literal(true).optional(),
})

export const RiskLevel = z.enum(['low', 'medium', 'high', 'critical'])
export type RiskLevel = z.infer<typeof RiskLevel>

/** The most reasons for a decline that a tool or a rule offers, and their length in characters. */
const MAX_REASONS = 8
const MAX_REASON_CHARS = 80

/** Short reasons for a decline, for people to choose from. The person may write another. */
export const DeclineReasons = z
  .array(z.string().trim().min(1).max(MAX_REASON_CHARS))
  .min(1)
  .max(MAX_REASONS)
  .refine((reasons) => new Set(reasons).size === reasons.length, 'must be different from each other')
export type DeclineReasons = z.infer<typeof DeclineReasons>

export const ActionErrorView = z.object({ kind: z.string(), message: z.string(), retryable: z.boolean() })
export type ActionErrorView = z.infer<typeof ActionErrorView>

export const Vote = z.object({
  by: Principal,
  /** The person whose right it uses, where somebody votes in their place. */
  for: Principal.optional(),
  verdict: z.enum(['approve', 'decline']),
  at: z.string(),
  reason: z.string().optional(),
  /**
   * Set on a vote that does not count. While the action waits: the delegation ended, the role was taken away, the voter has become a
   * requester, or the delegator voted themselves. Once it is decided, on a vote in the place of another that did not count then.
   */
  counts: z.literal(false).optional(),
})
export type Vote = z.infer<typeof Vote>

/**
 * The votes that decide: `quorum` approving or `declineQuorum` declining votes of different people with one of `roles`. With `notRequester`
 * the votes of people who asked for it do not count.
 */
export const Requires = z.object({
  quorum: z.int(),
  declineQuorum: z.int(),
  roles: z.array(z.string()),
  /** Where several requirements were joined: a voter also needs one role of each of these lists. */
  alsoRoles: z.array(z.array(z.string())).optional(),
  notRequester: z.boolean(),
  /** How long the approved action waits before it starts, as an ISO 8601 duration. Until then the approval can be taken back. */
  grace: z.string().optional(),
  /** The people who may decide as well from a time on; `isDone` once they are among `roles`. */
  escalation: z.object({ at: z.string(), roles: z.array(z.string()), isDone: z.boolean() }).optional(),
})
export type Requires = z.infer<typeof Requires>

/**
 * How the server checks an unknown outcome by itself, from `since` until `until`, with growing pauses. With `ended` it does so no more, and
 * a person has to find out. `lastFound` is what the tool said at `lastAt`: `not_found`, which settles nothing while the request may be under
 * way, or `no_answer`.
 */
export const OutcomeChecks = z.object({
  since: z.string(),
  until: z.string(),
  ended: z.boolean(),
  lastAt: z.string().nullable(),
  lastFound: z.enum(['not_found', 'no_answer']).nullable(),
})
export type OutcomeChecks = z.infer<typeof OutcomeChecks>

/** A person's answer about an unknown outcome, and how they know. */
export const Resolution = z.object({ by: Principal, outcome: z.enum(['succeeded', 'failed']), note: z.string(), at: z.string() })
export type Resolution = z.infer<typeof Resolution>

/**
 * Why there is a new revision: a person's `edit`, an approval that was `undone`, a fresh `preview`, a `policy` that has other people decide, or at
 * the start the `target`, the `tool`, the `credential`, the `policy`, the `grant` that allowed it or the right of a `decider` was not as decided.
 */
export const Revised = z.object({
  why: z.enum(['edit', 'undone', 'preview', 'target', 'tool', 'credential', 'policy', 'decider', 'grant']),
  /** A sentence for people. */
  reason: z.string(),
  /** The person, where one did it. */
  by: Principal.nullable(),
  at: z.string(),
})
export type Revised = z.infer<typeof Revised>

const isWebAddress = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  // Names before an @ look like the host.
  return url !== undefined && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}

/** A person gave the people who decide more time: `expiresAt` was `from` before. */
export const Extension = z.object({ by: Principal, at: z.string(), from: z.string() })
export type Extension = z.infer<typeof Extension>

/** An agent's own account of its call. Cards show it as not verified, and no policy rule depends on it. */
export const ActionContext = z.strictObject({
  /** The run or conversation that it belongs to, as the agent names it. */
  run: z.string().trim().min(1).max(200).optional(),
  /** Where people can read more: http or https, without a user name. */
  url: z.string().trim().max(1_000).refine(isWebAddress, 'must be an http or https address without a user name').optional(),
  /** Why it makes the call. */
  reason: z.string().trim().min(1).max(2_000).optional(),
})
export type ActionContext = z.infer<typeof ActionContext>

/** How an action ended: `text` is one text to give a model, also where people declined or nobody knows. At most about 20,000 characters. */
const Outcome = z.object({ status: z.enum(OUTCOME_STATUSES), text: z.string() })

/** One tool call, as everybody sees it. Times are ISO 8601 UTC; absent things are `null`. */
export const Action = z.object({
  id: z.string(),
  sessionId: z.string().nullable(),
  runId: z.string().nullable(),
  messageId: z.string().nullable(),
  toolCallId: z.string().nullable(),
  tool: z.string(),
  effect: z.enum(['read', 'write']),
  destination: z.string(),
  /** The credential of the effect: names and a hash, never a value; `none` when it needs none of ours. */
  credential: z.string(),
  arguments: z.record(z.string(), Json),
  digest: z.string(),
  revision: z.int(),
  /** Why the revision is not the first. */
  revised: Revised.nullable(),
  description: z.string(),
  preview: z.array(PreviewField).nullable(),
  previewError: z.string().nullable(),
  previewedAt: z.string().nullable(),
  /** Hash of what has to be the same still when the action starts; part of the digest. */
  precondition: z.string().nullable(),
  risk: z.object({ level: RiskLevel, reasons: z.array(z.string()), setBy: z.enum(['policy', 'tool', 'unverified']) }),
  state: ActionState,
  policy: z.object({ verdict: z.enum(['allow', 'ask', 'deny']), rule: z.string(), version: z.int(), reason: z.string() }),
  requires: Requires,
  /** Reasons for a decline to choose from, of the rule that asks, else of the tool. Absent where neither has any. */
  declineReasons: z.array(z.string()).optional(),
  votes: z.array(Vote),
  /** On whose behalf it runs: the owner of the session, or whose key proposed it. */
  requestedBy: Principal,
  /**
   * All whose words led to it: `requestedBy`, everybody whose messages the model had been given, and who edited it. Policy and grants hold
   * for each of them.
   */
  requesters: z.array(Principal),
  agent: z.string().nullable(),
  /** False when `agent` is only what the caller said of itself: no rule that allows and no grant goes by it. */
  agentVerified: z.boolean(),
  /** The agent's own words about the action. They are marked as not verified and never replace the description. */
  agentSays: z.string().nullable(),
  /** The agent's own account of the call, not verified. */
  context: z.object({ run: z.string().optional(), url: z.string().optional(), reason: z.string().optional() }).nullable(),
  /** How often it was proposed, where that is more than once: the same call without an idempotency key, while it waits, is the same action. */
  timesAsked: z.int().optional(),
  /** Where the proposer is told what became of it. The path is left out: it may hold a secret of the receiver. */
  callback: z.object({ host: z.string() }).nullable(),
  executor: z.enum(['server', 'client']),
  attempt: z.int(),
  idempotencyKey: z.string(),
  result: Json.optional(),
  resultUrl: z.string().nullable(),
  /** The kind is `withdrawn` when the proposer withdrew a `cancelled` action; the message names the proposer. On `outcome_unknown`, `retryable` says that the tool can find out by itself: `POST /api/actions/:id/verify`. */
  error: ActionErrorView.nullable(),
  /** How it ended, for a model; null while it is not settled. A failed or unknown outcome may still change. */
  outcome: Outcome.nullable(),
  /** Of an `outcome_unknown` whose tool can look; null else. */
  checks: OutcomeChecks.nullable(),
  resolution: Resolution.nullable(),
  /** The action whose result this read was given again. */
  cachedFrom: z.string().nullable(),
  expiresAt: z.string().nullable(),
  /** The deadline that a person who may decide can set in place of `expiresAt`, once. Absent where policy allows no extension, or it was extended. */
  extendableUntil: z.string().optional(),
  /** Names who extended the deadline, when, and the deadline before. */
  extension: Extension.optional(),
  /** The person or role that should decide about it. It grants no permission. Absent if the action was never assigned; null after the assignment was removed. */
  assignment: Assignment.nullable().optional(),
  /**
   * The people who have had this revision on their screen, the latest first; at most 20. Only where a person reads one action, and not in lists
   * and events; absent while nobody has.
   */
  seenBy: z.array(SeenBy).optional(),
  /** When an approved action starts. Until then, or until a client claims it, its approval can be taken back. Null without a grace period, and in other states. */
  startsAt: z.string().nullable(),
  /** True while it waits and nobody has decided for as long as policy says (`remind`; five minutes without it). */
  overdue: z.boolean(),
  /** Present once what it was about is blanked: arguments, preview, result and sentences. */
  redactedAt: z.string().optional(),
  createdAt: z.string(),
  /** When the current revision was approved or declined, by people or by policy. An action that expired or was cancelled while it waited has none. */
  decidedAt: z.string().nullable(),
  /** When its last attempt started. */
  startedAt: z.string().nullable(),
  /** When it was settled. An attempt that is repeated after that clears it. */
  settledAt: z.string().nullable(),
  updatedAt: z.string(),
})
export type Action = z.infer<typeof Action>

/** The answer to a proposal. `folded`: it repeats a call that waits already, and this is the action of that call. */
export const ProposedAction = Action.extend({ folded: z.literal(true).optional() })
export type ProposedAction = z.infer<typeof ProposedAction>

/** An agent (its key or its person) or a session that has as much waiting as the policy allows: more is refused. */
export const FullWaiting = z.object({
  scope: z.enum(['agent', 'session']),
  id: z.string(),
  name: z.string(),
  waiting: z.int(),
  limit: z.int(),
})
export type FullWaiting = z.infer<typeof FullWaiting>
export const FullWaitingList = z.object({ items: z.array(FullWaiting) })

const Reason = z.string().trim().max(2_000)

export const DecisionBody = z.strictObject({
  verdict: z.enum(['approve', 'decline']),
  revision: z.int().positive().optional(),
  digest: z.string().max(200).optional(),
  reason: Reason.optional(),
  stop: z.boolean().optional(),
  /** Only with `approve`: these arguments instead. They are checked as any others, and make a new revision. */
  arguments: z.record(z.string(), Json).optional(),
  /** With an approval: what is not asked again. */
  remember: Remember.optional(),
  /** With an approval: it starts after this time at the earliest, and can be taken back until then. Policy may say longer. */
  startAfter: Grace.optional(),
})
export type DecisionBody = z.infer<typeof DecisionBody>

/** Many decisions at once, each on its own. Every one names what was looked at. */
export const DecisionsBody = z.strictObject({
  items: z
    .array(z.strictObject({ id: z.string().min(1).max(100), revision: z.int().positive(), digest: z.string().max(200) }))
    .min(1)
    .max(200),
  verdict: z.enum(['approve', 'decline']),
  reason: Reason.optional(),
  /** With approvals: how long they can be taken back before the actions start. Policy may say longer. */
  startAfter: Grace.optional(),
})
export type DecisionsBody = z.infer<typeof DecisionsBody>

/** In the order of the items: the action, or the problem that its decision alone would have answered. */
export const DecisionsAnswer = z.object({
  results: z.array(
    z.object({
      id: z.string(),
      status: z.int(),
      action: Action.optional(),
      error: z.looseObject({ code: z.string(), detail: z.string() }).optional(),
    }),
  ),
})
export type DecisionsAnswer = z.infer<typeof DecisionsAnswer>

/** Cards fold texts from 600 characters on, and both values of a claim stand in one text that must not be folded. */
const MAX_CLAIMED_CHARS = 290
const ClaimedValue = Json.refine(
  (value) => JSON.stringify(value).length <= MAX_CLAIMED_CHARS,
  `must be at most ${MAX_CLAIMED_CHARS} characters`,
)

/** A change that the proposer foresees. */
export const ClaimedChange = z.strictObject({
  field: z.string().trim().min(1).max(120),
  oldValue: ClaimedValue.optional(),
  newValue: ClaimedValue,
})
export type ClaimedChange = z.infer<typeof ClaimedChange>

export const ProposeBody = z.strictObject({
  tool: z.string().min(1).max(200),
  arguments: z.record(z.string(), Json),
  /** The agent's own words about the action. Cards show the tool's description of the real arguments first. */
  description: z.string().trim().max(2_000).optional(),
  /** The run, an address and the reason, for people: shown as not verified. */
  context: ActionContext.optional(),
  /**
   * Where the server sends a signed event when the action can be claimed, when it is settled and when its outcome is unknown: an address
   * under a webhook that an admin opened for callbacks, whose secret signs it. The address takes no part in the digest.
   */
  callback: z
    .strictObject({ url: z.string().max(2_000).refine(isWebAddress, 'must be an http or https address without a user name') })
    .optional(),
  /** The changes that the agent foresees. Cards show them as not verified, after those that the tool itself shows. */
  preview: z.array(ClaimedChange).max(20).optional(),
  agent: z.string().min(1).max(120).optional(),
  /** The executor of the tool. Another one is refused, because a proposal cannot change it. */
  executor: z.enum(['server', 'client']).optional(),
  /** How long people may take, for example `PT1H`: from one second to 400 days. */
  expiresIn: Duration.optional(),
})
export type ProposeBody = z.infer<typeof ProposeBody>

/**
 * A person settles an unknown outcome: they looked, and say in `note` what they saw. `attempt` is the one that they looked into: sent a
 * second time by mistake, it then says nothing about a later one.
 */
export const ResolveBody = z.strictObject({
  outcome: z.enum(['succeeded', 'failed']),
  note: z.string().trim().min(1).max(2_000),
  attempt: z.int().min(1).optional(),
})
export type ResolveBody = z.infer<typeof ResolveBody>

/** Why somebody takes an action back: who proposed it, or where it was allowed to a client, the person behind the proposal or an admin. */
export const WithdrawBody = z.strictObject({ reason: Reason.optional() })
export type WithdrawBody = z.input<typeof WithdrawBody>

/** `retry` takes a failed action once more, or one of unknown outcome whose target honours the key; only who may decide may say so. */
export const ClaimBody = z.strictObject({ retry: z.boolean().default(false) })
export type ClaimBody = z.input<typeof ClaimBody>

/**
 * The HTTP request that a client sends for a route of a route table. It carries no header of the configuration: the client uses its own,
 * and `ifMatch` as `If-Match` where there is one.
 */
export const ClientRequest = z.object({ method: z.string(), url: z.string(), body: Json.optional(), ifMatch: z.string().optional() })
export type ClientRequest = z.infer<typeof ClientRequest>

/**
 * A client's hold on an action that it carries out; over at `holdEndsAt`, when the outcome becomes unknown. With `canVerify`, the server can check
 * an unknown outcome: then a `202` promises nothing yet, and is reported as `ambiguous`.
 */
export const Claim = z.object({
  action: Action,
  epoch: z.int(),
  idempotencyKey: z.string(),
  request: ClientRequest.nullable(),
  canVerify: z.literal(true).optional(),
  holdEndsAt: z.string(),
})
export type Claim = z.infer<typeof Claim>

/** The result: `output`, or `error`. `kind` says what is known of the effect; `ambiguous` makes the outcome unknown. */
export const ClientResultBody = z.union([
  z.strictObject({ epoch: z.int().positive(), output: Json }),
  z.strictObject({
    epoch: z.int().positive(),
    error: z.strictObject({
      kind: z.enum(['refused', 'unreachable', 'ambiguous', 'broken', 'stale']),
      message: z.string().trim().min(1).max(2_000),
      retryable: z.boolean().optional(),
    }),
  }),
])
export type ClientResultBody = z.infer<typeof ClientResultBody>

/** An earlier revision of an action, as it was shown, with the votes it had and why it ended. */
export const ActionRevision = Action.pick({
  revision: true,
  revised: true,
  arguments: true,
  digest: true,
  destination: true,
  credential: true,
  precondition: true,
  description: true,
  preview: true,
  previewError: true,
  previewedAt: true,
  risk: true,
  policy: true,
  requires: true,
  votes: true,
}).extend({ ended: Revised })
export type ActionRevision = z.infer<typeof ActionRevision>

export const ActionRevisionList = z.object({ items: z.array(ActionRevision) })
export type ActionRevisionList = z.infer<typeof ActionRevisionList>
