import { CountersignError, type Principal, personOf } from '@countersign/core'
import { type ActionRow, type SessionRow, type Tx, visibility } from '../store/index.ts'
import { seesAll } from './caller.ts'

/**
 * Who reads, as the store filters by it; undefined for who sees everything. The one place that says which roles a reader has: whoever
 * is lent somebody else's (a delegate) has them here.
 */
export const readerOf = (principal: Principal): visibility.Reader | undefined => {
  if (seesAll(principal)) return undefined
  const isPerson = principal.kind === 'person'
  return { id: principal.id, personId: isPerson ? personOf(principal) : null, roles: isPerson ? principal.roles : [] }
}

/** What decides without asking the database: who asked for it, and whom it asks. */
export const isForEyesOf = (
  { id, personId, roles }: visibility.Reader,
  action: { requestedBy: Pick<Principal, 'id' | 'kind' | 'personId'>; asks: boolean; roles: readonly string[] },
): boolean =>
  action.requestedBy.id === id ||
  (personId !== null && personOf(action.requestedBy) === personId) ||
  (action.asks && action.roles.some((role) => roles.includes(role)))

/**
 * The action, for who may see it: it is theirs or their agent's, it asks a role of theirs, they voted about it, or it stands in a session
 * that they see; admins and viewers see all.
 * @param row The action, or undefined when there is none.
 * @param what Of the refusal, with the id that was asked for: `action act_7`.
 * @throws CountersignError `not_found`, in the same words whether it does not exist or is not for these eyes.
 */
export function* requireVisibleAction(principal: Principal, row: ActionRow | undefined, what: string): Tx<ActionRow> {
  const reader = readerOf(principal)
  if (row && (!reader || row.requested_by === reader.id || (yield* visibility.seesActionOf(reader, row.id)))) return row
  throw new CountersignError('not_found', `there is no ${what}`)
}

/** The same for a session: it is theirs or their agent's, or an action in it is for their eyes. @throws CountersignError `not_found` */
export function* requireVisibleSession(principal: Principal, row: SessionRow | undefined, what: string): Tx<SessionRow> {
  const reader = readerOf(principal)
  if (row && (!reader || row.owner_id === reader.id || (yield* visibility.seesSessionOf(reader, row.id)))) return row
  throw new CountersignError('not_found', `there is no ${what}`)
}
