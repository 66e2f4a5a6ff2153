import { Json } from '@countersign/core'
import { z } from 'zod'

const Text = z.string().min(1).max(500)
const Properties = z.record(z.string(), Json)

const Subject = z.looseObject({ type: Text, id: Text, properties: Properties.optional() })
const Resource = z.looseObject({ type: Text, id: Text, properties: Properties.optional() })
const Action = z.looseObject({ name: Text, properties: Properties.optional() })
const Context = z.record(z.string(), Json)

/** One question of AuthZEN 1.0: may this subject do this to this resource? Unknown members are accepted, as the specification wants it. */
export const Evaluation = z.looseObject({ subject: Subject, action: Action, resource: Resource, context: Context.optional() })
export type Evaluation = z.infer<typeof Evaluation>

/** Why the answer is false. A call that needs approval has `approval`: the request that asks for it. */
const Reasons = z.object({
  /** A sentence. */
  reason: z.string(),
  verdict: z.enum(['allow', 'ask', 'deny']).optional(),
  rule: z.string().optional(),
  policyVersion: z.int().optional(),
  approval: z
    .object({ method: z.literal('POST'), url: z.string(), body: z.object({ tool: z.string(), arguments: z.record(z.string(), Json) }) })
    .optional(),
  /** When the question could not be evaluated. `status` is what a proposal of the call would be answered. */
  error: z.object({ status: z.int(), message: z.string() }).optional(),
})

/** `decision` is true only when policy allows the call without approval. */
export const Decision = z.object({ decision: z.boolean(), context: Reasons.optional() })
export type Decision = z.infer<typeof Decision>

const MOST_EVALUATIONS = 100
const SEMANTICS = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const

/**
 * Several questions. Members beside `evaluations` are the defaults of each. Without `evaluations` it is one question. A malformed question
 * is denied, and the others are answered.
 */
export const Evaluations = z.looseObject({
  evaluations: z.array(z.record(z.string(), Json)).max(MOST_EVALUATIONS).optional(),
  options: z.looseObject({ evaluations_semantic: z.enum(SEMANTICS).default('execute_all') }).optional(),
})
export type Evaluations = z.infer<typeof Evaluations>

/** As many answers as were evaluated, in the order of the questions. */
export const Decisions = z.union([z.object({ evaluations: z.array(Decision) }), Decision])
export type Decisions = z.infer<typeof Decisions>

/** Where the endpoints are. */
export const Metadata = z.object({
  policy_decision_point: z.string(),
  access_evaluation_endpoint: z.string(),
  access_evaluations_endpoint: z.string(),
})
