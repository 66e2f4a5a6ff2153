import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, stored } from '../../store/index.ts'
import type { GateDeps } from '../gate.ts'
import { attempt, type Lost, type Settled } from './attempt.ts'
import { reconcile } from './reconcile.ts'
import { retryUntilStored, untilItWorks } from './retry.ts'
import { requestReapproval } from './revalidate.ts'
import { settle, settleStale } from './settle.ts'

/**
 * Sends a started action, as often as its tool allows, until it has an end, and stores that.
 * @param known What came of the attempt already: its answer is lost and found out, or it ended before anything was sent.
 */
export async function runAttempt(deps: GateDeps, started: ActionRow, known?: Settled | Lost): Promise<void> {
  let row = started
  let end: Settled | Lost | undefined = known
  for (;;) {
    end ??= await attempt(deps, row)
    const next: ActionRow | Settled | undefined = end?.to === 'lost' ? await reconcile(deps, row, end) : end
    if (!next) return
    if ('to' in next) return storeEnd(deps, row, next)
    row = next
    end = undefined
  }
}

async function storeEnd(deps: GateDeps, row: ActionRow, settled: Settled): Promise<void> {
  // Nobody saw a card of an action that policy allowed: it fails, and the requester can propose it again.
  const isStale = settled.to === 'failed' && settled.error.kind === 'stale' && stored.wasAsked(row)
  const look = isStale
    ? await untilItWorks(deps, row.id, () => requestReapproval(deps, row, { why: 'target', reason: settled.error.message }))
    : undefined
  checkpoint('settle.before_store')
  const isOurs = await retryUntilStored(deps, row.id, (outbox) => {
    const context = { outbox, nowMs: deps.clock.nowMs(), caller: undefined }
    return isStale && look?.to === 'ask'
      ? settleStale(deps, context, row, { error: settled.error, look })
      : settle(deps, context, row, settled)
  })
  checkpoint('settle.after_store')
  if (isOurs === false) deps.log.warn({ actionId: row.id, epoch: row.epoch, to: settled.to }, 'action.stale_answer')
}
