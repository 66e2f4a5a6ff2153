import type { Requires } from '@countersign/core'
import { checkpoint } from '../../checkpoints.ts'
import { type ActionRow, actions, newId, type Outbox, type Tx } from '../../store/index.ts'
import { emitUpdate } from '../events.ts'
import type { SessionWriter } from '../session-writer.ts'

/**
 * Asks others too where nobody has decided for as long as policy says: the roles that may vote become more, nothing else changes. True
 * when it was time for that, by the database's clock. The caller finishes the writer.
 */
export function* escalateWaiting(outbox: Outbox, writer: SessionWriter | undefined, actionId: string, nowMs: number): Tx<boolean> {
  const row = yield* actions.findAction.first({ id: actionId })
  if (!row || row.escalate_at === null || row.state !== 'proposed') return false
  const asked: Requires = JSON.parse(row.requires)
  if (!asked.escalation) return false
  const { roles } = asked.escalation
  const requires: Requires = {
    ...asked,
    roles: [...new Set([...asked.roles, ...roles])],
    escalation: { ...asked.escalation, isDone: true },
  }
  const now = Math.max(nowMs, row.updated_at)
  const { id, revision } = row
  if (!(yield* actions.escalateAction.change({ id, revision, requires: JSON.stringify(requires), now }))) return false
  checkpoint('escalate.storing')
  const escalated: ActionRow = { ...row, requires: JSON.stringify(requires), updated_at: now }
  yield* emitUpdate(outbox, writer, escalated, { requires }, { kind: 'escalated', data: { roles: requires.roles } }, nowMs)
  if (writer) {
    yield* writer.message({
      id: newId('msg', nowMs),
      run_id: row.run_id,
      role: 'system',
      kind: 'note',
      content: `Nobody has decided about "${row.description}" yet. Now the role ${roles.join(' or ')} may decide, too.`,
      inHistory: false,
    })
  }
  return true
}
