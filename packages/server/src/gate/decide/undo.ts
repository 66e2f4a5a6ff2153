import { type Action, CountersignError } from '@countersign/core'
import { appendToScope } from '../../audit/index.ts'
import { type ActionRow, actions, changeRights, grants, stored, type Tx, votes } from '../../store/index.ts'
import { type Caller, requireUnarchived, whyNeverDecides } from '../caller.ts'
import { type CallerContext, openSession, type SessionContext } from '../context.ts'
import { deadlineBeforeGrace, earliestOf } from '../deadlines.ts'
import type { GateDeps } from '../gate.ts'
import { viewAction } from '../read/view.ts'
import { requireVisibleAction } from '../read/visible.ts'
import { transactOnce } from '../transact-once.ts'
import { findForVote } from './decide.ts'
import { askInSession, type Revisable, storeRevision } from './revise.ts'
import { keyOf } from './rights.ts'

/**
 * Takes an approval back while its grace period lasts, or until a client has claimed the action: it waits for people again, as a new revision
 * without votes, so that no approval of before can start it. The deadline stays, and a grant that came with the approval is revoked, also that
 * of an "approve all".
 * Repeating one's own undo changes nothing.
 * @throws CountersignError `not_found`; `forbidden` for who neither approved it nor may decide about it; `illegal_transition` with the
 * current action when it has started, or starts at once.
 */
export async function undo(deps: GateDeps, actionId: string, caller: Caller): Promise<Action> {
  let hasEndedGrants = false
  const onGrantsEnded = () => {
    hasEndedGrants = true
  }
  const action = await transactOnce(deps, caller, (context) => takeBackApproval(context, actionId, onGrantsEnded))
  // Waits for transactions in other sessions that act by such a grant. Not in the transaction above: rights are locked before sessions.
  if (hasEndedGrants) await deps.store.transact(changeRights)
  return action
}

function* takeBackApproval(context: CallerContext, actionId: string, onGrantsEnded: () => void): Tx<Action> {
  const { caller } = context
  const found = yield* findForUndo(actionId, caller, context.nowMs)
  if (isUndoneBy(found, caller)) return yield* viewAction(found, { nowMs: context.nowMs })
  const nowMs = Math.max(context.nowMs, found.updated_at)
  const opened = yield* openSession({ ...context, nowMs }, found)
  // Read again: whoever held the session before may have started it, or ended the delegation.
  const row = yield* findForUndo(actionId, caller, nowMs)
  const undone = isUndoable(row) ? yield* storeUndo(opened, row, caller) : undefined
  if (undone && (yield* endGrants(opened, row)) > 0) onGrantsEnded()
  if (!undone) {
    const current = (yield* actions.findAction.first({ id: actionId })) ?? row
    const action = yield* viewAction(current, { nowMs })
    if (isUndoneBy(current, caller)) return action
    throw new CountersignError('illegal_transition', `action ${actionId} ${whyNot(current)}`, { action })
  }
  if (opened.session) yield* opened.session.finish()
  return yield* viewAction(undone, { nowMs })
}

type Undoable = ActionRow & Revisable

/**
 * True for an approved action with a grace period, or that waits for a client. What policy or a grant allowed has no approval to take back. The
 * update lets one of undo and start win.
 */
const isUndoable = (row: ActionRow): row is Undoable => row.state === 'approved' && (row.starts_at !== null || isForClient(row))

const isForClient = (row: ActionRow): boolean => row.executor === 'client' && stored.wasAsked(row)

function* storeUndo(context: CallerContext & Parameters<typeof storeRevision>[0], row: Undoable, by: Caller): Tx<ActionRow | undefined> {
  const reason = `${by.principal.name} took the approval back before it started.`
  // Its times stay as they were, so one that passed in between is due at once.
  const asked = { ...row, expires_at: deadlineBeforeGrace(row) }
  const undone = yield* storeRevision(context, row, { ...asked, due_at: earliestOf(asked) }, { why: 'undone', reason, by })
  if (undone) yield* askInSession(context, undone, reason)
  return undone
}

/** Revokes the grants that were made with the approval of an action. Returns how many. */
function* endGrants({ session, outbox, caller: { principal }, nowMs }: CallerContext<SessionContext>, row: ActionRow): Tx<number> {
  const ended = yield* grants.grantsWithVotes.all({ ...keyOf(row), session_id: row.session_id })
  for (const { id, tool } of ended) {
    yield* grants.revokeGrant.change({ id, revoked_by: principal.id, now: nowMs })
    const entry = { kind: 'grant_revoked', actor: principal.id, actionId: row.id, data: { grant: id, tool } } as const
    yield* session ? session.audit(entry) : appendToScope(outbox, row.id, entry, nowMs)
  }
  return ended.length
}

/** The action, for a person who approved it or who may decide about it. */
function* findForUndo(actionId: string, caller: Caller, nowMs: number): Tx<ActionRow> {
  const { principal } = caller
  const found = yield* actions.findAction.first({ id: actionId })
  const cast = found && whyNeverDecides(principal) === undefined ? yield* votes.votesOf.all(keyOf(found)) : []
  if (!found || !cast.some(({ principal_id, verdict }) => principal_id === principal.id && verdict === 'approve')) {
    return (yield* findForVote(actionId, caller, nowMs)).row
  }
  const row = yield* requireVisibleAction(principal, found, `action ${actionId}`, nowMs)
  requireUnarchived(row)
  return row
}

function isUndoneBy(row: ActionRow, { principal }: Caller): boolean {
  const revised = row.state === 'proposed' ? stored.revisedOf(row) : null
  return revised?.why === 'undone' && revised.by === principal.id
}

function whyNot(row: ActionRow): string {
  const { state } = row
  if (state === 'approved') {
    if (isUndoable(row)) return 'changed just now; try again'
    if (stored.wasAsked(row)) return 'has no grace period: it starts at once'
    const instead = row.executor === 'client' ? '; withdraw it' : ''
    return `was allowed without people: there is no approval to take back${instead}`
  }
  if (state === 'proposed') return 'waits for a decision: there is no approval to take back'
  return state === 'executing'
    ? 'has started; an approval can be taken back only before'
    : `is ${state}; only an approval can be taken back`
}
