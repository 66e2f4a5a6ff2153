import { type Action, assert, CountersignError, type DecisionBody, type Vote } from '@countersign/core'
import { reach } from '../points.ts'
import { type ActionRow, actions, doOnce, type Outbox, type Tx } from '../store/index.ts'
import { type Caller, mayDecide, requireUnarchived } from './caller.ts'
import { announceUpdate, writeSessionOf, writeToolResult } from './events.ts'
import { expireWaiting } from './expire.ts'
import type { GateParts } from './gate.ts'
import type { SessionWriter } from './session-writer.ts'
import { STOPPED, stopAfterExpiry, stopRun } from './stop-run.ts'
import { viewAction, viewVotes } from './view.ts'
import { requireVisibleAction } from './visible.ts'

const DEFAULT_REASON = 'User declined'

/**
 * Takes one person's decision. Repeating one's own decision changes nothing and answers the action as it is now.
 * @throws CountersignError `not_found`; `forbidden` for who may not decide; `revision_mismatch` when the decision names another revision or
 * digest; `already_decided` with the current action when someone or something else was first.
 */
export async function decide(parts: GateParts, actionId: string, body: DecisionBody, caller: Caller): Promise<Action> {
  const nowMs = parts.clock.nowMs()
  reach('decide.before_store')
  const action = await parts.store.transact((outbox) =>
    doOnce(caller.once, nowMs, () => takeDecision(parts, outbox, actionId, body, caller, nowMs)),
  )
  reach('decide.after_store')
  // Told only now: what the late decision found out, that the time is over, is stored.
  if (action.state === 'expired') throw alreadyDecided(action)
  return action
}

function* takeDecision(parts: GateParts, outbox: Outbox, actionId: string, body: DecisionBody, caller: Caller, nowMs: number): Tx<Action> {
  const row = yield* findForDecision(actionId, caller)
  const { row: decided, writer, votes } = yield* decideRow(outbox, row, body, caller, nowMs)
  yield* endWrite(parts, outbox, decided, writer, body, caller, nowMs)
  return yield* viewAction(decided, votes)
}

/**
 * Decides several actions of one session in one transaction: `approve all`, and what a typed word names. One whose time is over is
 * answered as expired, not decided. `isNew` is false for a repeat of one's own decision, which changes nothing.
 */
export function* decideInSession(
  outbox: Outbox,
  writer: SessionWriter,
  actionIds: readonly string[],
  body: DecisionBody,
  caller: Caller,
  nowMs: number,
): Tx<{ row: ActionRow; isNew: boolean }[]> {
  const decided: { row: ActionRow; isNew: boolean }[] = []
  for (const actionId of actionIds) {
    const found = yield* findForDecision(actionId, caller)
    if (found.session_id !== writer.row.id) {
      throw new CountersignError('not_found', `there is no action ${actionId} in session ${writer.row.id}`)
    }
    const { row, writer: used } = yield* decideRow(outbox, found, named(body, found), caller, nowMs, writer)
    decided.push({ row, isNew: used !== undefined })
  }
  return decided
}

/**
 * Who says no means it, whatever it has become. A yes that names nothing is for what was asked first: nobody approves with a word what may
 * have changed under it.
 */
const named = (body: DecisionBody, { revision, digest }: ActionRow): DecisionBody =>
  body.verdict === 'decline' ? { ...body, revision, digest } : body

/** The action, for someone who may decide about it. @throws CountersignError `not_found`, `forbidden`, `gone`. */
export function* findForDecision(actionId: string, { principal }: Caller): Tx<ActionRow> {
  const found = yield* actions.findAction.first({ id: actionId })
  const row = yield* requireVisibleAction(principal, found, `action ${actionId}`)
  const { roles } = JSON.parse(row.requires)
  if (!mayDecide(principal, roles)) {
    const why =
      principal.kind === 'person'
        ? `the role ${roles.join(' or ')} is needed`
        : `only persons decide, ${principal.name} is an ${principal.kind}`
    throw new CountersignError('forbidden', `${principal.name} may not decide about ${actionId}: ${why}`)
  }
  requireUnarchived(row)
  return row
}

function* decideRow(
  outbox: Outbox,
  row: ActionRow,
  body: DecisionBody,
  caller: Caller,
  nowMs: number,
  opened?: SessionWriter,
): Tx<{ row: ActionRow; writer?: SessionWriter | undefined; votes?: Vote[] }> {
  const { principal } = caller
  if (row.state !== 'proposed') return { row: yield* answerLate(row, body, principal.id) }
  if (!names(body, row)) throw changedSinceShown(yield* viewAction(row))
  const { revision } = row
  const to = body.verdict === 'approve' ? 'approved' : 'declined'
  const writer = opened ?? (yield* writeSessionOf(outbox, row, nowMs))
  if (!(yield* actions.decideAction.change({ id: row.id, revision, to, told: to === 'declined' ? 1 : 0, now: nowMs }))) {
    // Tried before it is read: what another transaction is deciding right now is waited for by an update, not by a read.
    const expired = yield* expireWaiting(outbox, writer, row.id, nowMs)
    if (expired) return { row: expired, writer }
    const current = yield* actions.findAction.first({ id: row.id })
    assert(current, 'an action is never deleted')
    if (current.state === 'proposed') throw changedSinceShown(yield* viewAction(current))
    return { row: yield* answerLate(current, body, principal.id) }
  }
  reach('decide.storing')
  const moved: ActionRow = { ...row, state: to, updated_at: nowMs }
  const reason = body.reason?.trim() || undefined
  yield* actions.insertVote.run({
    action_id: row.id,
    revision,
    principal_id: principal.id,
    verdict: body.verdict,
    reason: reason ?? null,
    created_at: nowMs,
  })
  const votes = yield* viewVotes(row)
  yield* announceUpdate(outbox, writer, moved, { votes }, { kind: to, by: caller, data: { reason: reason ?? null } }, nowMs)
  if (body.verdict === 'approve') {
    if (moved.executor === 'server') outbox.actions.add(moved.id)
  } else {
    yield* writeToolResult(writer, moved, reason ?? DEFAULT_REASON, nowMs)
    if (moved.session_id !== null) outbox.sessions.add(moved.session_id)
  }
  return { row: moved, writer, votes }
}

/** Naming nothing is fine while nothing about the action ever changed: then there is only one thing it can mean. */
export const names = ({ revision, digest }: Pick<DecisionBody, 'revision' | 'digest'>, row: ActionRow): boolean =>
  row.revision === 1 ? (revision ?? 1) === 1 && (digest ?? row.digest) === row.digest : revision === row.revision && digest === row.digest

/** What someone hears whose decision came after another: their own again is fine, anything else is told who was first. */
function* answerLate(row: ActionRow, body: DecisionBody, principalId: string): Tx<ActionRow> {
  const votes = yield* actions.votesOf.all({ action_id: row.id })
  if (votes.some((vote) => vote.principal_id === principalId && vote.verdict === body.verdict)) return row
  throw alreadyDecided(yield* viewAction(row))
}

const changedSinceShown = (action: Action): CountersignError =>
  new CountersignError('revision_mismatch', `action ${action.id} changed since it was shown: look at it again`, { action })

/** The refusal of a decision about an action that is settled: who or what was first. */
export function alreadyDecided(action: Action): CountersignError {
  const winner = action.votes[0]
  const how = winner
    ? `was already ${winner.verdict === 'approve' ? 'approved' : 'declined'} by ${winner.by.name} at ${winner.at}`
    : action.state === 'expired'
      ? `expired at ${action.expiresAt}: nobody had decided by then`
      : `was already ${action.state} at ${action.updatedAt}`
  return new CountersignError('already_decided', `action ${action.id} ${how}`, { action })
}

function* endWrite(
  parts: GateParts,
  outbox: Outbox,
  row: ActionRow,
  writer: SessionWriter | undefined,
  body: DecisionBody,
  caller: Caller,
  nowMs: number,
): Tx<void> {
  if (!writer) return
  if (row.state === 'expired') {
    yield* stopAfterExpiry(parts, outbox, writer, row, nowMs)
  } else {
    const stops = body.verdict === 'decline' && (body.stop ?? parts.agentStopsOnDecline(row.agent))
    if (stops && row.run_id !== null) yield* stopRun(outbox, writer, row.run_id, { reason: STOPPED, by: caller }, nowMs)
  }
  yield* writer.finish()
}
