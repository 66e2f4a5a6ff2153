import type { Principal, SeenAnswer, SeenBody } from '@countersign/core'
import { type ActionRow, seen, type Tx } from '../store/index.ts'
import { type Caller, requirePerson, requireScope, requireUnarchived, seesAll } from './caller.ts'
import { alreadyDecided, changedSinceShown, names } from './decide/decide.ts'
import { findRight } from './decide/rights.ts'
import type { GateDeps } from './gate.ts'
import { viewAction } from './read/view.ts'
import { viewSeenBy } from './read/view-seen.ts'
import { findVisibleAction } from './read/visible.ts'
import { transactOnce } from './transact-once.ts'

/**
 * Notes that a person has had a revision of a waiting action on their screen, and answers who has. Only the first time counts, and only for
 * people who may decide about the action or see everything: for others nothing is stored. It gives no right and takes none.
 * @throws CountersignError `forbidden` for an agent, a service or a key that is limited to something else; `not_found`; `gone`; as a decision
 * does, `revision_mismatch` when the action is not what was seen and `already_decided` when it waits for no decision.
 */
export async function markSeen(deps: GateDeps, actionId: string, body: SeenBody, caller: Caller): Promise<SeenAnswer> {
  const { principal } = caller
  requirePerson(principal, 'say what they have seen')
  // A key that only asks must not say that its person has looked.
  requireScope(principal, ['decide'], 'say what its person has seen')
  return transactOnce(deps, caller, function* ({ nowMs }) {
    const row = yield* requireSame(principal, actionId, body, nowMs)
    if (yield* counts(row, principal, nowMs)) yield* note(row, principal, nowMs)
    return { seenBy: yield* viewSeenBy(row) }
  })
}

/** The action as it waits, when that is what was seen. */
function* requireSame(principal: Principal, actionId: string, body: SeenBody, nowMs: number): Tx<ActionRow> {
  const row = yield* findVisibleAction(principal, actionId, nowMs)
  requireUnarchived(row)
  if (row.state !== 'proposed') throw alreadyDecided(yield* viewAction(row, { nowMs }))
  if (!names(body, row)) throw changedSinceShown(yield* viewAction(row, { nowMs }))
  return row
}

/** True for somebody who may decide about the action, and for who watches all of them. */
function* counts(row: ActionRow, principal: Principal, nowMs: number): Tx<boolean> {
  return seesAll(principal) || (yield* findRight(row, principal, nowMs)).refusal === undefined
}

function* note({ id, revision, digest }: ActionRow, principal: Principal, nowMs: number): Tx<void> {
  yield* seen.noteSeen.run({ action_id: id, principal_id: principal.id, revision, digest, now: nowMs })
}
