import { assert } from '@countersign/core'
import { checkpoint } from '../../checkpoints.ts'
import { type ActionRow, actions, type Outbox, type Tx } from '../../store/index.ts'
import { emitUpdate, storeEvent, writeToolResult } from '../events.ts'
import { isoTime } from '../read/view.ts'
import type { SessionWriter } from '../session-writer.ts'
import { tellOfDelay } from '../tell-webhooks.ts'

/**
 * Expires an action that people did not decide in time, or no client claimed, tells the model, and wakes the session. Answers the action as it is then, or
 * undefined when nothing moved: its time is not over by the database's clock, or it was settled. The caller finishes the writer.
 */
export function* expireWaiting(
  outbox: Outbox,
  writer: SessionWriter | undefined,
  actionId: string,
  nowMs: number,
): Tx<ActionRow | undefined> {
  if (!(yield* actions.expireAction.change({ id: actionId, now: nowMs }))) return undefined
  checkpoint('expire.storing')
  const row = yield* actions.findAction.first({ id: actionId })
  assert(row, 'an expired action is there')
  yield* emitUpdate(outbox, writer, row, {}, { kind: 'expired' }, nowMs)
  yield* writeToolResult(writer, row, undefined, nowMs)
  if (row.session_id !== null) outbox.sessions.add(row.session_id)
  return row
}

/** Says, once, that nobody has decided for a while. `due` is the action as it was found. True when it was time for that. */
export function* remindWaiting(
  outbox: Outbox,
  writer: SessionWriter | undefined,
  due: Pick<ActionRow, 'id' | 'due_at'>,
  nowMs: number,
): Tx<boolean> {
  if (!(yield* actions.remindAction.change({ id: due.id, now: nowMs }))) return false
  checkpoint('remind.storing')
  const row = yield* actions.findAction.first({ id: due.id })
  assert(row, 'a waiting action is there')
  // The database says that it is due; this process's idea of the time may be a little behind.
  const waitedMs = Math.max(nowMs, due.due_at ?? 0) - row.created_at
  const event = {
    type: 'approval_overdue',
    data: { actionId: row.id, waitedMs: Math.max(waitedMs, 0), updatedAt: isoTime(row.updated_at) },
  } as const
  if (writer) writer.event(event)
  else yield* storeEvent(outbox, event, nowMs)
  yield* tellOfDelay(outbox, row, nowMs)
  return true
}
