import type { ActionRow, actions, Tx } from '../../store/index.ts'
import type { Caller } from '../caller.ts'
import type { SessionContext } from '../context.ts'
import type { GateDeps } from '../gate.ts'
import { MAX_REPEATS } from '../propose/denial-memory.ts'
import type { SessionWriter } from '../session-writer.ts'
import { transitionById } from '../transition.ts'
import { expireWaiting } from './expire.ts'

/** Why a run ended, and why what else it was about to do was not started. */
export const STOPPED = 'The run was stopped because an action was declined'
export const EXPIRED = 'The run was stopped because nobody decided in time'
const UNCLAIMED = 'The run was stopped because no client claimed an approved action in time'
export const INSISTED = `The run was stopped because the agent proposed a declined action ${MAX_REPEATS} times again`

/** Why a run is stopped, and by whom; undefined when time did it. */
export interface StopReason {
  reason: string
  by: Caller | undefined
}

/** A context whose session is there. */
export type RunContext = SessionContext & { readonly session: SessionWriter }

/**
 * Ends a run with no further model call: what of it has not started is cancelled, what is executing settles on its own. Actions of earlier
 * runs that went back for approval wait on.
 */
export function* stopRun(context: RunContext, runId: string, why: StopReason): Tx<void> {
  const { open } = context.session.state
  yield* cancelUnstarted(
    context,
    open.filter(({ run_id }) => run_id === runId),
    why,
  )
  endStopped(context, runId, why)
}

/** Ends a run, and cancels everything in its session that has not started, whichever run it is of. */
export function* stopSession(context: RunContext, runId: string, why: StopReason): Tx<void> {
  yield* cancelUnstarted(context, context.session.state.open, why)
  endStopped(context, runId, why)
}

function* cancelUnstarted(context: RunContext, open: readonly actions.OpenAction[], { reason, by }: StopReason): Tx<void> {
  for (const { id } of open) {
    const cause = { kind: 'cancelled', by, data: { reason } } as const
    if (yield* transitionById(context, id, 'cancel', { cause, reason, wakes: false })) continue
    // The time of an action that waited too long was over before the run was stopped: it expires, and is not cancelled.
    yield* expireWaiting(context, id)
  }
}

function endStopped({ session }: RunContext, runId: string, { reason }: StopReason): void {
  // Readers of the run have to learn that nothing more comes.
  if (session.endRun(runId, 'cancelled')) session.event({ type: 'error', data: { code: 'cancelled', error: reason, runId } })
}

/** For the agent, an action that nobody decided in time is declined: it ends the run where a decline does. */
export function* stopAfterExpiry(deps: GateDeps, context: SessionContext, expired: ActionRow): Tx<void> {
  const { session } = context
  if (session && expired.run_id !== null && deps.agentStopsOnDecline(expired.agent)) {
    yield* stopRun({ ...context, session }, expired.run_id, { reason: expired.decided_at === null ? EXPIRED : UNCLAIMED, by: undefined })
  }
}
