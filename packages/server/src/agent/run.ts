import { type SessionWriter, type StopReason, stopRun } from '../gate/index.ts'
import { newId, type Outbox, type QueuedMessage, type RunRow, type SessionState, type Tx } from '../store/index.ts'
import { dropOfFormerWriters } from './who-writes.ts'

/** Begins a run over what waits in the queue, and wakes the session. Returns the run's id. */
export function* startRun(outbox: Outbox, writer: SessionWriter, now: number): Tx<string> {
  const sessionId = writer.row.id
  const { runId, taken } = firstOf(writer.state.queued)
  const id = runId ?? newId('run', now)
  yield* writer.beginRun(id)
  for (const message of taken) yield* writer.dequeue(message, id)
  outbox.sessions.add(sessionId)
  return id
}

/** A request has a run of its own, known to who made it; everything else that waits before it is answered together. */
function firstOf(queued: readonly QueuedMessage[]): { runId: string | null; taken: readonly QueuedMessage[] } {
  const [first] = queued
  if (first?.run_id) return { runId: first.run_id, taken: [first] }
  const end = queued.findIndex((message) => message.run_id !== null)
  return { runId: null, taken: end < 0 ? queued : queued.slice(0, end) }
}

/** Begins the next run when something waits in the queue of somebody who may still write in the session. */
export function* startQueuedRun(outbox: Outbox, writer: SessionWriter, now: number): Tx<void> {
  yield* dropOfFormerWriters(writer, now)
  if (writer.state.queued.length > 0) yield* startRun(outbox, writer, now)
}

/** Gives messages that wait their turn to a run that is about to end: they are kept and not acted on. A request waits for a run of its own. */
export function* takeQueuedMessages(writer: SessionWriter, runId: string): Tx<void> {
  for (const message of writer.state.queued) {
    if (message.run_id === null) yield* writer.dequeue(message, runId)
  }
}

/** Ends what is queued, each request with a run that has ended, so that its caller gets an answer. */
export function* endQueued(outbox: Outbox, writer: SessionWriter, why: StopReason, now: number): Tx<void> {
  const context = { outbox, session: writer, nowMs: now, caller: why.by }
  while (writer.state.queued.length > 0) yield* stopRun(context, yield* startRun(outbox, writer, now), why)
}

/** True while a run is open and stands before the step that it was read at. */
export const isAtStep = ({ run: newest }: SessionState, run: RunRow): boolean =>
  newest?.id === run.id && newest.state === 'open' && newest.steps === run.steps
