import { CountersignError, type Principal, personOf } from '@countersign/core'
import { type ActionRow, actions, type SessionRow, stored, type Tx, visibility } from '../../store/index.ts'
import { seesAll } from '../caller.ts'
import { findRight, lenderIdsOf } from '../decide/rights.ts'

/** A rule may name it, but it decides nothing, so it shows nothing either. */
const DECIDES_NOTHING = 'member'

/**
 * Returns the reader by which the store filters; undefined for a reader who sees everything. Roles are the reader's own: a person who votes
 * by delegation sees the actions that they have or had a vote on, and nothing else of what the delegator sees.
 */
export const readerOf = (principal: Principal): visibility.Reader | undefined => {
  if (seesAll(principal)) return undefined
  const isPerson = principal.kind === 'person'
  return {
    id: principal.id,
    personId: isPerson ? personOf(principal) : null,
    roles: isPerson ? principal.roles.filter((role) => role !== DECIDES_NOTHING) : [],
  }
}

/** True for a person with a vote on the action, in their own right or by delegation. An action that policy allowed has no votes. */
function* hasVoteOn(row: ActionRow, principal: Principal, nowMs: number, lenders?: readonly string[]): Tx<boolean> {
  return stored.wasAsked(row) && (yield* findRight(row, principal, nowMs, lenders)).refusal === undefined
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
  const lenders = yield* lenderIdsOf(principal, nowMs)
  for (const id of lenders.length > 0 ? actionIds : []) {
    const row = visible.has(id) ? undefined : yield* actions.findAction.first({ id })
    if (row && (yield* hasVoteOn(row, principal, nowMs, lenders))) visible.add(id)
  }
  return visible
}

/**
 * Returns the action if the principal may see it: see {@link seesAction}.
 * @param row The action; undefined when it does not exist.
 * @param what Names it in the refusal by the requested id: `action act_7`.
 * @throws CountersignError `not_found`, with the same words whether it does not exist or is not visible.
 */
export function* requireVisibleAction(principal: Principal, row: ActionRow | undefined, what: string, nowMs: number): Tx<ActionRow> {
  if (row && (yield* seesAction(principal, row, nowMs))) return row
  throw new CountersignError('not_found', `there is no ${what}`)
}

/** Finds an action that the principal may see. @throws CountersignError `not_found` as {@link requireVisibleAction} does. */
export function* findVisibleAction(principal: Principal, actionId: string, nowMs: number): Tx<ActionRow> {
  const row = yield* actions.findAction.first({ id: actionId })
  return yield* requireVisibleAction(principal, row, `action ${actionId}`, nowMs)
}

/**
 * The same for a session: it is visible to its owner, to people who were invited, and to people who may see an action in it. A deleted
 * session is visible to nobody.
 * @throws CountersignError `not_found`
 */
export function* requireVisibleSession(principal: Principal, row: SessionRow | undefined, what: string): Tx<SessionRow> {
  const reader = readerOf(principal)
  if (row && row.deleted_at === null && (!reader || row.owner_id === reader.id || (yield* visibility.seesSessionOf(reader, row.id))))
    return row
  throw new CountersignError('not_found', `there is no ${what}`)
}
