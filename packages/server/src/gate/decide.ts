import { type Action, assert, CountersignError, type DecisionBody, type Vote } from '@countersign/core'
import { reach } from '../points.ts'
import { type ActionRow, actions, doOnce, newId, type Outbox, sessions, type Tx } from '../store/index.ts'
import { type Caller, mayDecide, requireVisible } from './caller.ts'
import { announceUpdate, writeSessionOf } from './events.ts'
import type { GateParts } from './gate.ts'
import type { SessionWriter } from './session-writer.ts'
import { outcomeOf } from './tool-result.ts'
import { isoTime, viewAction, viewVotes } from './view.ts'

const DEFAULT_REASON = 'User declined'
/** Why a run ended, and why what else it was about to do was not started. */
export const STOPPED = 'The run was stopped because an action was declined'

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
  return action
}

function* takeDecision(parts: GateParts, outbox: Outbox, actionId: string, body: DecisionBody, caller: Caller, nowMs: number): Tx<Action> {
  const row = yield* findForDecision(actionId, caller)
  const { row: decided, writer, votes } = yield* decideRow(outbox, row, body, caller, nowMs)
  yield* endWrite(parts, outbox, decided, writer, body)
  return yield* viewAction(decided, votes)
}

/**
 * Decides several actions of one session in one transaction: `approve all`, and what a typed word names. `isNew` is false for a
 * repeat of one's own decision, which changes nothing.
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
    const { row, writer: used } = yield* decideRow(outbox, found, { ...body, revision: found.revision }, caller, nowMs, writer)
    decided.push({ row, isNew: used !== undefined })
  }
  return decided
}

function* findForDecision(actionId: string, { principal }: Caller): Tx<ActionRow> {
  const row = yield* actions.findAction.first({ id: actionId })
  requireVisible(principal, row?.requested_by, `action ${actionId}`)
  if (!row) throw new CountersignError('not_found', `there is no action ${actionId}`)
  const { roles } = JSON.parse(row.requires)
  if (!mayDecide(principal, roles)) {
    const why =
      principal.kind === 'person'
        ? `the role ${roles.join(' or ')} is needed`
        : `only persons decide, ${principal.name} is an ${principal.kind}`
    throw new CountersignError('forbidden', `${principal.name} may not decide about ${actionId}: ${why}`)
  }
  return row
}

function* decideRow(
  outbox: Outbox,
  row: ActionRow,
  body: DecisionBody,
  { principal }: Caller,
  nowMs: number,
  opened?: SessionWriter,
): Tx<{ row: ActionRow; writer?: SessionWriter | undefined; votes?: Vote[] }> {
  if (row.state !== 'proposed') return { row: yield* answerLate(row, body, principal.id) }
  // Naming nothing is fine while nothing about the action ever changed: then there is only one thing it can mean.
  const revision = body.revision ?? (row.revision === 1 ? 1 : undefined)
  if (revision !== row.revision || (body.digest !== undefined && body.digest !== row.digest)) {
    throw new CountersignError('revision_mismatch', `action ${row.id} changed since it was shown: look at it again`, {
      action: yield* viewAction(row),
    })
  }
  const to = body.verdict === 'approve' ? 'approved' : 'declined'
  if (!(yield* actions.decideAction.change({ id: row.id, revision, to, told: to === 'declined' ? 1 : 0, now: nowMs }))) {
    const current = yield* actions.findAction.first({ id: row.id })
    return { row: yield* answerLate(current ?? row, body, principal.id) }
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
  const votes = yield* viewVotes(row.id)
  const writer = opened ?? (yield* writeSessionOf(outbox, moved, nowMs))
  yield* announceUpdate(outbox, writer, moved, { votes }, nowMs)
  if (body.verdict === 'approve') {
    if (moved.executor === 'server') outbox.actions.add(moved.id)
  } else {
    yield* writeToolResult(writer, moved, reason ?? DEFAULT_REASON, nowMs)
    if (moved.session_id !== null) outbox.sessions.add(moved.session_id)
  }
  return { row: moved, writer, votes }
}

/** What someone hears whose decision came after another: their own again is fine, anything else is told who was first. */
function* answerLate(row: ActionRow, body: DecisionBody, principalId: string): Tx<ActionRow> {
  const votes = yield* actions.votesOf.all({ action_id: row.id })
  if (votes.some((vote) => vote.principal_id === principalId && vote.verdict === body.verdict)) return row
  const action = yield* viewAction(row)
  const winner = action.votes[0]
  const by = winner
    ? `${winner.verdict === 'approve' ? 'approved' : 'declined'} by ${winner.by.name} at ${winner.at}`
    : `${row.state} at ${isoTime(row.updated_at)}`
  throw new CountersignError('already_decided', `action ${row.id} was already ${by}`, { action })
}

/** Leaves the result of a settled action in its session, where the model will find it. */
export function* writeToolResult(writer: SessionWriter | undefined, row: ActionRow, reason: string | undefined, nowMs: number): Tx<void> {
  if (!writer) return
  yield* writer.toolResult({
    messageId: newId('msg', nowMs),
    runId: row.run_id,
    toolCall: { id: row.tool_call_id ?? row.id, name: row.tool },
    outcome: outcomeOf(row, reason),
    actionId: row.id,
  })
}

function* endWrite(parts: GateParts, outbox: Outbox, row: ActionRow, writer: SessionWriter | undefined, body: DecisionBody): Tx<void> {
  if (!writer) return
  const stops = body.verdict === 'decline' && (body.stop ?? parts.agentStopsOnDecline(row.agent))
  if (stops && row.run_id !== null) yield* stopRun(outbox, writer, row.run_id, STOPPED, parts.clock.nowMs())
  yield* writer.finish()
}

/** Ends a run with no further model call: what has not started is cancelled, what is executing settles on its own. */
export function* stopRun(outbox: Outbox, writer: SessionWriter, runId: string, reason: string, nowMs: number): Tx<void> {
  for (const open of yield* actions.openActions.all({ session_id: writer.row.id })) {
    if (!(yield* actions.cancelAction.change({ id: open.id, now: nowMs }))) continue
    const cancelled = yield* actions.findAction.first({ id: open.id })
    assert(cancelled, 'a cancelled action is there')
    yield* announceUpdate(outbox, writer, cancelled, {}, nowMs)
    yield* writeToolResult(writer, cancelled, reason, nowMs)
  }
  const ended = yield* sessions.endRun.change({ session_id: writer.row.id, id: runId, state: 'cancelled', now: nowMs })
  // Whoever follows the run has to learn that nothing more comes.
  if (ended) writer.event({ type: 'error', data: { code: 'cancelled', error: reason, runId } })
}
