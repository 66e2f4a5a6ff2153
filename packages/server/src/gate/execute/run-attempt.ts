import { reach } from '../../checkpoints.ts'
import type { ActionRow } from '../../store/index.ts'
import { attempt, type Lost, type Settled } from './attempt.ts'
import { findOut } from './reconcile.ts'
import type { GateParts } from '../gate.ts'
import { askAnew } from './revalidate.ts'
import { untilItWorks, untilStored } from './retry.ts'
import { settle, settleStale } from './settle.ts'

/**
 * Sends a started action, as often as its tool allows, until it has an end, and stores that.
 * @param known What came of the attempt already: its answer is lost and found out, or it ended before anything was sent.
 */
export async function carryOut(parts: GateParts, started: ActionRow, known?: Settled | Lost): Promise<void> {
  let row = started
  let end: Settled | Lost | undefined = known
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
  // What policy alone let run nobody was shown: it has failed, and whoever wants it proposes it again.
  const isStale = settled.to === 'failed' && settled.error.kind === 'stale' && JSON.parse(row.policy).verdict === 'ask'
  const look = isStale
    ? await untilItWorks(parts, row.id, () => askAnew(parts, row, { why: 'target', reason: settled.error.message }))
    : undefined
  reach('settle.before_store')
  const isOurs = await untilStored(parts, row.id, (outbox) => {
    const nowMs = parts.clock.nowMs()
    return isStale && look?.to === 'ask'
      ? settleStale(parts, outbox, row, { error: settled.error, look }, nowMs)
      : settle(parts, outbox, row, settled, nowMs)
  })
  reach('settle.after_store')
  if (isOurs === false) parts.log.warn({ actionId: row.id, epoch: row.epoch, to: settled.to }, 'action.stale_answer')
}
