import { meetsRoles, type Principal } from '@countersign/core'
import { type ActionRow, type actions, type PrincipalRow, principals, stored, type Tx, together, votes, waits } from '../../store/index.ts'
import { whyNeverDecides } from '../caller.ts'
import { findRight, holds, keyOf, lenderIdsOf, requirementsOf } from '../decide/rights.ts'
import { countVotes } from './count.ts'

/** How many actions are read at a time. Some of them turn out not to be for this person. */
const BATCH = 200
/** A text that sorts after every id. */
const END = 'zzz'

/** True while an action waits for this person's vote, in their own right or by delegation. */
export function* isWaitingFor(row: ActionRow, principal: Principal, nowMs: number): Tx<boolean> {
  if (row.state !== 'proposed' || !stored.wasAsked(row)) return false
  if ((yield* findRight(row, principal, nowMs)).refusal !== undefined) return false
  return !(yield* hasVoted(row, principal, nowMs))
}

/**
 * True for somebody who has voted. A vote in the place of another is one only while it counts: it may be that the other voted themselves, and
 * that there is a third person in whose place it is missing.
 */
function* hasVoted(row: ActionRow, { id }: Principal, nowMs: number): Tx<boolean> {
  const requires = requirementsOf(row)
  // Where one vote decides, nobody has voted on what waits.
  if (requires.quorum === 1 && requires.declineQuorum === 1) return false
  const cast = yield* votes.votesOf.all(keyOf(row))
  const own = cast.find(({ principal_id }) => principal_id === id)
  if (own === undefined || own.for_id === null) return own !== undefined
  return (yield* countVotes(row, requires, cast, nowMs)).counted.has(own)
}

/**
 * Returns the actions that wait for a person's vote, in their own right or by delegation, newest first: at most `filter.limit`.
 * @param isDelegated True for those alone that they vote on in the place of another.
 */
export function* listWaitingFor(
  principal: Principal,
  { isDelegated = false, ...filter }: actions.ActionFilter & { isDelegated?: boolean },
  nowMs: number,
): Tx<ActionRow[]> {
  if (whyNeverDecides(principal) !== undefined) return []
  const [lenderIds, listed] = yield* together(lenderIdsOf(principal, nowMs), waits.listWaitsFor.all({ before: filter.before ?? END }))
  if (isDelegated && lenderIds.length === 0) return []
  const mayVote = yield* judgeFor(principal, lenderIds, listed)
  const isOwn = (one: waits.Waiting) => meetsRoles(principal.roles, waits.readWaitsFor(one))
  const from = listed.length < waits.MAX_WAITS_FOR ? listed.filter((one) => mayVote(one) && !(isDelegated && isOwn(one))) : undefined
  const found: ActionRow[] = []
  const limit = Math.min(filter.limit, BATCH)
  for (let { before } = filter; found.length < filter.limit; ) {
    // A person with a vote may see the action.
    const page = yield* waits.listWaiting(from, { ...filter, reader: undefined, voter: principal.id, before, limit })
    for (const row of page) {
      const right = yield* findRight(row, principal, nowMs, lenderIds)
      if (right.refusal !== undefined || (isDelegated && right.forId === null)) continue
      // In nobody's place, the votes that count are those in their own right, and the list has none of these.
      if (lenderIds.length === 0 || !(yield* hasVoted(row, principal, nowMs))) found.push(row)
    }
    if (page.length < limit) break
    before = page.at(-1)?.id
  }
  return found.slice(0, filter.limit)
}

/** The ids of what a person votes on in the place of another, newest first. @param most A few more are found. */
export function* listLentIds(principal: Principal, most: number, nowMs: number): Tx<string[]> {
  if ((yield* lenderIdsOf(principal, nowMs)).length === 0) return []
  const ids: string[] = []
  for (let before: string | undefined; ids.length < most; before = ids.at(-1)) {
    const page = yield* listWaitingFor(principal, { isDelegated: true, before, limit: BATCH }, nowMs)
    ids.push(...page.map(({ id }) => id))
    if (page.length < BATCH) break
  }
  return ids
}

/**
 * Returns a check that is true of what somebody may vote on, in their own right or in the place of a lender. It may also be true where
 * votes of others stand in the way, the action does not say who asked for it, or they asked for it and would vote in the place of a lender:
 * `findRight` has the last word.
 */
function* judgeFor(principal: Principal, lenderIds: readonly string[], listed: readonly waits.Waiting[]) {
  const ids = [...new Set([...lenderIds, ...listed.flatMap((one) => waits.readWaitsFor(one).askedBy.filter((id) => id !== null))])]
  const found = yield* together(...ids.map((id) => principals.findPrincipal.first({ id })))
  const known = new Map(ids.map((id, at): [string, PrincipalRow | undefined] => [id, found[at]]))
  return (one: waits.Waiting): boolean => {
    const { askedBy, ...roles } = waits.readWaitsFor(one)
    const excluded = new Set(askedBy.map((id) => id && known.get(id)?.person_id))
    if (excluded.has(principal.id)) return false
    if (meetsRoles(principal.roles, roles)) return true
    return lenderIds.some((id) => {
      const lender = known.get(id)
      return lender !== undefined && !excluded.has(id) && holds(lender, roles)
    })
  }
}
