import { reach } from '../../checkpoints.ts'
import { type ActionRow, actions } from '../../store/index.ts'
import { type Begun, startApproved } from './begin-attempt.ts'
import { carryOut } from './run-attempt.ts'
import type { GateParts } from '../gate.ts'
import { askAnew, type Look, lookAgain } from './revalidate.ts'
import { pauseAfter, untilItWorks } from './retry.ts'
import { takeUpOwn } from './recover.ts'
import { FAIL_TRIES, isDatabaseAway, START_TRIES, UNSTARTABLE } from './start-failures.ts'

/**
 * Carries out an approved action once a lane is free for its tool. Returns without it when another caller has it already, or when its
 * session has as many under way as it may: then the next of them to settle puts it up again.
 */
export async function execute(parts: GateParts, actionId: string): Promise<void> {
  reach('execute.before_start')
  const row = await untilItWorks(parts, actionId, () => parts.store.read(() => actions.findAction.first({ id: actionId })))
  if (row?.state === 'approved' && row.executor === 'server') await parts.lanes.run(row.tool, () => executeNow(parts, row))
}

/** Looks whether it is still what was decided, writes the intent, calls the tool, settles. */
async function executeNow(parts: GateParts, approved: ActionRow): Promise<void> {
  const { started, mayHaveBegun } = await untilStarted(parts, approved)
  if (started && 'begun' in started) await carryOut(parts, started.begun, started.end)
  else if (!started && mayHaveBegun) await takeUpOwn(parts, approved.id)
}

interface Start {
  /** Undefined when there was nothing to start, or the process stops. */
  started: Exclude<Begun, { because: unknown }> | undefined
  /** True when a try before may have been committed without an answer. */
  mayHaveBegun: boolean
}

/**
 * Starts an approved action. A database that is away or full is asked again until it answers. A start that fails for any other reason is
 * tried 10 times; then the action ends as failed, with nothing sent.
 * @throws whatever the start fails with, when even that end cannot be written.
 */
async function untilStarted(parts: GateParts, approved: ActionRow): Promise<Start> {
  const { startFailures, log } = parts
  const { id } = approved
  let look: Look | undefined
  let failures = 0
  let tries = 0
  for (;;) {
    try {
      look ??= await lookAgain(parts, approved)
      const seen = look
      reach('execute.looked')
      const started = await parts.store.transact((outbox) => startApproved(parts, outbox, approved, seen))
      reach('execute.started')
      if (started && 'because' in started) {
        look = await askAnew(parts, approved, started.because)
        continue
      }
      startFailures.forget(id)
      return { started, mayHaveBegun: failures > 0 }
    } catch (error) {
      if (!isDatabaseAway(error)) {
        startFailures.retry(id)
        tries++
      }
      if (tries === START_TRIES && look !== UNSTARTABLE) {
        look = UNSTARTABLE
        log.error({ actionId: id, tries, error }, 'action.start_given_up')
      }
      if (tries === START_TRIES + FAIL_TRIES) {
        startFailures.giveUp(id)
        throw error
      }
      if (!(await pauseAfter(parts, id, failures++, error))) {
        startFailures.forget(id)
        return { started: undefined, mayHaveBegun: false }
      }
    }
  }
}
