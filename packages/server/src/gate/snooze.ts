import { CountersignError, durationMs, type Principal, type Snooze, type SnoozeBody } from '@countersign/core'
import { SNOOZE_ENDS_BEFORE_DEADLINE_MS } from '@countersign/core/text'
import { type ActionRow, snoozes } from '../store/index.ts'
import { type Caller, requireOwnSignIn, requirePerson, requireScope } from './caller.ts'
import type { GateDeps } from './gate.ts'
import { isoTime, viewAction } from './read/view.ts'
import { findVisibleAction } from './read/visible.ts'
import { lookWhomItWaitsFor } from './tell-webhooks.ts'
import { transactOnce } from './transact-once.ts'

const MINUTE_MS = 60_000
const MOST_MS = 30 * 24 * 60 * MINUTE_MS

/**
 * Leaves an action out of the caller's own inbox until a time, at the latest until five minutes before its deadline. Nobody else's inbox
 * changes, and nothing about who may decide. A repeat sets the time anew.
 * @throws CountersignError `forbidden` for who has no inbox; `not_found`; `bad_request` for a time that is past or more than 30 days away;
 * `illegal_transition` with the action when it needs nobody any more, or expires too soon.
 */
export async function snooze(deps: GateDeps, actionId: string, body: SnoozeBody, caller: Caller): Promise<Snooze> {
  const person = requireInboxOwner(caller.principal)
  return transactOnce(deps, caller, function* ({ outbox, nowMs }) {
    const wanted = 'for' in body ? nowMs + (durationMs(body.for) ?? 0) : Date.parse(body.until)
    if (wanted <= nowMs) throw new CountersignError('bad_request', `until: ${isoTime(wanted)} is past`)
    if (wanted > nowMs + MOST_MS) throw new CountersignError('bad_request', 'an action is snoozed for 30 days at most')
    const row = yield* findVisibleAction(caller.principal, actionId, nowMs)
    const until = Math.min(wanted, latestEnd(row))
    const why = whyNot(row, until <= nowMs)
    if (why !== undefined) {
      throw new CountersignError('illegal_transition', `action ${actionId} ${why}`, { action: yield* viewAction(row, { nowMs }) })
    }
    const kept = { principal_id: person.id, action_id: actionId, until, created_at: nowMs }
    yield* snoozes.saveSnooze.run(kept)
    // Browsers take the notification back now, and show it again then.
    yield* lookWhomItWaitsFor(outbox, row, nowMs)
    yield* lookWhomItWaitsFor(outbox, row, nowMs, until)
    return viewSnooze(kept)
  })
}

/** Ends the caller's own snooze of an action. Does nothing when it is not snoozed. */
export async function endSnooze(deps: GateDeps, actionId: string, caller: Caller): Promise<void> {
  const person = requireInboxOwner(caller.principal)
  await transactOnce(deps, caller, function* ({ outbox, nowMs }) {
    const row = yield* findVisibleAction(caller.principal, actionId, nowMs)
    const ended = yield* snoozes.endSnooze.change({ principal_id: person.id, action_id: actionId })
    if (ended > 0) yield* lookWhomItWaitsFor(outbox, row, nowMs)
    return {}
  })
}

/** @throws CountersignError `forbidden` for who has no inbox of their own, or may not change it. */
function requireInboxOwner(principal: Principal): Principal {
  // A key that only asks must not silence the person who decides about it.
  requireScope(principal, ['decide'], 'snooze anything')
  requireOwnSignIn(principal, 'snooze anything')
  return requirePerson(principal, 'have an inbox')
}

const latestEnd = ({ state, expires_at }: ActionRow): number =>
  state === 'proposed' && expires_at !== null ? expires_at - SNOOZE_ENDS_BEFORE_DEADLINE_MS : Number.POSITIVE_INFINITY

function whyNot({ state }: ActionRow, isTooLate: boolean): string | undefined {
  if (state !== 'proposed' && state !== 'outcome_unknown') return `is ${state}: only one that needs a person can be snoozed`
  return isTooLate ? 'expires within five minutes, so it stays where people see it' : undefined
}

export const viewSnooze = ({ action_id, until, created_at }: snoozes.SnoozeRow): Snooze => ({
  actionId: action_id,
  until: isoTime(until),
  createdAt: isoTime(created_at),
})
