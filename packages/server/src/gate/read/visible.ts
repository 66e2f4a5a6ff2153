import { CountersignError, type Principal, personOf } from '@countersign/core'
import { type ActionRow, actions, delegations, type SessionRow, stored, type Tx, visibility } from '../../store/index.ts'
import { seesAll } from '../caller.ts'
import { findRight } from '../decide/rights.ts'

/**
 * The reader that the store filters by; undefined for a principal that sees everything. A role is a reader's own: a delegate sees
 * the actions that they have a vote on, and nothing else of what the person they replace sees.
 */
export const readerOf = (principal: Principal): visibility.Reader | undefined => {
  if (seesAll(principal)) return undefined
  const isPerson = principal.kind === 'person'
  return { id: principal.id, personId: isPerson ? personOf(principal) : null, roles: isPerson ? principal.roles : [] }
}

/**
 * True for a principal with a vote on the action, in their own right or as a delegate. An action that needed no approval has no votes, even if
 * it names roles.
 */
function* hasVoteOn(row: ActionRow, principal: Principal, nowMs: number): Tx<boolean> {
  return stored.wasAsked(row) && (yield* findRight(row, principal, nowMs)).refusal === undefined
}

/**
 * True for a principal that may see the action: it is theirs or their agent's, it asks a role of theirs, they have a vote on it or voted about it, or it
 * stands in a session that they see; admins and viewers see all.
 */
function* seesAction(principal: Principal, row: ActionRow, nowMs: number): Tx<boolean> {
  const reader = readerOf(principal)
  if (!reader || row.requested_by === reader.id || (yield* visibility.seesActionOf(reader, row.id))) return true
  return yield* hasVoteOn(row, principal, nowMs)
}

/** Those of the actions that the principal may see, by their ids. */
export function* visibleAmong(principal: Principal, actionIds: readonly string[], nowMs: number): Tx<ReadonlySet<string>> {
  const reader = readerOf(principal)
  if (!reader) return new Set(actionIds)
  const visible = yield* visibility.visibleAmong(reader, actionIds)
  const standsIn = (yield* delegations.delegationsTo.all({ to_id: principal.id, now: nowMs })).length > 0
  for (const id of standsIn ? actionIds : []) {
    const row = visible.has(id) ? undefined : yield* actions.findAction.first({ id })
    if (row && (yield* hasVoteOn(row, principal, nowMs))) visible.add(id)
  }
  return visible
}

/**
 * Returns the action if the principal may see it: see {@link seesAction}.
 * @param row The action, or undefined when there is none.
 * @param what Of the refusal, with the id that was asked for: `action act_7`.
 * @throws CountersignError `not_found`, in the same words whether it does not exist or the principal may not see it.
 */
export function* requireVisibleAction(principal: Principal, row: ActionRow | undefined, what: string, nowMs: number): Tx<ActionRow> {
  if (row && (yield* seesAction(principal, row, nowMs))) return row
  throw new CountersignError('not_found', `there is no ${what}`)
}

/**
 * The same for a session: it is theirs or their agent's, or they may see an action in it. Nobody may see a deleted one.
 * @throws CountersignError `not_found`
 */
export function* requireVisibleSession(principal: Principal, row: SessionRow | undefined, what: string): Tx<SessionRow> {
  const reader = readerOf(principal)
  if (row && row.deleted_at === null && (!reader || row.owner_id === reader.id || (yield* visibility.seesSessionOf(reader, row.id))))
    return row
  throw new CountersignError('not_found', `there is no ${what}`)
}
