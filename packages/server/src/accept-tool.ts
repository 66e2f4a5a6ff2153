import { CountersignError } from '@countersign/core'
import { recordAudit } from './audit/index.ts'
import type { Clock } from './clock.ts'
import { type Caller, requireAdmin, requireOwnSignIn, requireStanding, transactOnce } from './gate/index.ts'
import type { RegisteredTools } from './registered/index.ts'
import { registeredTools, type Store, toolPins } from './store/index.ts'

export interface AcceptDeps {
  store: Store
  clock: Clock
  registered: RegisteredTools
}

/**
 * Accepts the changed definition of a tool, as an approval of one of its calls does: from then on policy decides about its calls again.
 * @param hash The definition that the admin was shown.
 * @throws CountersignError `forbidden`, `not_found`; `revision_mismatch` where the tool has another definition or the change was accepted.
 */
export async function acceptTool({ store, clock, registered }: AcceptDeps, name: string, hash: string, caller: Caller): Promise<void> {
  const { principal } = caller
  requireAdmin(principal, 'accepts a changed tool')
  requireOwnSignIn(principal, 'accept a changed tool')
  const tool = await registered.current(name)
  if (!tool) throw new CountersignError('not_found', `there is no tool ${name}`)
  const { change } = tool
  await transactOnce({ store, clock }, caller, function* ({ outbox, nowMs }) {
    if (!change) throw new CountersignError('revision_mismatch', `the tool ${name} has no change to accept: somebody accepted it already`)
    const other = `the tool ${name} changed again since it was shown: look at what changed, then accept it`
    if (change.hash !== hash) throw new CountersignError('revision_mismatch', other)
    yield* requireStanding(caller, nowMs)
    yield* recordAudit(outbox, { kind: 'tool_accepted', actor: principal.id, data: { tool: name, group: tool.group, hash } }, nowMs)
    const accepted = change.pin
      ? yield* toolPins.acceptPin.change({ group_name: tool.group, ...change.pin, hash, pinned_at: nowMs })
      : yield* registeredTools.acceptDefinition.change({ name, hash })
    if (accepted === 0) throw new CountersignError('revision_mismatch', other)
    return null
  })
  await registered.current(name)
}
