import { z } from 'zod'
import { RiskLevel } from './action.ts'
import { Json } from './json.ts'
import { ToolView } from './session.ts'

/** A tool that the caller carries out itself. The claims in this body are unverified: they never make policy more permissive. */
export const RegisterToolBody = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_.-]{0,99}$/, 'must begin with a letter and have only letters, digits, _, - and . (at most 100 characters)'),
  description: z.string().trim().max(4_000).default(''),
  /** A JSON Schema of an object: the arguments of each call are checked against it. */
  input: z.record(z.string(), Json),
  /** `read` is a claim: a rule that names the tool decides whether it runs without approval. */
  effect: z.enum(['read', 'write']),
  /**
   * Words for the card, for example `Refund {cents} cents of order {orderId}`. The card puts the name of the tool before them. Default: the
   * arguments.
   */
  describe: z.string().trim().min(1).max(500).optional(),
  /** Raises the risk that cards show. A level below that of any write changes nothing. */
  risk: RiskLevel.optional(),
})
export type RegisterToolBody = z.input<typeof RegisterToolBody>

/** `registered`: it is new. `unchanged`: it was registered like this. `changed`: every call needs approval until one is approved. */
export const RegisteredTool = ToolView.extend({ status: z.enum(['registered', 'unchanged', 'changed']) })
export type RegisteredTool = z.infer<typeof RegisteredTool>
