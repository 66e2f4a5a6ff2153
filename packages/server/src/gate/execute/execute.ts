import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, currentAction } from '../../store/index.ts'
import type { GateDeps } from '../gate.ts'
import { type Begun, startApproved } from './begin-attempt.ts'
import { adoptOwn } from './recover.ts'
import { pauseAfter, untilItWorks } from './retry.ts'
import { type Revalidation, requestReapproval, revalidate } from './revalidate.ts'
import { runAttempt } from './run-attempt.ts'
import { FAIL_TRIES, isDatabaseAway, START_TRIES, UNSTARTABLE } from './start-failures.ts'

/**
 * Carries out an approved action once a slot is free for its tool. Returns without it during its grace period (the timer puts it up
 * afterwards), when another caller has it already, or when its
 * session has as many under way as it may: then the next of them to settle puts it up again.
 */
export async function execute(deps: GateDeps, actionId: string): Promise<void> {
  checkpoint('execute.before_start')
  const row = await untilItWorks(deps, actionId, () => deps.store.read(() => currentAction(actionId)))
  if (row?.state === 'approved' && row.executor === 'server' && !actions.isInGrace(row))
    await deps.limiter.run(row.tool, () => executeNow(deps, row))
}

/** Looks whether it is still what was decided, writes the intent, calls the tool, settles. */
async function executeNow(deps: GateDeps, approved: ActionRow): Promise<void> {
  const { started, mayHaveBegun } = await untilStarted(deps, approved)
  if (started && 'begun' in started) await runAttempt(deps, started.begun, started.end)
  else if (!started && mayHaveBegun) await adoptOwn(deps, approved.id)
}

interface Start {
  /** Undefined when there was nothing to start, or the process stops. */
  started: Exclude<Begun, { because: unknown }> | undefined
  /** True when a try before may have been committed without an answer. */
  mayHaveBegun: boolean
}

/**
 * Starts an approved action. While the database is away or full, it tries again until the database answers. A start that fails for another
 * reason is tried 10 times; then the action fails, with nothing sent.
 * @throws The error of the start, when even the failure cannot be stored.
 */
async function untilStarted(deps: GateDeps, approved: ActionRow): Promise<Start> {
  const { startFailures, clock, log } = deps
  const { id } = approved
  // From here on nothing but the start itself delays it, also where its transaction waits for a lock.
  startFailures.begin(id, clock.nowMs())
  let look: Revalidation | undefined
  let failures = 0
  let tries = 0
  for (;;) {
    try {
      look ??= await revalidate(deps, approved)
      const seen = look
      checkpoint('execute.looked')
      // Its turn may have come, or the target may have answered, long after the job was taken.
      await deps.life.whenAlive()
      const started = await deps.store.transact((outbox) => startApproved(deps, outbox, approved, seen))
      checkpoint('execute.started')
      if (started && 'because' in started) {
        look = await requestReapproval(deps, approved, started.because)
        continue
      }
      startFailures.forget(id)
      return { started, mayHaveBegun: failures > 0 }
    } catch (error) {
      // The target is read again: what was seen may be as old as the trouble of the database.
      if (look !== UNSTARTABLE) look = undefined
      if (!isDatabaseAway(error)) tries++
      if (tries === START_TRIES && look !== UNSTARTABLE) {
        look = UNSTARTABLE
        log.error({ actionId: id, tries, error }, 'action.start_abandoned')
      }
      if (tries === START_TRIES + FAIL_TRIES) {
        startFailures.giveUp(id)
        throw error
      }
      if (!(await pauseAfter(deps, id, failures++, error))) {
        startFailures.forget(id)
        return { started: undefined, mayHaveBegun: false }
      }
    }
  }
}
