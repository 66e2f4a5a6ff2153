import { CountersignError, canonicalJson, type JsonObject, type PolicyResult, type Tool } from '@countersign/core'
import { type AskedCall, askPolicies, type Policies } from '../../policy/index.ts'
import { coversCall } from '../grants/covers-call.ts'
import { definitionHashOf, digestOf } from './digest.ts'
import { impossible } from './impossible.ts'
import { NOT_SEEN, type PreviewReading, readPreview, type SeenTarget } from './read-preview.ts'

/** Everything about a proposed call that is worked out before the transaction that stores it. */
export interface PreparedAction extends SeenTarget {
  tool: Tool
  /** Canonical: what is shown, hashed, stored and sent. */
  argumentsText: string
  definitionHash: string
  digest: string
  description: string
  /** The ids of all who asked for it; on whose behalf it runs comes first. */
  requesterIds: readonly string[]
  /** The agent's name, where it is proven. */
  agent: string | undefined
  /** The name that the caller gives itself, if nothing proves it. */
  claimedAgent: string | undefined
  /**
   * The decision of the policy version that was in force. It counts once a transaction has confirmed that the version still is: {@link
   * isInForce}.
   */
  policy: PolicyResult
  /** The decision of the shadow version, if it differs. */
  shadow: PolicyResult | undefined
  /** Says whether a condition of a grant is true of the call; one that gives no answer is not. */
  fits(condition: string): boolean
}

export interface PrepareInput extends PreviewReading {
  tool: Tool
  arguments: JsonObject
  agent: string | undefined
  /** The name that the caller gives itself, if nothing proves it. Default: none. */
  claimedAgent?: string | undefined
  /** The session it is proposed in; null where an outside agent proposes. */
  session: AskedCall['session']
  /** All whose words led to it; on whose behalf it runs comes first. */
  requesters: AskedCall['requesters']
  policies: Policies
  /** The state of the target, if it was read already. Default: it is read when the call needs approval. */
  seen?: SeenTarget | 'read now'
  /** True where people were shown the same call before: what is impossible for now is then an error on its card. Default: false. */
  wasShown?: boolean
}

/**
 * Checks a call's arguments, asks policy, and reads what would change.
 * @throws CountersignError `invalid_arguments` with `issues: [{path, message}]`; `impossible` with `tool` and `reason`, for a call that
 * needs approval and cannot be carried out.
 */
export async function prepareAction({
  tool,
  arguments: args,
  policies,
  clock,
  previewTimeoutMs,
  seen,
  wasShown = false,
  ...who
}: PrepareInput): Promise<PreparedAction> {
  const checked = tool.check(args)
  if (!checked.ok) {
    const why = checked.issues[0]?.message ?? 'the arguments do not fit'
    throw new CountersignError('invalid_arguments', `${tool.name}: ${why}`, { issues: checked.issues })
  }
  const argumentsText = canonicalJson(checked.value)
  // In the order in which they are stored: what is worked out again from the stored ones has to be the same.
  const canonical: JsonObject = JSON.parse(argumentsText)
  const definitionHash = definitionHashOf(tool)
  const { agent, claimedAgent, requesters } = who
  const call: AskedCall = { tool, arguments: canonical, ...who, claimedAgent, nowMs: clock.nowMs() }
  const { said: policy, shadow } = askPolicies(policies, call)
  // Only a person looks at a preview: what runs or is refused at once needs none.
  const looks = seen === undefined ? policy.verdict === 'ask' : seen === 'read now'
  const target = looks ? await readPreview(tool, canonical, { clock, previewTimeoutMs }) : typeof seen === 'object' ? seen : NOT_SEEN
  if (target.impossible && !(wasShown && target.impossible === 'for now')) {
    throw impossible(tool.name, target.previewError ?? 'the target does not allow it', target.impossible)
  }
  return {
    tool,
    argumentsText,
    definitionHash,
    digest: digestOf({
      tool: tool.name,
      definition_hash: definitionHash,
      arguments: argumentsText,
      destination: tool.destination,
      credential: tool.credential,
      precondition: target.precondition,
    }),
    description: target.headline ?? tool.describe(canonical),
    ...target,
    requesterIds: requesters.map(({ id }) => id),
    agent,
    claimedAgent,
    policy,
    shadow,
    fits: (condition) => coversCall(tool, condition, call),
  }
}

/** Returns the stored columns of a prepared call, besides those of the policy's decision. */
export const columnsOf = (prepared: PreparedAction) => ({
  tool: prepared.tool.name,
  effect: prepared.tool.effect,
  executor: prepared.tool.executor,
  destination: prepared.tool.destination,
  credential: prepared.tool.credential,
  definition_hash: prepared.definitionHash,
  arguments: prepared.argumentsText,
  precondition: prepared.precondition,
  digest: prepared.digest,
  description: prepared.description,
  preview: prepared.preview === null ? null : JSON.stringify(prepared.preview),
  preview_error: prepared.previewError,
  previewed_at: prepared.previewedAtMs,
})

/** The same call for who does not look at it: what runs without a person is not held to what one would have been shown. */
export function unseen(prepared: PreparedAction): PreparedAction {
  // The decision is not bound to what was read, so the headline does not contain it either.
  const description = prepared.tool.describe(JSON.parse(prepared.argumentsText))
  const bound = { ...prepared, precondition: null, headline: null, description }
  return { ...bound, digest: digestOf(columnsOf(bound)) }
}
