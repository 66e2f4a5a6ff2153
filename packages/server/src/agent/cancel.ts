import type { Session } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type Caller, endWholeSession, requireWriter, stopSession, transactOnce } from '../gate/index.ts'
import type { AgentDeps } from './agent.ts'
import { keepSaid } from './deltas.ts'
import { endQueued, takeQueuedMessages } from './run.ts'
import { addNote, findVisibleSession, sessionNow, writeOpenSession } from './session.ts'
import { stepMessageId } from './step-message.ts'

/**
 * Stops the session's run: what has not started is cancelled, also of earlier runs, queued messages are kept but not acted on, what is
 * executing settles on its own, what the model has said so far is kept. An "approve all" of the session is revoked, also when nothing runs and
 * nothing waits; then nothing else changes.
 */
export async function cancelSession(deps: AgentDeps, sessionId: string, caller: Caller): Promise<Session> {
  checkpoint('cancel.before_store')
  const session = await transactOnce(deps, caller, function* ({ outbox, nowMs: now }) {
    const session = yield* findVisibleSession(sessionId, caller)
    requireWriter(caller.principal)
    const writer = yield* writeOpenSession({ outbox, caller, nowMs: now }, session)
    const { run, open, queued } = writer.state
    const isOpen = run?.state === 'open'
    // Behind what still executes, messages wait although no run is open.
    const hasWork = isOpen || queued.length > 0 || open.some(({ state }) => state !== 'executing')
    if (run && hasWork) {
      yield* keepSaid(writer, run, stepMessageId(run))
      const reason = `Cancelled by ${caller.principal.name}`
      // A run that has ended keeps the note that says why.
      yield* addNote(writer, `${reason}.`, now, isOpen ? run.id : null)
      // Before the run's last event: who follows a queued message learns from this which run that is.
      if (isOpen) yield* takeQueuedMessages(writer, run.id)
      const why = { reason, by: caller }
      yield* stopSession({ outbox, session: writer, nowMs: now, caller }, run.id, why)
      yield* endQueued(outbox, writer, why, now)
      checkpoint('cancel.storing')
    }
    // Without a run too: an "approve all" would allow the calls of the next run.
    const ended = yield* endWholeSession(writer, caller, now)
    if (hasWork || ended > 0) yield* writer.finish()
    return yield* sessionNow(sessionId, now)
  })
  checkpoint('cancel.after_store')
  return session
}
