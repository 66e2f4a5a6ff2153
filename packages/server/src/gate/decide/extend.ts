import { type Action, CountersignError, durationMs } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, stored, type Tx } from '../../store/index.ts'
import type { Caller } from '../caller.ts'
import { type CallerContext, openSession, type SessionContext } from '../context.ts'
import { emitUpdate } from '../events.ts'
import type { GateDeps } from '../gate.ts'
import { isoTime, viewAction, viewExtension } from '../read/view.ts'
import { transactOnce } from '../transact-once.ts'
import { findForVote } from './decide.ts'
import { expireWaiting } from './expire.ts'

/**
 * Extends the deadline of a waiting action by as much as policy says, once: also a later revision is not extended again. Repeating one's own
 * extension changes nothing.
 * @throws CountersignError `not_found`; `forbidden` for who may not decide; `illegal_transition` with the current action when its deadline has
 * passed, when it was extended, or when policy allows no extension.
 */
export async function extend(deps: GateDeps, actionId: string, caller: Caller): Promise<Action> {
  const action = await transactOnce(deps, caller, (context) => extendWaiting(context, actionId))
  // The refusal comes after the commit, so that the expiry which it noticed is stored.
  if (action.state === 'expired') throw refused(action, 'has expired: nobody can extend it any more')
  return action
}

const refused = (action: Action, why: string) => new CountersignError('illegal_transition', `action ${action.id} ${why}`, { action })

function* extendWaiting(context: CallerContext, actionId: string): Tx<Action> {
  const { caller } = context
  const { row: found } = yield* findForVote(actionId, caller, context.nowMs)
  if (isExtendedBy(found, caller)) return yield* viewAction(found, { nowMs: context.nowMs })
  const nowMs = Math.max(context.nowMs, found.updated_at)
  const opened: SessionContext = yield* openSession({ ...context, nowMs }, found)
  // Read again: whoever held the session before may have decided about it, or ended the delegation.
  const { row } = yield* findForVote(actionId, caller, context.nowMs)
  const extended = yield* storeExtension({ ...opened, caller }, row)
  const stands = extended ?? (yield* expireWaiting(opened, actionId))
  if (opened.session) yield* opened.session.finish()
  if (stands) return yield* viewAction(stands, { nowMs })
  const current = (yield* actions.findAction.first({ id: actionId })) ?? row
  const action = yield* viewAction(current, { nowMs })
  if (isExtendedBy(current, caller)) return action
  throw refused(action, whyNot(current))
}

function* storeExtension(context: CallerContext<SessionContext>, row: ActionRow): Tx<ActionRow | undefined> {
  const { caller, nowMs } = context
  const byMs = durationMs(stored.policyOf(row).extend ?? '')
  if (row.state !== 'proposed' || row.expires_at === null || row.extended !== null || byMs === undefined) return undefined
  const until = row.expires_at + byMs
  const extension: stored.StoredExtension = { by: caller.principal.id, at: nowMs, from: row.expires_at }
  const patch = { expires_at: until, extended: JSON.stringify(extension), updated_at: nowMs }
  const extended = yield* actions.extendAction(row, patch, { revision: row.revision, now: nowMs, until })
  if (!extended) return undefined
  context.session?.noteAction(extended)
  checkpoint('extend.storing')
  const changed = { expiresAt: isoTime(until), extension: yield* viewExtension(extension) }
  const data = { from: isoTime(row.expires_at), until: isoTime(until) }
  yield* emitUpdate(context, extended, changed, { kind: 'extended', by: caller, data })
  return extended
}

/** True for who extended an action that still waits. */
function isExtendedBy(row: ActionRow, { principal }: Caller): boolean {
  return row.state === 'proposed' && stored.extensionOf(row)?.by === principal.id
}

function whyNot({ state, expires_at, extended, policy }: ActionRow): string {
  if (state !== 'proposed') return `is ${state}: only one that waits for a decision can be extended`
  if (extended !== null) return 'was extended before: that is possible once'
  if (expires_at === null) return 'has no deadline'
  return stored.policyOf({ policy }).extend === undefined
    ? 'cannot be extended: its policy rule has no `extend`'
    : 'changed just now; try again'
}
