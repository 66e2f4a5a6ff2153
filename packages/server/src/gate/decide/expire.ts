import { assert } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, type Tx } from '../../store/index.ts'
import type { SessionContext } from '../context.ts'
import { emitEvent } from '../events.ts'
import { isoTime } from '../read/view.ts'
import { lookWhomItWaitsFor, tellOfDelay } from '../tell-webhooks.ts'
import { transitionById } from '../transition.ts'

/**
 * Expires an action that people did not decide in time, or no client claimed. Answers the action as it is then, or undefined when nothing
 * moved: by the clock of the database its time is left, or it was settled. The caller finishes the session.
 */
export function* expireWaiting(context: SessionContext, actionId: string): Tx<ActionRow | undefined> {
  const expired = yield* transitionById(context, actionId, 'expire', { cause: { kind: 'expired' } })
  if (expired) checkpoint('expire.storing')
  return expired
}

/** Says, once, that nobody has decided for a while. `due` is the action as it was found. True when it was time for that. */
export function* remindWaiting(context: SessionContext, due: Pick<ActionRow, 'id' | 'due_at'>): Tx<boolean> {
  const { outbox, nowMs } = context
  if (!(yield* actions.remindAction.change({ id: due.id, now: nowMs }))) return false
  checkpoint('remind.storing')
  const row = yield* actions.findAction.first({ id: due.id })
  assert(row, 'a waiting action is there')
  context.session?.noteAction(row)
  // The database says that it is due; this process's idea of the time may be a little behind.
  const waitedMs = Math.max(nowMs, due.due_at ?? 0) - row.created_at
  const event = {
    type: 'approval_overdue',
    data: { actionId: row.id, waitedMs: Math.max(waitedMs, 0), updatedAt: isoTime(row.updated_at) },
  } as const
  yield* emitEvent(context, event)
  yield* tellOfDelay(outbox, row, nowMs)
  yield* lookWhomItWaitsFor(outbox, row, nowMs)
  return true
}
