import { reach } from '../points.ts'
import type { ActionRow } from '../store/index.ts'
import { attempt, type Lost, type Settled } from './attempt.ts'
import { findOut } from './find-out.ts'
import type { GateParts } from './gate.ts'
import { untilStored } from './patience.ts'
import { settle } from './settle.ts'

/**
 * Sends a started action, as often as its tool allows, until it has an end, and stores that.
 * @param lost Begins with finding out instead: the answer of the attempt is lost already.
 */
export async function carryOut(parts: GateParts, started: ActionRow, lost?: Lost): Promise<void> {
  let row = started
  let end: Settled | Lost | undefined = lost
  for (;;) {
    end ??= await attempt(parts, row)
    const next: ActionRow | Settled | undefined = end?.to === 'lost' ? await findOut(parts, row, end) : end
    if (!next) return
    if ('to' in next) return storeEnd(parts, row, next)
    row = next
    end = undefined
  }
}

async function storeEnd(parts: GateParts, row: ActionRow, settled: Settled): Promise<void> {
  reach('settle.before_store')
  const isOurs = await untilStored(parts, row.id, (outbox) => settle(parts, outbox, row, settled, parts.clock.nowMs()))
  reach('settle.after_store')
  if (isOurs === false) parts.log.warn({ actionId: row.id, epoch: row.epoch, to: settled.to }, 'action.stale_answer')
}
