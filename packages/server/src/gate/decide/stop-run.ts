import { assert } from '@countersign/core'
import { type ActionRow, actions, type Outbox, sessions, type Tx } from '../../store/index.ts'
import type { Caller } from '../caller.ts'
import { emitUpdate, writeToolResult } from '../events.ts'
import type { GateDeps } from '../gate.ts'
import { MAX_REPEATS } from '../propose/denial-memory.ts'
import type { SessionWriter } from '../session-writer.ts'
import { expireWaiting } from './expire.ts'

/** Why a run ended, and why what else it was about to do was not started. */
export const STOPPED = 'The run was stopped because an action was declined'
export const EXPIRED = 'The run was stopped because nobody decided in time'
export const INSISTED = `The run was stopped because the agent proposed a declined action ${MAX_REPEATS} times again`

/** Why a run is stopped, and by whom; undefined when time did it. */
export interface StopReason {
  reason: string
  by: Caller | undefined
}

/**
 * Ends a run with no further model call: what has not started is cancelled, what is executing settles on its own.
 */
export function* stopRun(outbox: Outbox, writer: SessionWriter, runId: string, { reason, by }: StopReason, nowMs: number): Tx<void> {
  for (const open of yield* actions.openActions.all({ session_id: writer.row.id })) {
    if (!(yield* actions.cancelAction.change({ id: open.id, now: nowMs }))) {
      // What waited too long was over before this: it is said to have expired, not to have been cancelled.
      yield* expireWaiting(outbox, writer, open.id, nowMs)
      continue
    }
    const cancelled = yield* actions.findAction.first({ id: open.id })
    assert(cancelled, 'a cancelled action is there')
    yield* emitUpdate(outbox, writer, cancelled, {}, { kind: 'cancelled', by, data: { reason } }, nowMs)
    yield* writeToolResult(writer, cancelled, reason, nowMs)
  }
  const ended = yield* sessions.endRun.change({ session_id: writer.row.id, id: runId, state: 'cancelled', now: nowMs })
  // Whoever follows the run has to learn that nothing more comes.
  if (ended) writer.event({ type: 'error', data: { code: 'cancelled', error: reason, runId } })
}

/** For the agent, an action that nobody decided in time is declined: it ends the run where a decline does. */
export function* stopAfterExpiry(deps: GateDeps, outbox: Outbox, writer: SessionWriter, expired: ActionRow, nowMs: number): Tx<void> {
  if (expired.run_id !== null && deps.agentStopsOnDecline(expired.agent)) {
    yield* stopRun(outbox, writer, expired.run_id, { reason: EXPIRED, by: undefined }, nowMs)
  }
}
