import { reach } from '../points.ts'
import { carryOut } from './carry-out.ts'
import type { GateParts } from './gate.ts'
import { untilStored } from './patience.ts'
import { takeUpOwn } from './recover.ts'
import { startApproved } from './start.ts'

/**
 * Carries out an approved action: writes the intent, calls the tool, settles. Returns at once when another caller has it already.
 */
export async function execute(parts: GateParts, actionId: string): Promise<void> {
  reach('execute.before_start')
  let tries = 0
  const started = await untilStored(parts, actionId, (outbox) => {
    tries++
    return startApproved(outbox, actionId, parts.processId, parts.clock.nowMs())
  })
  reach('execute.started')
  if (started) await carryOut(parts, started)
  // An earlier try may have begun it, and the database went away before it said so.
  else if (tries > 1) await takeUpOwn(parts, actionId)
}
