import { z } from 'zod'
import { Verdict } from '../policy/document.ts'
import { PreviewField } from './action.ts'
import { ToolView } from './session.ts'

/** A rule of the policy in force that may decide about calls of a tool. */
const RuleOfTool = z.object({
  rule: z.string(),
  verdict: Verdict,
  /** True without conditions: the rule matches every call of the tool. */
  always: z.boolean(),
  /** The agent that it is limited to, as a name or glob. */
  agent: z.string().optional(),
  /** Its condition over the arguments. */
  when: z.string().optional(),
})

/** One tool, with what policy says about it and how it changed. */
export const ToolDetails = ToolView.extend({
  /** The changes since people accepted its definition. Null while it is the accepted one. */
  change: z
    .object({
      /** Names the new definition, for `POST /api/tools/{name}/accept`. */
      hash: z.string(),
      fields: z.array(PreviewField),
    })
    .nullable(),
  /** The rules that may decide about it, in the order of the policy. Null for callers who may not read the policy. */
  policy: z.object({ version: z.int(), rules: z.array(RuleOfTool), default: Verdict }).nullable(),
})
export type ToolDetails = z.infer<typeof ToolDetails>

/** `hash`: the changed definition as `GET /api/tools/{name}` shows it. */
export const AcceptToolBody = z.strictObject({ hash: z.string().min(1).max(128) })
export type AcceptToolBody = z.infer<typeof AcceptToolBody>

/** A group of tools of the configuration. */
export const ToolSourceView = z.object({
  group: z.string(),
  kind: z.string(),
  /** How many tools it has now. */
  tools: z.int(),
  /** Since when it cannot be reached, as this process knows, and why. Null while it can, as far as calls showed. */
  away: z.object({ since: z.string(), why: z.string() }).nullable(),
})
export type ToolSourceView = z.infer<typeof ToolSourceView>
