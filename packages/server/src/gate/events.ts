import type { EventDataOf, NewEvent } from '@countersign/core'
import { type ActionRow, events, lock, newId, type Outbox, type Tx } from '../store/index.ts'
import { type SessionWriter, writeSession } from './session-writer.ts'
import { outcomeOf } from './tool-result.ts'
import { isoTime } from './view.ts'

/** Stores one event about an action that belongs to no session. */
export function* storeEvent(outbox: Outbox, event: NewEvent, nowMs: number): Tx<void> {
  outbox.events.push(...(yield* events.insertEvents({ sessionId: null, events: [{ seq: null, event }], nowMs })))
}

/**
 * Opens the session of an action for writing, before anything about the action is changed. Undefined for an action without one: then
 * nobody else writes to the action itself.
 */
export function* writeSessionOf(outbox: Outbox, row: Pick<ActionRow, 'id' | 'session_id'>, nowMs: number): Tx<SessionWriter | undefined> {
  if (row.session_id !== null) return yield* writeSession(outbox, row.session_id, nowMs)
  yield* lock(row.id)
  return undefined
}

/** Tells everybody that an action moved: in its session's log, or in the log alone. */
export function* announceUpdate(
  outbox: Outbox,
  writer: SessionWriter | undefined,
  row: ActionRow,
  changed: Partial<EventDataOf<'action_update'>>,
  nowMs: number,
): Tx<void> {
  const event: NewEvent = {
    type: 'action_update',
    data: { proposalId: row.id, state: row.state, revision: row.revision, updatedAt: isoTime(row.updated_at), ...changed },
  }
  if (writer) writer.event(event)
  else yield* storeEvent(outbox, event, nowMs)
}

/** Leaves the result of a settled action in its session, where the model will find it. `reason` is the decider's, where there is one. */
export function* writeToolResult(writer: SessionWriter | undefined, row: ActionRow, reason: string | undefined, nowMs: number): Tx<void> {
  if (!writer) return
  yield* writer.toolResult({
    messageId: newId('msg', nowMs),
    runId: row.run_id,
    toolCall: { id: row.tool_call_id ?? row.id, name: row.tool },
    outcome: outcomeOf(row, reason),
    actionId: row.id,
  })
}
