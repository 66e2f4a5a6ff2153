import type { Requires } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { actions, newId, stored, type Tx } from '../../store/index.ts'
import type { SessionContext } from '../context.ts'
import { emitUpdate } from '../events.ts'
import { withRoles } from './rights.ts'

/**
 * Asks others too where nobody has decided for as long as policy says: the roles that may vote become more, nothing else changes. True
 * when it was time for that, by the database's clock. The caller finishes the session.
 */
export function* escalateWaiting(context: SessionContext, actionId: string): Tx<boolean> {
  const { session, nowMs } = context
  const row = yield* actions.findAction.first({ id: actionId })
  if (!row || row.escalate_at === null || row.state !== 'proposed') return false
  const asked: Requires = stored.requirementsOf(row)
  if (!asked.escalation) return false
  const { roles } = asked.escalation
  const requires: Requires = { ...withRoles(asked, roles), escalation: { ...asked.escalation, isDone: true } }
  const now = Math.max(nowMs, row.updated_at)
  const patch = { requires: JSON.stringify(requires), updated_at: now }
  const escalated = yield* actions.escalateAction(row, patch, { revision: row.revision, now })
  if (!escalated) return false
  checkpoint('escalate.storing')
  yield* emitUpdate(context, escalated, { requires }, { kind: 'escalated', data: { roles: requires.roles } })
  if (session) {
    yield* session.message({
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
