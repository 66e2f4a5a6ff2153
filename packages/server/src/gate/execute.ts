import { reach } from '../points.ts'
import { type ActionRow, actions } from '../store/index.ts'
import { startApproved } from './begin.ts'
import { carryOut } from './carry-out.ts'
import type { GateParts } from './gate.ts'
import { askAnew, lookAgain } from './look-again.ts'
import { untilItWorks, untilStored } from './patience.ts'
import { takeUpOwn } from './recover.ts'

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
  let look = await lookAgain(parts, approved)
  for (;;) {
    const seen = look
    let mayHaveBegun = false
    reach('execute.looked')
    const started = await untilStored(parts, approved.id, (outbox, isRepeat) => {
      mayHaveBegun = isRepeat
      return startApproved(parts, outbox, approved, seen)
    })
    reach('execute.started')
    if (started && 'because' in started) {
      look = await askAnew(parts, approved, started.because)
      continue
    }
    if (started && 'begun' in started) await carryOut(parts, started.begun, started.end)
    else if (!started && mayHaveBegun) await takeUpOwn(parts, approved.id)
    return
  }
}
