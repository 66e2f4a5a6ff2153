import { assert, type JsonObject, type Tool } from '@countersign/core'
import { type ActionRow, principals, sessions } from '../store/index.ts'
import type { GateParts } from './gate.ts'
import { type PreparedAction, prepareAction } from './prepare.ts'
import type { SeenTarget } from './read-preview.ts'

export interface AskedAgain {
  tool: Tool
  /** Default: those that it has. */
  arguments?: JsonObject
  /** What its target was, where that was read just now. */
  seen?: SeenTarget
}

/**
 * Works out anew what a stored action would be: with its tool, the policy, its requester and its target as they are now.
 * @throws CountersignError `invalid_arguments`.
 */
export async function prepareAgain(parts: GateParts, row: ActionRow, { tool, seen, ...given }: AskedAgain): Promise<PreparedAction> {
  const { requester, session } = await parts.store.read(function* () {
    const requester = yield* principals.findPrincipal.first({ id: row.requested_by })
    const session = row.session_id === null ? undefined : yield* sessions.findSession.first({ id: row.session_id })
    return { requester, session }
  })
  assert(requester, 'who asked for an action is in the table that it refers to')
  const { policies, clock } = parts
  return prepareAction({
    tool,
    arguments: given.arguments ?? JSON.parse(row.arguments),
    agent: row.agent ?? undefined,
    session: session ?? null,
    requester: principals.readPrincipal(requester),
    policies,
    clock,
    seen: seen ?? 'read now',
  })
}
