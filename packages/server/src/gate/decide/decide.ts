import { type Action, assert, CountersignError, type DecisionBody, type Principal, type Vote } from '@countersign/core'
import { decidingVotes } from '@countersign/core/text'
import { checkpoint } from '@countersign/toolkit/internal'
import {
  type ActionRow,
  actions,
  currentAction,
  idempotently,
  openAhead,
  principals,
  stored,
  type Tx,
  type VoteRow,
  votes,
} from '../../store/index.ts'
import { type Caller, mayDecide, requireUnarchived, whyNeverDecides } from '../caller.ts'
import { type CallerContext, openSession, type SessionContext } from '../context.ts'
import { claimDeadline, deadlineAfterGrace, graceMsOf } from '../deadlines.ts'
import { emitUpdate } from '../events.ts'
import { createEarlyStart, type EarlyStart } from '../execute/start-with-decision.ts'
import type { GateDeps } from '../gate.ts'
import { makeGrant } from '../grants/grants.ts'
import { countVotes } from '../read/count.ts'
import { isoTime, viewAction, viewCast } from '../read/view.ts'
import { findVisibleAction, requireVisibleAction } from '../read/visible.ts'
import { type Change, transition } from '../transition.ts'
import { expireWaiting } from './expire.ts'
import { ASKED_THEMSELVES, excludedBy, findRight, isStillLent, keyOf, lentSince, requirementsOf, rolesText } from './rights.ts'
import { type RunContext, STOPPED, stopAfterExpiry, stopRun } from './stop-run.ts'

const DEFAULT_REASON = 'User declined'

/**
 * Takes one person's vote; with the last one that it takes, the action is decided. Repeating one's own vote changes nothing and answers
 * the action as it is now; while others are waited for, another vote takes the place of one's own.
 * @throws CountersignError `not_found`; `forbidden` for who may not decide; `revision_mismatch` when the decision names another revision or
 * digest; `already_decided` with the current action when someone or something else was first.
 */
export async function decide(deps: GateDeps, actionId: string, body: DecisionBody, caller: Caller): Promise<Action> {
  const nowMs = deps.clock.nowMs()
  const store = (early?: EarlyStart) =>
    deps.store.transact((outbox) => {
      early?.reset()
      return idempotently(caller.once, nowMs, () => takeDecision(deps, { outbox, nowMs, caller }, actionId, { body, early }))
    })
  const early = createEarlyStart(deps)
  checkpoint('decide.before_store')
  const action = await early.carryOut(actionId, store(early), store)
  checkpoint('decide.after_store')
  // The refusal comes after the commit, so that the expiry which the late decision noticed is stored.
  if (action.state === 'expired') throw alreadyDecided(action)
  return action
}

function* takeDecision(
  deps: GateDeps,
  context: CallerContext,
  actionId: string,
  { body, early }: Pick<Voted, 'body' | 'early'>,
): Tx<Action> {
  if (body.remember && body.verdict === 'decline') throw new CountersignError('bad_request', 'remember: only an approval can be remembered')
  if (body.startAfter !== undefined && body.verdict === 'decline')
    throw new CountersignError('bad_request', 'startAfter: nothing starts after a decline')
  yield* openAhead(actionId, soonFor(deps, context, early))
  return yield* takeVote(deps, context, { found: yield* findForVote(actionId, context.caller, context.nowMs), body, early })
}

/** Returns the rows that a vote reads behind the lock of its session. */
const soonFor = (deps: GateDeps, { caller, nowMs }: CallerContext, early: EarlyStart | undefined): readonly Tx<unknown>[] => [
  principals.findPrincipal.first({ id: caller.principal.id }),
  ...(caller.standingIn ? [caller.standingIn(nowMs)] : []),
  ...(early ? [deps.policies.inForce()] : []),
]

/** A vote on an action as it was found. */
interface Voted {
  found: Found
  body: DecisionBody
  /** Its session, where that is open already. */
  opened?: SessionContext
  /** Queries that follow, where it is not. */
  soon?: readonly Tx<unknown>[]
  /** Starts the action with its last vote. */
  early?: EarlyStart | undefined
}

/** Takes a vote, and does what follows from it. */
export function* takeVote(deps: GateDeps, context: CallerContext, voted: Voted): Tx<Action> {
  const { body, early } = voted
  const { row, written, votes } = yield* decideRow(context, { soon: soonFor(deps, context, early), ...voted })
  if (!written) return yield* viewAction(row, { nowMs: context.nowMs })
  // A repeat has made its grant before.
  if (body.remember && votes) yield* makeGrant(deps, written, row, body.remember)
  yield* finishDecision(deps, written, row, body)
  return yield* viewAction(row, { votes, nowMs: context.nowMs })
}

/**
 * Decides several actions of one session in one transaction: `approve all`, and the actions that a typed word names. An action whose
 * deadline has passed is answered as expired. `isNew` is false for a repeat of one's own decision, which changes nothing.
 */
export function* decideInSession(
  context: CallerContext<RunContext>,
  actionIds: readonly string[],
  body: DecisionBody,
): Tx<{ row: ActionRow; isNew: boolean }[]> {
  const { session, caller, nowMs } = context
  const decided: { row: ActionRow; isNew: boolean }[] = []
  for (const actionId of actionIds) {
    const found = yield* findForVote(actionId, caller, nowMs)
    if (found.row.session_id !== session.row.id) {
      throw new CountersignError('not_found', `there is no action ${actionId} in session ${session.row.id}`)
    }
    const { row, written } = yield* decideRow(context, { found, body: named(body, found.row), opened: context })
    decided.push({ row, isNew: written !== undefined })
  }
  return decided
}

/**
 * A decline applies to any revision. An approval without a digest applies to revision 1 only: nobody approves with a word what may have
 * changed since.
 */
const named = (body: DecisionBody, { revision, digest }: ActionRow): DecisionBody =>
  body.verdict === 'decline' ? { ...body, revision, digest } : body

interface Found {
  row: ActionRow
  /** In whose place the caller votes; null for their own. */
  forId: string | null
}

/** The action, for someone who may vote on it. @throws CountersignError `not_found`, `forbidden`, `gone`. */
export function* findForVote(actionId: string, { principal }: Caller, nowMs: number): Tx<Found> {
  const found = yield* currentAction(actionId)
  const right = found && (yield* findRight(found, principal, nowMs))
  // A person with a vote may see the action. An action that policy allowed has no votes, whatever its roles are.
  const hasVote = found && right?.refusal === undefined && stored.wasAsked(found)
  const row = hasVote ? found : yield* requireVisibleAction(principal, found, `action ${actionId}`, nowMs)
  if (right?.refusal !== undefined) throw hasNoVote(actionId, principal, right.refusal)
  requireUnarchived(row)
  return { row, forId: right?.forId ?? null }
}

const hasNoVote = (actionId: string, { name }: Principal, refusal: string): CountersignError =>
  new CountersignError('forbidden', `${name} may not decide about ${actionId}: ${refusal}`)

/**
 * Returns the action, for somebody whose own role would give them a vote on it, whether or not they asked for it. @throws CountersignError
 * `not_found`, `forbidden`, `gone`.
 */
export function* findForRole(actionId: string, { principal }: Caller, nowMs: number): Tx<ActionRow> {
  const row = yield* findVisibleAction(principal, actionId, nowMs)
  const requires = requirementsOf(row)
  if (!mayDecide(principal, requires)) {
    throw hasNoVote(actionId, principal, whyNeverDecides(principal) ?? `the role ${rolesText(requires)} is needed`)
  }
  requireUnarchived(row)
  return row
}

/**
 * Returns the action, for somebody who may act on it after the decision: their own role allows it, and where others than the requesters
 * have to decide, they did not ask for it. @throws CountersignError `not_found`, `forbidden`, `gone`.
 */
export function* findForDecision(actionId: string, caller: Caller, nowMs: number): Tx<ActionRow> {
  const row = yield* findForRole(actionId, caller, nowMs)
  yield* refuseRequester(row, caller.principal)
  return row
}

/** @throws CountersignError `forbidden` for somebody who asked for the action, where others have to decide. */
export function* refuseRequester(row: ActionRow, principal: Principal): Tx<void> {
  const excluded = yield* excludedBy(requirementsOf(row), row)
  if (excluded.has(principal.id)) throw hasNoVote(row.id, principal, ASKED_THEMSELVES)
}

const STATE_AFTER = { approve: 'approved', decline: 'declined' } as const

/** The outcome of a vote. */
interface Decided {
  row: ActionRow
  /** The open session; undefined where nothing was written. */
  written?: CallerContext<SessionContext>
  votes?: Vote[]
}

function* decideRow(context: CallerContext, { found: { row: found, forId: before }, body, opened, soon, early }: Voted): Tx<Decided> {
  const { caller, nowMs } = context
  const { principal } = caller
  if (found.state !== 'proposed') return { row: yield* answerLate(found, body, context) }
  if (!names(body, found)) throw changedSinceShown(yield* viewAction(found, { nowMs }))
  const written: CallerContext<SessionContext> = opened ? { ...opened, caller } : yield* openSession(context, found, soon)
  // The caller's own right was checked with their standing when the session was opened; a delegated right may have expired since, or somebody
  // else has used it, so that it is now that of another lender.
  const lent = before === null ? { forId: null } : yield* findRight(found, principal, nowMs)
  if (lent.refusal !== undefined) throw hasNoVote(found.id, principal, lent.refusal)
  const { forId } = lent
  // The delegation may have been given while the vote waited, or by a process whose clock is ahead.
  const since = forId === null ? undefined : yield* lentSince(principal.id, forId, nowMs)
  const reason = body.reason?.trim() || undefined
  const weighed = yield* weigh(
    found,
    {
      action_id: found.id,
      revision: found.revision,
      principal_id: principal.id,
      for_id: forId,
      verdict: body.verdict,
      reason: reason ?? null,
      created_at: Math.max(nowMs, since ?? 0),
      counts: null,
    },
    nowMs,
  )
  if (weighed.isRepeat && !weighed.outcome) return { row: weighed.row }
  const done = yield* storeVote(written, weighed, { reason, startAfter: body.startAfter, early })
  if (done) return { ...done, written }
  // Tried before it is read: the update waits for another transaction that decides, a read does not.
  const expired = yield* expireWaiting(written, found.id)
  if (expired) return { row: expired, written }
  const current = yield* actions.findAction.first({ id: found.id })
  assert(current, 'an action is never deleted')
  if (current.state === 'proposed') throw changedSinceShown(yield* viewAction(current, { nowMs }))
  return { row: yield* answerLate(current, body, context) }
}

/** Stores a vote, and moves the action if the vote decides it. Returns undefined when it is too late or the action has a newer revision. */
function* storeVote(
  context: CallerContext<SessionContext>,
  { row, vote, cast, counted, outcome, isRepeat }: Weighed,
  { reason, startAfter, early }: { reason: string | undefined; startAfter: string | undefined; early: EarlyStart | undefined },
): Tx<{ row: ActionRow; votes: Vote[] } | undefined> {
  const { caller, nowMs } = context
  let shown: Vote[] = []
  const changed = function* (): Tx<{ votes: Vote[] }> {
    checkpoint('decide.storing')
    if (!isRepeat) yield* votes.castVote.run({ ...vote })
    // Stored with the decision, because people may lose or get roles after it.
    if (outcome !== undefined) for (const one of cast) yield* noteCounts(one, counted.has(one) ? null : 0)
    shown = yield* viewCast(cast, counted)
    return { votes: shown }
  }
  const cause = {
    by: caller,
    data: { verdict: vote.verdict, ...(vote.for_id !== null && { for: vote.for_id }), reason: reason ?? null },
    tookMs: nowMs - row.created_at,
  }
  if (outcome === undefined) {
    const now = Math.max(nowMs, row.updated_at)
    const noted = yield* actions.noteVote(row, { updated_at: now }, { revision: row.revision, now })
    if (!noted) return undefined
    context.session?.noteAction(noted)
    yield* emitUpdate(context, noted, yield* changed(), { kind: 'voted', ...cause })
    return { row: noted, votes: shown }
  }
  const graceMs = graceMsOf(requirementsOf(row), startAfter)
  const starts_at = graceMs > 0 ? nowMs + graceMs : null
  const expires_at = deadlineAfterGrace(row, graceMs)
  const approval: Change<'approve'> = {
    patch: { due_at: row.executor === 'server' ? starts_at : claimDeadline({ ...row, expires_at }), starts_at, expires_at },
    cause: { kind: 'approved', ...cause, data: { ...cause.data, ...(starts_at !== null && { startsAt: isoTime(starts_at) }) } },
    *changed() {
      return { ...(yield* changed()), ...(expires_at !== null && graceMs > 0 && { expiresAt: isoTime(expires_at) }) }
    },
  }
  const moved =
    outcome === 'approve'
      ? yield* early ? early.approve(context, row, approval, cast) : transition(context, row, 'approve', approval)
      : yield* transition(context, row, 'decline', {
          patch: { due_at: null },
          cause: { kind: 'declined', ...cause },
          changed,
          reason: () => reason ?? reasonOf(shown) ?? DEFAULT_REASON,
        })
  return moved && { row: moved, votes: shown }
}

/** Naming nothing is fine while nothing about the action ever changed: then there is only one thing it can mean. */
export const names = ({ revision, digest }: Pick<DecisionBody, 'revision' | 'digest'>, row: ActionRow): boolean =>
  row.revision === 1 ? (revision ?? 1) === 1 && (digest ?? row.digest) === row.digest : revision === row.revision && digest === row.digest

interface Weighed {
  /** The action as it is behind the lock. */
  row: ActionRow
  vote: VoteRow
  /** All votes, this one among them. */
  cast: readonly VoteRow[]
  /** Those that count. */
  counted: ReadonlySet<VoteRow>
  /** The decision that this vote makes; undefined while more votes are needed. */
  outcome: 'approve' | 'decline' | undefined
  /** True when the same vote stands already: it is counted, not cast again. */
  isRepeat: boolean
}

/** Returns the outcome of a vote together with the earlier votes. The caller holds the lock that every vote on the action takes. */
function* weigh(found: ActionRow, vote: VoteRow, nowMs: number): Tx<Weighed> {
  const { quorum, declineQuorum } = requirementsOf(found)
  // Any one vote decides: there are no others to count.
  if (quorum === 1 && declineQuorum === 1)
    return { row: found, vote, cast: [vote], counted: new Set([vote]), outcome: vote.verdict, isRepeat: false }
  const row = (yield* actions.findAction.first({ id: found.id })) ?? found
  const before = yield* votes.votesWithHolders.all(keyOf(found))
  const own = before.find(({ principal_id }) => principal_id === vote.principal_id)
  const isSame = own?.verdict === vote.verdict && own.for_id === vote.for_id
  // A vote whose delegation ended counts no more, so the same one is cast again.
  const isRepeat = isSame && (yield* isStillLent(own, nowMs))
  const cast = isRepeat ? before : [...before.filter((other) => other !== own), vote]
  const { outcome, counted } = yield* countVotes(row, requirementsOf(row), cast, nowMs)
  return { row, vote, cast, outcome, isRepeat, counted }
}

function* noteCounts({ action_id, revision, principal_id, counts }: VoteRow, wanted: VoteRow['counts']): Tx<void> {
  if (counts !== wanted) yield* votes.noteCounts.run({ action_id, revision, principal_id, counts: wanted })
}

/** Returns the reason of the last vote to decline. */
const reasonOf = (cast: readonly Vote[]): string | undefined =>
  cast.findLast(({ verdict, reason, counts }) => verdict === 'decline' && counts !== false && reason !== undefined)?.reason

/**
 * The answer to a decision that came after another one: a repeat of the same decision by the same person succeeds, any other is refused and
 * names the first.
 */
function* answerLate(row: ActionRow, body: DecisionBody, { caller, nowMs }: CallerContext): Tx<ActionRow> {
  const cast = yield* votes.votesOf.all(keyOf(row))
  if (cast.some((vote) => vote.principal_id === caller.principal.id && vote.verdict === body.verdict)) return row
  throw alreadyDecided(yield* viewAction(row, { nowMs }))
}

/** The refusal of a decision about an action as it is not any more. */
export const changedSinceShown = (action: Action): CountersignError =>
  new CountersignError('revision_mismatch', `action ${action.id} changed since it was shown: look at it again`, { action })

/** The refusal of a decision about an action that is settled: who or what was first. */
export function alreadyDecided(action: Action): CountersignError {
  const verdict = action.state === 'declined' ? 'decline' : 'approve'
  const winners = decidingVotes(action)
  const last = winners.at(-1)
  const how =
    last && action.state === 'expired'
      ? `was ${STATE_AFTER[verdict]} by ${winners.map(({ by }) => by.name).join(' and ')}, and expired at ${action.expiresAt}: no client had claimed it by then`
      : last
        ? `was already ${STATE_AFTER[verdict]} by ${winners.map(({ by }) => by.name).join(' and ')} at ${last.at}`
        : action.state === 'expired'
          ? `expired at ${action.expiresAt}: nobody had decided by then`
          : `was already ${action.error?.kind === 'withdrawn' ? 'withdrawn' : action.state} at ${action.updatedAt}`
  return new CountersignError('already_decided', `action ${action.id} ${how}`, { action })
}

function* finishDecision(deps: GateDeps, context: CallerContext<SessionContext>, row: ActionRow, body: DecisionBody): Tx<void> {
  const { session, caller } = context
  if (!session) return
  const stops = row.state === 'declined' && (body.stop ?? deps.agentStopsOnDecline(row.agent))
  if (row.state === 'expired') yield* stopAfterExpiry(deps, context, row)
  else if (stops && row.run_id !== null) yield* stopRun({ ...context, session }, row.run_id, { reason: STOPPED, by: caller })
  yield* session.finish()
}
