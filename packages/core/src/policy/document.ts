import { z } from 'zod'
import { DeclineReasons, RiskLevel } from '../wire/action.ts'
import { Duration, Grace } from '../wire/duration.ts'

export const Verdict = z.enum(['allow', 'ask', 'deny'])
export type Verdict = z.infer<typeof Verdict>

const Role = z.string().min(1).max(64)
const Votes = z.int().min(1).max(100)

const PolicyMatch = z.strictObject({
  /** A name or glob, over `<group>.<name>` or the name alone. */
  tool: z.string().min(1).max(200).optional(),
  /** Whether the tool only reads or changes something. */
  effect: z.enum(['read', 'write']).optional(),
  /** A name or glob. A call without an agent fits no rule that names one. */
  agent: z.string().min(1).max(200).optional(),
  /** CEL over `args`, `tool`, `agent`, `session`, `requester` and `now`. */
  when: z.string().min(1).max(2_000).optional(),
})

const PolicyRequires = z.strictObject({
  /** Approving votes that the action needs. */
  quorum: Votes.optional(),
  /** Declining votes that end it. */
  declineQuorum: Votes.optional(),
  /** People with one of these roles may vote. */
  roles: z.array(Role).min(1).max(32).optional(),
  /** True when the person on whose behalf it was proposed has no vote. */
  notRequester: z.boolean().optional(),
  /** How long an approved action waits before it starts. Until then the approval can be taken back. From `PT1S` to `PT1H`. */
  grace: Grace.optional(),
})

/** The requirements of a rule that asks. Other rules have none. */
const FOR_PEOPLE = ['requires', 'expires', 'extend', 'remind', 'escalate', 'declineReasons'] as const

export const PolicyRule = z
  .strictObject({
    /** Cards and the record name the rule by this. */
    name: z.string().trim().min(1).max(200),
    /** The calls that the rule matches. Without any condition, all. */
    match: PolicyMatch,
    /** `allow` runs the call, `ask` needs approval, `deny` refuses it. The strictest rule that matches counts. */
    verdict: Verdict,
    /** The people who have to approve. Only with `ask`. Of several rules that ask, the first counts, even if a later one requires more. */
    requires: PolicyRequires.optional(),
    /** The reason that the agent is given; only with `deny`. */
    reason: z.string().trim().min(1).max(500).optional(),
    /** Time to decide, after which the action expires. Default: `expires` of the document, else no limit. */
    expires: Duration.optional(),
    /** By how much a person who may decide can extend the time, once. Default: `extend` of the document, else not at all. */
    extend: Duration.optional(),
    /** When a waiting action is called overdue, once. Default: five minutes. A time after `expires` has no effect. */
    remind: Duration.optional(),
    /** The people who may decide as well when nobody has decided for a while. A time after `expires` has no effect. */
    escalate: z
      .strictObject({
        /** Time without a decision before the escalation. */
        after: Duration,
        /** The roles that may decide from then on, in addition to those before. */
        roles: z.array(Role).min(1).max(32),
      })
      .optional(),
    /** Reasons for a decline that people choose from, instead of those of the tool. At most 8 of 80 characters. Only with `ask`. */
    declineReasons: DeclineReasons.optional(),
    /** How much is at stake, higher or lower than the tool says. */
    risk: RiskLevel.optional(),
  })
  .superRefine((rule, context) => {
    if (rule.reason !== undefined && rule.verdict !== 'deny') {
      context.addIssue({ code: 'custom', path: ['reason'], message: 'reason is for rules whose verdict is deny: the agent hears it' })
    }
    if (rule.verdict === 'ask') return
    for (const key of FOR_PEOPLE) {
      if (rule[key] === undefined) continue
      context.addIssue({ code: 'custom', path: [key], message: `${key} is for rules whose verdict is ask: nobody waits for the others` })
    }
  })
export type PolicyRule = z.infer<typeof PolicyRule>

const WaitingLimit = z.int().min(1).max(100_000)

/** Default limits of actions that may wait for approval at once. */
export const WAITING_LIMITS = { perAgent: 200, perSession: 50 } as const

/** The policy document. Unknown keys are refused when it is read. */
export const PolicyDocument = z
  .strictObject({
    /** The verdict when no rule matches: never `allow`. */
    default: z.enum(['ask', 'deny']).default('ask'),
    /** Time to decide where the rule sets none, and where no rule matches. Default: no limit. */
    expires: Duration.optional(),
    /** By how much people may extend that time where the rule does not say, once. Default: not at all. */
    extend: Duration.optional(),
    /** The rules. Their order matters where several ask: the first of them sets requirements, times and risk. */
    rules: z.array(PolicyRule).max(1_000).default([]),
    /** How many actions may wait for people at once. More proposals are refused. */
    limits: z
      .strictObject({
        /** Of one requester: an agent's key, or a person over all their sessions. Default 200. */
        waitingPerAgent: WaitingLimit.optional(),
        /** In one session. Default 50. */
        waitingPerSession: WaitingLimit.optional(),
      })
      .optional(),
  })
  .superRefine(({ rules }, context) => {
    // Cards and the record name the rule: it has to be clear which one is meant.
    const names = new Set(['default', 'approve all'])
    for (const [index, { name }] of rules.entries()) {
      if (names.has(name))
        context.addIssue({ code: 'custom', path: ['rules', index, 'name'], message: `"${name}" is taken: give it another name` })
      names.add(name)
    }
  })
export type PolicyDocument = z.infer<typeof PolicyDocument>

/** The policy when none is configured: reads run, everything else needs approval. */
export const DEFAULT_POLICY: PolicyDocument = {
  default: 'ask',
  rules: [{ name: 'reads run', match: { effect: 'read' }, verdict: 'allow' }],
}
