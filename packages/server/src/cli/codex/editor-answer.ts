import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import type { EditorAnswer } from '../proxy/dialect.ts'
import { isRequest } from '../proxy/messages.ts'

export const COMMAND = 'item/commandExecution/requestApproval'
export const FILES = 'item/fileChange/requestApproval'

/** The longest part of an unknown decision that is recorded. */
const MAX_SAID_CHARS = 200

/** Reads the answer of an editor to an approval of Codex. An unknown decision allows nothing, because Codex could treat it as a permission. */
export function readAnswer({ result }: JsonObject, request: JsonObject): EditorAnswer {
  const decision = isObject(result) ? (result.decision ?? null) : null
  if (result === undefined || decision === 'decline' || decision === 'cancel') return { is: 'declined' }
  if (decision === 'accept' || decision === 'acceptForSession') return { is: 'allowed' }
  const lasting = isRequest(request, COMMAND) && isObject(decision) ? readLasting(decision) : undefined
  if (lasting) return { is: lasting }
  return { is: 'unclear', said: `an unknown decision: ${JSON.stringify(decision).slice(0, MAX_SAID_CHARS).toWellFormed()}` }
}

/** A decision about a command that also makes a rule for later ones. */
function readLasting(decision: JsonObject): EditorAnswer['is'] | undefined {
  const [[name, amendment] = [], ...others] = Object.entries(decision)
  if (others.length > 0 || !isObject(amendment)) return undefined
  if (name === 'acceptWithExecpolicyAmendment') return isTexts(amendment.execpolicy_amendment) ? 'allowed' : undefined
  const policy = name === 'applyNetworkPolicyAmendment' ? amendment.network_policy_amendment : undefined
  if (!isObject(policy)) return undefined
  return policy.action === 'allow' ? 'allowed' : policy.action === 'deny' ? 'declined' : undefined
}

const isTexts = (value: JsonValue | undefined): boolean => Array.isArray(value) && value.every((one) => typeof one === 'string')
