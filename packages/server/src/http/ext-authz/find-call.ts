import { createHash } from 'node:crypto'
import type { JsonObject, Tool } from '@countersign/core'
import { type ActionRow, hostCalls, type IdempotencyKey, type Store, type Tx } from '../../store/index.ts'

/** A request as the gate sees it. Its exact arguments and the caller's own key name it. */
export interface GatewayCall {
  tool: Tool
  args: JsonObject
  /** Canonical, as an action stores them. */
  argumentsText: string
  callId: string
  /** True with a key of the caller. */
  isKeyed: boolean
}

const sha256 = (...parts: string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex')

export const callIdOf = (tool: string, argumentsText: string, key: string | undefined): string =>
  `request ${sha256(tool, argumentsText, ...(key === undefined ? [] : [key]))}`

/** The key under which a call is proposed once, after those before it. */
export const onceKeyOf = ({ callId, argumentsText }: GatewayCall, principalId: string, after: string): IdempotencyKey => ({
  scope: `${principalId} ext-authz`,
  key: sha256(callId, after),
  requestHash: sha256(argumentsText),
  keptFor: 'action',
})

/** Returns the latest action of this request, or the one that people changed into it and approved. */
export function findEarlier(
  store: Store,
  { tool, argumentsText, callId }: GatewayCall,
  requestedBy: string,
): Promise<ActionRow | undefined> {
  return store.read(function* (): Tx<ActionRow | undefined> {
    const named = yield* hostCalls.actionsOfCall.all({ requested_by: requestedBy, tool_call_id: callId })
    // Hooks take the ids of calls from the agent, which may give one of them the id of a request.
    const latest = named.find((row) => row.tool === tool.name)
    if (latest) return latest
    const open = yield* hostCalls.openCallsOf.all({ requested_by: requestedBy })
    return open.find(
      (row) => row.state === 'approved' && row.edited_by !== null && row.tool === tool.name && row.arguments === argumentsText,
    )
  })
}
