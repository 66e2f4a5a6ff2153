import type { JsonObject, Principal, Tool } from '@countersign/core'
import { agentOf } from '../../policy/index.ts'
import { type ActionRow, sessions, stored } from '../../store/index.ts'
import { requestersOf } from '../decide/requesters.ts'
import type { GateDeps } from '../gate.ts'
import { type PreparedAction, prepareAction } from './prepare.ts'
import type { SeenTarget } from './read-preview.ts'

export interface AskedAgain {
  tool: Tool
  /** Default: those that it has. */
  arguments?: JsonObject
  /** The state of its target, if it was read just now. */
  seen?: SeenTarget
  /** True when people have seen a card of this call: if the target cannot be read now, that card stays. Default: false. */
  wasShown?: boolean
  /** The person who changes the arguments. They count as a requester from then on. */
  editor?: Principal
}

/**
 * Works out anew what a stored action would be: with its tool, the policy, those who asked for it and its target as they are now.
 * @throws CountersignError `invalid_arguments`.
 */
export async function prepareAgain(
  deps: GateDeps,
  row: ActionRow,
  { tool, seen, editor, wasShown = false, ...given }: AskedAgain,
): Promise<PreparedAction> {
  const { asked, session } = await deps.store.read(function* () {
    const asked = yield* requestersOf(row)
    const session = row.session_id === null ? undefined : yield* sessions.findSession.first({ id: row.session_id })
    return { asked, session }
  })
  const isNew = editor !== undefined && asked.every(({ id }) => id !== editor.id)
  const { policies, clock, previewTimeoutMs } = deps
  return prepareAction({
    tool,
    arguments: given.arguments ?? stored.argumentsOf(row),
    ...agentOf(row),
    session: session ?? null,
    requesters: isNew ? [...asked, editor] : asked,
    ...{ policies, clock, previewTimeoutMs },
    wasShown,
    seen: seen ?? 'read now',
  })
}
