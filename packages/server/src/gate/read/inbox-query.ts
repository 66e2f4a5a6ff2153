import type { Principal } from '@countersign/core'
import { type ActionRow, actions, delegations, principals, type Tx } from '../../store/index.ts'
import { whyNeverDecides } from '../caller.ts'
import { findRight } from '../decide/rights.ts'

/** Read together, where some turn out not to be for them. */
const BATCH = 200

/** Returns the actions that wait for a person's vote, in their own right or by delegation, newest first: at most `filter.limit`. */
export function* listWaitingFor(principal: Principal, filter: actions.ActionFilter, nowMs: number): Tx<ActionRow[]> {
  if (whyNeverDecides(principal) !== undefined) return []
  const roles = yield* rolesOf(principal, nowMs)
  if (roles.length === 0) return []
  const found: ActionRow[] = []
  for (let { before } = filter; found.length < filter.limit; ) {
    // A person with a vote may see the action.
    const page = yield* actions.listActions({
      ...filter,
      reader: undefined,
      waitsFor: { roles, voter: principal.id },
      before,
      limit: BATCH,
    })
    for (const row of page) if ((yield* findRight(row, principal, nowMs)).refusal === undefined) found.push(row)
    if (page.length < BATCH) break
    before = page.at(-1)?.id
  }
  return found.slice(0, filter.limit)
}

/** Their own roles, and those of everybody in whose place they are. */
function* rolesOf(principal: Principal, nowMs: number): Tx<string[]> {
  const held = [principal.roles]
  for (const { from_id } of yield* delegations.delegationsTo.all({ to_id: principal.id, now: nowMs })) {
    const lender = yield* principals.findPrincipal.first({ id: from_id })
    if (lender) held.push(JSON.parse(lender.roles))
  }
  const all = new Set(held.flat())
  return all.has('admin') ? [...all, 'approver'] : [...all]
}
