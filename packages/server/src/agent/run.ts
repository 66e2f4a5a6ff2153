import type { SessionWriter } from '../gate/index.ts'
import { messages, newId, type Outbox, sessions, type Tx } from '../store/index.ts'

/** Begins a run over everything that waits in the queue, and wakes the session. Returns the run's id. */
export function* startRun(outbox: Outbox, writer: SessionWriter, now: number): Tx<string> {
  const id = newId('run', now)
  const sessionId = writer.row.id
  yield* sessions.insertRun.run({ id, session_id: sessionId, number: ++writer.row.last_run, now })
  for (const message of yield* messages.queuedMessages.all({ session_id: sessionId })) yield* writer.dequeue(message, id)
  outbox.sessions.add(sessionId)
  return id
}

/** Begins the next run when something waits in the queue. */
export function* startQueuedRun(outbox: Outbox, writer: SessionWriter, now: number): Tx<void> {
  const waiting = yield* messages.queuedMessages.all({ session_id: writer.row.id })
  if (waiting.length > 0) yield* startRun(outbox, writer, now)
}
