import { checkpoint } from '@countersign/toolkit/internal'
import { writeSession } from '../gate/index.ts'
import { loadSession, type RunRow, type SessionState, type Tx } from '../store/index.ts'
import type { AgentDeps, AgentState } from './agent.ts'
import { disabledBehind, endForDisabled, waitsForDisabled } from './disabled.ts'
import { startQueuedRun } from './run.ts'
import { takeStep } from './step.ts'

type Next = { do: 'nothing' } | { do: 'end_for_disabled' } | { do: 'start_run' } | { do: 'step'; found: SessionState; run: RunRow }

/**
 * Does the next step that the session's rows require, until there is none: a model call, or the run of a queued message. It does not wait:
 * with open actions it returns, and the transaction that settles the last of them wakes the session. It keeps no state besides the rows, so it can be
 * killed at any point and called again in any process.
 */
export async function advance(deps: AgentDeps, state: AgentState, sessionId: string): Promise<void> {
  // The last attempt failed, and the session may be another's to advance by now.
  await giveBackTaken(deps, state, sessionId)
  await takeSteps(deps, state, sessionId)
  await giveBackTaken(deps, state, sessionId)
}

/** While a process that lives has taken a step, no other makes it: without this, a step that was given up would be made by nobody. */
async function giveBackTaken({ giveBackStep }: AgentDeps, { takenSteps }: AgentState, sessionId: string): Promise<void> {
  if (!takenSteps.has(sessionId)) return
  await giveBackStep(sessionId)
  takenSteps.delete(sessionId)
}

async function takeSteps(deps: AgentDeps, state: AgentState, sessionId: string): Promise<void> {
  for (;;) {
    const stepped = await stepAsWritten(deps, state, sessionId)
    if (stepped === false) return
    if (stepped === true) continue
    const next = await deps.store.read(() => nextThing(sessionId))
    if (next.do === 'nothing') return
    if (next.do === 'end_for_disabled') {
      await deps.store.transact((outbox) => endForDisabled(outbox, sessionId, deps.clock.nowMs()))
    } else if (next.do === 'start_run') {
      checkpoint('run.before_start')
      await deps.store.transact(function* (outbox) {
        const now = deps.clock.nowMs()
        const writer = yield* writeSession(outbox, sessionId, now)
        // Asked again inside the transaction: since the read, the queue may have been taken.
        if ((yield* nextOf(writer.state)).do !== 'start_run') return
        yield* startQueuedRun(outbox, writer, now)
        yield* writer.finish()
      })
      checkpoint('run.after_start')
    } else if (!(await takeStep(deps, state, next))) return
  }
}

/**
 * Makes the step that the session required when this process wrote to it last, if it is still like that: then nothing of it is read again.
 * Returns what {@link takeStep} returns; undefined when the session has to be read.
 */
async function stepAsWritten(deps: AgentDeps, state: AgentState, sessionId: string): Promise<boolean | undefined> {
  const found = deps.store.lastWritten(sessionId)
  if (found?.run?.state !== 'open' || found.open.length > 0) return undefined
  return await takeStep(deps, state, { found, run: found.run, isAsWritten: true })
}

function* nextThing(sessionId: string): Tx<Next> {
  const state = yield* loadSession(sessionId)
  return state ? yield* nextOf(state) : { do: 'nothing' }
}

function* nextOf(state: SessionState): Tx<Next> {
  const { run, open, queued } = state
  // Disabling a person ends their runs at once. A run that began in between, or that a dead process left, ends here.
  if ((run && (yield* disabledBehind(state, run))) || (yield* waitsForDisabled(state))) return { do: 'end_for_disabled' }
  // Before a model call every tool call has its result: an action that is open anywhere in the session holds the model back.
  if (open.length > 0) return { do: 'nothing' }
  if (run?.state === 'open') return { do: 'step', found: state, run }
  return { do: queued.length > 0 ? 'start_run' : 'nothing' }
}
