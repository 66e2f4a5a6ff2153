import { type Action, isSettled } from '@countersign/core'
import { findVisibleAction, viewAction } from '../gate/index.ts'
import { watchStanding } from '../identity/standing.ts'
import type { Exchange, GatewayDeps } from './exchange.ts'
import { readUntil } from './read-until.ts'

/** How often a client that requested progress is told that its call is still waiting. */
const BEAT_MS = 5_000

export interface WaitOptions {
  /** How long people may take. */
  decisionMs: number
  /** How long it may take in all, once no decision is needed. */
  resultMs: number
  /** Stops the waiting and nothing else. */
  stop: AbortSignal
  /** Called when the waiting begins and now and then while it lasts, with the time waited so far. */
  onBeat(action: Action, waitedMs: number): void
}

/**
 * Returns the action once it is settled, or its state when the time is up. Each read uses the caller's current rights.
 * @throws CountersignError `not_found` for an action that they may not see, `unauthenticated` once their credential has ended.
 */
export async function waitForAction(
  { store, hub, clock, stopping }: Pick<GatewayDeps, 'store' | 'hub' | 'clock' | 'stopping'>,
  { request }: Pick<Exchange, 'request'>,
  actionId: string,
  { decisionMs, resultMs, stop, onBeat }: WaitOptions,
): Promise<Action> {
  using standing = await watchStanding({ hub, clock }, request)
  using timers = new DisposableStack()
  const startedAt = clock.nowMs()
  let isDecisionLate = decisionMs <= 0
  let isResultLate = resultMs <= 0
  let last: Action | undefined

  function startTimers(changed: () => void): void {
    const late = (ms: number, isLate: () => void) => ms > 0 && timers.defer(clock.after(ms, () => [isLate(), changed()]))
    late(decisionMs, () => {
      isDecisionLate = true
    })
    late(resultMs, () => {
      isResultLate = true
    })
    const stopBeats = { now: () => {} }
    timers.defer(() => stopBeats.now())
    const beat = () => {
      if (last) onBeat(last, Math.max(clock.nowMs() - startedAt, 0))
      stopBeats.now = clock.after(BEAT_MS, beat)
    }
    stopBeats.now = clock.after(BEAT_MS, beat)
  }

  return await readUntil({
    listen(changed) {
      standing.onJudged(changed)
      startTimers(changed)
      return hub.onAction(actionId, changed)
    },
    async read() {
      const action = await store.read(function* () {
        const nowMs = clock.nowMs()
        return yield* viewAction(yield* findVisibleAction(standing.principal, actionId, nowMs), { nowMs })
      })
      // News is reported at once, so that a client with a progress display can show it; an action that just runs will be done soon.
      if (action.state === 'proposed' ? !last : action.state === 'executing' && last?.state === 'proposed')
        onBeat(action, Math.max(clock.nowMs() - startedAt, 0))
      last = action
      return action
    },
    isEnough: ({ state }) => isSettled(state) || (state === 'proposed' ? isDecisionLate : isResultLate),
    giveUp: AbortSignal.any([stop, stopping]),
  })
}
