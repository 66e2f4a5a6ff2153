import { z } from 'zod'
import { PolicyDocument, Verdict } from '../policy/document.ts'
import { RiskLevel } from './action.ts'
import { Json } from './json.ts'
import { Principal, PrincipalKind } from './principal.ts'

/** A version of the policy without its document. */
export const PolicyVersion = z.object({
  version: z.int(),
  /** `force`: it decides now; `shadow`: it is evaluated beside the one in force; null: neither. */
  inUse: z.enum(['force', 'shadow']).nullable(),
  source: z.enum(['file', 'api']),
  /** The author; null for the configuration's. */
  author: Principal.nullable(),
  reason: z.string(),
  createdAt: z.string(),
})
export type PolicyVersion = z.infer<typeof PolicyVersion>

export const PolicyVersionList = z.object({ items: z.array(PolicyVersion), nextCursor: z.string().nullable() })
export type PolicyVersionList = z.infer<typeof PolicyVersionList>

/** The policy in force, with what is tried beside it. */
export const PolicyView = PolicyVersion.extend({ document: PolicyDocument, shadow: PolicyVersion.nullable() })
export type PolicyView = z.infer<typeof PolicyView>

export const PolicyChange = z.object({
  kind: z.enum(['added', 'removed', 'changed', 'moved']),
  /** The rule; absent for the default. */
  rule: z.string().optional(),
  /** In words, as a line of a list. */
  text: z.string(),
})
export type PolicyChange = z.infer<typeof PolicyChange>

/** One version, with what it changed against the one before it. */
export const PolicyVersionView = PolicyVersion.extend({ document: PolicyDocument, changes: z.array(PolicyChange) })
export type PolicyVersionView = z.infer<typeof PolicyVersionView>

const Reason = z.string().trim().min(1).max(2_000)

/** The document as JSON, or as text in YAML or JSON. */
const DocumentInput = z.union([z.string().min(1).max(400_000), z.looseObject({})])

export const SavePolicyBody = z.strictObject({
  document: DocumentInput,
  /** Why: for the list of versions and the record. */
  reason: Reason,
  /** True to try it beside the version in force: it decides nothing, and what it would have said otherwise is counted. */
  shadow: z.boolean().default(false),
})
export type SavePolicyBody = z.input<typeof SavePolicyBody>

/** The saved version, its changes, and warnings for its author. */
export const SavedPolicy = PolicyVersion.extend({ changes: z.array(PolicyChange), warnings: z.array(z.string()) })
export type SavedPolicy = z.infer<typeof SavedPolicy>

export const RollbackBody = z.strictObject({ version: z.int().positive(), reason: Reason })
export type RollbackBody = z.infer<typeof RollbackBody>

const TriedRequester = z.strictObject({
  id: z.string().max(100).default('prn_somebody'),
  kind: PrincipalKind.default('person'),
  name: z.string().max(120).default('Somebody'),
  roles: z.array(z.string().max(64)).max(32).default([]),
  /** The id of the person behind an agent or a service. */
  personId: z.string().max(100).optional(),
})

const Asked = {
  /** Default: the version in force. */
  version: z.int().positive().optional(),
  /** A document that was not saved, instead of a version. */
  document: DocumentInput.optional(),
}

/** A call that may never be made, or the calls of the last days: what would policy say? */
export const TestPolicyBody = z.union([
  z.strictObject({
    call: z.strictObject({
      tool: z.string().min(1).max(200),
      arguments: z.record(z.string(), Json).default({}),
      agent: z.string().min(1).max(120).optional(),
      requester: TriedRequester.optional(),
      session: z.strictObject({ id: z.string(), agent: z.string(), title: z.string() }).optional(),
      /** When; default now. */
      at: z.iso.datetime().optional(),
    }),
    ...Asked,
  }),
  z.strictObject({
    replay: z.strictObject({ days: z.number().positive().max(400), limit: z.int().min(1).max(50_000).default(10_000) }),
    ...Asked,
  }),
])
export type TestPolicyBody = z.input<typeof TestPolicyBody>

/** The policy's decision about one call, and the result of each rule. */
export const TestedCall = z.object({
  verdict: Verdict,
  rule: z.string(),
  reason: z.string(),
  /** Null for a document that was not saved. */
  version: z.int().nullable(),
  requires: z.object({ quorum: z.int(), declineQuorum: z.int(), roles: z.array(z.string()), notRequester: z.boolean() }),
  risk: RiskLevel.nullable(),
  rules: z.array(z.object({ rule: z.string(), verdict: Verdict, matches: z.boolean(), failed: z.string().optional() })),
})
export type TestedCall = z.infer<typeof TestedCall>

const REACH = {
  rule: z.string(),
  /** How many tools it is about now. */
  tools: z.int(),
  /** Why it never decides: it is about no tool (`no_tool`), or other rules decide about all of its calls (`overruled`). Null where it may. */
  never: z
    .discriminatedUnion('why', [
      z.object({ why: z.literal('no_tool') }),
      z.object({ why: z.literal('overruled'), by: z.array(z.string()) }),
    ])
    .nullable(),
  /**
   * Earlier rules that ask for less about calls that both match: their requirements apply, not those of this rule. The certain ones first,
   * at most 3.
   */
  conflicts: z.array(
    z.object({
      /** The earlier rule. */
      with: z.string(),
      /** True where it matches every call that this rule matches, false where it may. */
      isCertain: z.boolean(),
      /** In words that read on after a colon: `the rule "small" above matches first: its quorum of 1 applies, not 2`. */
      text: z.string(),
    }),
  ),
}

/** Whether a rule can decide. */
export const PolicyRuleReach = z.object({ ...REACH })
export type PolicyRuleReach = z.infer<typeof PolicyRuleReach>

/** How often a rule decided, and whether it can. */
export const PolicyRuleUse = z.object({
  ...REACH,
  /** How many calls of the period it decided. Null for callers who may not read statistics. */
  hits: z.int().nullable(),
  /** When it last decided in the period. */
  lastHitAt: z.string().nullable(),
  /** Likely mistakes in it, each as the rest of a sentence about the rule: `names args.amuont, which refund does not have`. */
  warnings: z.array(z.string()),
})
export type PolicyRuleUse = z.infer<typeof PolicyRuleUse>

/** The rules of the version in force, in its order, with their use in the last days. */
export const PolicyRuleUses = z.object({
  version: z.int(),
  days: z.int(),
  items: z.array(PolicyRuleUse),
  /** The calls that no rule decided. */
  default: PolicyRuleUse.pick({ hits: true, lastHitAt: true }),
  /** False when there were more calls than are counted: the newest million. */
  isComplete: z.boolean(),
})
export type PolicyRuleUses = z.infer<typeof PolicyRuleUses>

export const CheckPolicyBody = z.strictObject({ document: DocumentInput })
export type CheckPolicyBody = z.infer<typeof CheckPolicyBody>

/** A place in a policy with what is to be said about it. */
const PolicyRemark = z.object({
  /** The part of the document: `rules.0.match.when`. Empty for the whole. */
  path: z.string(),
  message: z.string(),
  /** The place in a condition, as an index into its text (UTF-16 units). Null where it is not known. */
  at: z.int().nullable(),
})

/** The result of a check of a document that was not saved. */
export const CheckedPolicy = z.object({
  /** Faults: the document cannot be used with any of them. */
  problems: z.array(PolicyRemark),
  /** Likely mistakes: the document can be used with them. Each message is the rest of a sentence about the rule. */
  warnings: z.array(PolicyRemark),
  /** Its rules, in its order. Empty for a document that is none. */
  rules: z.array(PolicyRuleReach),
})
export type CheckedPolicy = z.infer<typeof CheckedPolicy>

/** The calls that a rule is about, as far as that is known without a call. */
export const PolicyNamesQuery = z.object({
  tool: z.string().min(1).max(200).optional().describe('A name or glob. Default: every tool.'),
  effect: z.enum(['read', 'write']).optional().describe('Whether the tools only read or change something. Default: both.'),
  verdict: Verdict.default('ask').describe('The verdict of the rule: one that allows is about fewer tools that agents registered.'),
})
export type PolicyNamesQuery = z.input<typeof PolicyNamesQuery>

/** The names that the condition of a rule may use. */
export const PolicyNames = z.object({
  /** How many tools the rule is about. */
  tools: z.int(),
  variables: z.array(
    z.object({
      name: z.string(),
      /** As CEL calls it. */
      type: z.string(),
      /** Its fields, where it has these and no others. */
      fields: z.array(z.string()),
    }),
  ),
  functions: z.array(
    z.object({
      name: z.string(),
      /** The kind of value that it is called on: `text.trim()`. `call`: it stands alone, as `has(…)` does. */
      on: z.enum(['call', 'text', 'list', 'time']),
      /** A condition that calls it. */
      example: z.string(),
      /** Its result in a few words. */
      gives: z.string(),
    }),
  ),
  /** The arguments that the tools have, those of most tools first; at most 300. */
  arguments: z.array(
    z.object({
      /** As a condition names it: `args.lines[0].sku`. */
      path: z.string(),
      /** The types of JSON Schema that it may have. Empty where no schema says. */
      types: z.array(z.string()),
      /** The texts that it may be, where every schema lists them. */
      values: z.array(z.string()),
      /** How many of the tools have it. */
      tools: z.int(),
    }),
  ),
})
export type PolicyNames = z.infer<typeof PolicyNames>

const Counts = z.object({ allow: z.int(), ask: z.int(), deny: z.int() })

/** How many calls went from one verdict to another, with some of them. */
export const VerdictChange = z.object({ was: Verdict, wouldBe: Verdict, count: z.int(), actionIds: z.array(z.string()) })
export type VerdictChange = z.infer<typeof VerdictChange>

/** The policy's decisions about stored actions that the caller may see, compared with the original ones. */
export const ReplayedActions = z.object({
  version: z.int().nullable(),
  since: z.string(),
  evaluated: z.int(),
  /** Redacted, or of tools that are no longer configured: nothing can be said about them. */
  skipped: z.int(),
  /** True when there were more than could be looked at. The newest were. */
  truncated: z.boolean(),
  was: Counts,
  wouldBe: Counts,
  changes: z.array(VerdictChange),
})
export type ReplayedActions = z.infer<typeof ReplayedActions>

/** The shadow version's decisions that differ, since it was saved. It counts the actions that the caller may see. */
export const ShadowReport = z.object({
  version: z.int(),
  /**
   * The version that was in force when the trial began. While another one is, the trial is not put in force: `revision_mismatch`. Null where
   * that is not known.
   */
  basedOn: z.int().nullable(),
  since: z.string(),
  /** Actions proposed since. */
  evaluated: z.int(),
  differences: z.int(),
  /** Verdicts may be equal where requirements or risk are others. */
  counts: z.array(z.object({ was: Verdict, wouldBe: Verdict, count: z.int() })),
  /** The newest of them. */
  samples: z.array(
    z.object({ actionId: z.string(), tool: z.string(), was: Verdict, wouldBe: Verdict, rule: z.string(), reason: z.string() }),
  ),
})
export type ShadowReport = z.infer<typeof ShadowReport>
