import { meetsRoles, type Principal, type Requirements } from '@countersign/core'
import { type ActionRow, delegations, type PrincipalRow, principals, stored, type Tx, type VoteRow, votes } from '../../store/index.ts'
import { rolesLeftOut, whyNeverDecides } from '../caller.ts'
import { askingPersons } from './requesters.ts'

/** Returns the requirements of an action for the people who decide about it. */
export const requirementsOf = (row: Pick<ActionRow, 'requires'>): Requirements => stored.requirementsOf(row)

/** By whose right somebody votes: their own, or that of the person `forId`, in whose place they are. Or why they may not. */
export type Right = { forId: string | null; refusal?: undefined } | { refusal: string }

type Roles = Pick<Requirements, 'roles' | 'alsoRoles'>

type Asked = Pick<ActionRow, 'requested_by' | 'session_id' | 'requesters' | 'edited_by'>

const NOBODY: ReadonlySet<string> = new Set()

/** Why somebody who asked may not decide: under `notRequester`, or in the place of another. */
export const ASKED_THEMSELVES = 'they asked for it themselves, so somebody else has to decide'

/** The people who may not decide because they asked for the action. */
export const excludedBy = ({ notRequester }: Requirements, asked: Asked): Tx<ReadonlySet<string>> =>
  notRequester ? askingPersons(asked) : nobody()

// biome-ignore lint/correctness/useYield: a transaction that asks nothing
function* nobody(): Tx<ReadonlySet<string>> {
  return NOBODY
}

/**
 * By what right `principal` votes on an action at its revision, or why they have none.
 * @param lenders Ids of the people in whose place they are, where they were read already.
 */
export function* findRight(row: ActionRow, principal: Principal, nowMs: number, lenders?: readonly string[]): Tx<Right> {
  const never = whyNeverDecides(principal)
  if (never !== undefined) return { refusal: never }
  const requires = requirementsOf(row)
  const excluded = yield* excludedBy(requires, row)
  if (excluded.has(principal.id)) return { refusal: ASKED_THEMSELVES }
  if (meetsRoles(principal.roles, requires)) return { forId: null }
  const known = lenders ? { ids: lenders, leftOut: [] } : yield* findLenders(principal, nowMs)
  return yield* findLentRight(row, { requires, excluded, principal, nowMs }, known)
}

interface Lenders {
  /** The earliest delegation first. */
  ids: readonly string[]
  /** The roles that the key in use leaves out. With such a key somebody votes in nobody's place. */
  leftOut: readonly string[]
}

function* findLenders(principal: Principal, nowMs: number): Tx<Lenders> {
  const lenders = yield* delegations.lendersTo.all({ to_id: principal.id, now: nowMs })
  return { ids: lenders.map(({ from_id }) => from_id), leftOut: lenders.length === 0 ? [] : yield* rolesLeftOut(principal) }
}

/**
 * The ids of the people in whose place somebody is, the earliest delegation first. Nobody for a key that leaves out a role of its person: it
 * would decide with roles that it was made without.
 */
export function* lenderIdsOf(principal: Principal, nowMs: number): Tx<readonly string[]> {
  const { ids, leftOut } = yield* findLenders(principal, nowMs)
  return leftOut.length > 0 ? [] : ids
}

/** When the oldest delegation was given by which `voter` votes in the place of `lender` now; undefined where there is none. */
export function* lentSince(voter: string, lender: string, nowMs: number): Tx<number | undefined> {
  const lenders = yield* delegations.lendersTo.all({ to_id: voter, now: nowMs })
  return lenders.find(({ from_id }) => from_id === lender)?.lent_at
}

/**
 * True for somebody who asked for an action. Whatever its rule says, they vote on it in nobody's place: without a role that decides, they
 * would ask and approve alone.
 */
function* askedThemselves(row: Asked, personId: string): Tx<boolean> {
  return (yield* askingPersons(row)).has(personId)
}

type Lent = Pick<VoteRow, 'principal_id' | 'for_id' | 'created_at'>

/** True for a vote in one's own right, and for one in the place of somebody while the delegation lasts that it was given under. */
export function* isStillLent({ principal_id, for_id, created_at }: Lent, nowMs: number): Tx<boolean> {
  if (for_id === null) return true
  const since = yield* lentSince(principal_id, for_id, nowMs)
  return since !== undefined && since <= created_at
}

/** True for a vote in one's own right; for one in the place of somebody while its delegation lasts, unless its voter asked for the action. */
export function* hasRightTo(row: Asked, vote: Lent, nowMs: number): Tx<boolean> {
  if (vote.for_id === null) return true
  return (yield* isStillLent(vote, nowMs)) && !(yield* askedThemselves(row, vote.principal_id))
}

/** True for a vote in one's own right; for one in the place of somebody if its delegation lasted until `at`, unless its voter asked for the action. */
export function* hadRightTo(row: Asked, { principal_id, for_id, created_at }: Lent, at: number): Tx<boolean> {
  if (for_id === null) return true
  const lent = yield* delegations.lastedUntil.first({ from_id: for_id, to_id: principal_id, votedAt: created_at, at })
  return lent !== undefined && !(yield* askedThemselves(row, principal_id))
}

function* findLentRight(
  row: ActionRow,
  { requires, excluded, principal, nowMs }: { requires: Requirements; excluded: ReadonlySet<string>; principal: Principal; nowMs: number },
  { ids, leftOut }: Lenders,
): Tx<Right> {
  const lenders: string[] = []
  for (const id of ids) if (!excluded.has(id) && (yield* holdsNow(id, requires))) lenders.push(id)
  if (lenders.length === 0) return { refusal: `the role ${rolesText(requires)} is needed` }
  if (leftOut.length > 0) return { refusal: `their key leaves out ${leftOut.join(', ')}, so it votes in nobody's place` }
  if (yield* askedThemselves(row, principal.id)) return { refusal: ASKED_THEMSELVES }
  const [first] = lenders
  // Where one vote decides, nobody has voted on what waits.
  if (first !== undefined && row.state === 'proposed' && requires.quorum === 1 && requires.declineQuorum === 1) return { forId: first }
  // A right counts once, so one that nobody has used yet comes first; their own earlier vote does not stand in their way.
  const used = new Set<string>()
  for (const vote of yield* votes.votesOf.all(keyOf(row))) {
    if (vote.principal_id === principal.id) continue
    // A vote that is not counted uses nobody's right.
    if (yield* hasRightTo(row, vote, nowMs)) used.add(vote.for_id ?? vote.principal_id)
  }
  const free = lenders.find((id) => !used.has(id))
  return free === undefined ? { refusal: 'everybody in whose place they are has voted, or was voted for' } : { forId: free }
}

export const keyOf = ({ id, revision }: Pick<ActionRow, 'id' | 'revision'>) => ({ action_id: id, revision })

/** The roles that it takes, for people: "finance or legal". */
export const rolesText = ({ roles, alsoRoles = [] }: Pick<Requirements, 'roles' | 'alsoRoles'>): string =>
  [roles, ...alsoRoles].map((list) => list.join(' or ')).join(', and also ')

/** Returns the requirements with more roles in each of their lists, so that a person with one of these roles satisfies all lists. */
export const withRoles = <R extends Roles>(requires: R, more: readonly string[]): R => {
  const add = (list: readonly string[]) => [...new Set([...list, ...more])]
  return { ...requires, roles: add(requires.roles), ...(requires.alsoRoles && { alsoRoles: requires.alsoRoles.map(add) }) }
}

/** True when a person themselves holds the roles that it takes, as they are known now. */
export function* holdsNow(personId: string, requires: Roles): Tx<boolean> {
  const person = yield* principals.findPrincipal.first({ id: personId })
  return person !== undefined && holds(person, requires)
}

/** The same for somebody whose row was read. */
export const holds = (row: Pick<PrincipalRow, 'kind' | 'roles' | 'disabled_at'>, requires: Roles): boolean =>
  row.kind === 'person' && row.disabled_at === null && meetsRoles(JSON.parse(row.roles), requires)
