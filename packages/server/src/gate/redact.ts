import { type Action, assert, CountersignError, type RedactBody } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { recordAudit } from '../audit/index.ts'
import {
  type ActionRow,
  actions,
  audit,
  changeRights,
  grants,
  redaction,
  revisions,
  seen,
  stored,
  type Tx,
  webhookDeliveries,
} from '../store/index.ts'
import { blankEvent } from './blank-event.ts'
import { blankVerdict } from './blank-verdict.ts'
import { type Caller, requireAdmin } from './caller.ts'
import { type CallerContext, openSession } from './context.ts'
import { emitUpdate } from './events.ts'
import type { GateDeps } from './gate.ts'
import { viewAction } from './read/view.ts'
import { findVisibleAction } from './read/visible.ts'
import { transactOnce } from './transact-once.ts'

/** The clocks of two processes differ by no more. */
const CLOCKS_DIFFER_MS = 60_000

/**
 * Removes what a settled action was about: arguments, preview, result and texts in its row, data and salts in its rows of the record, whose
 * chain stays valid, and the values in the events that the inbox has of it. Messages and other events of its session go with the session.
 * Nothing can be done with the action afterwards. Grants made from it end, and lose their values. A second redaction changes nothing, except
 * that it ends the grants where a crash prevented that.
 * @throws CountersignError `not_found`; `forbidden` for anybody but an admin; `illegal_transition` with the current action while it is
 * open.
 */
export async function redact(deps: GateDeps, actionId: string, body: RedactBody, caller: Caller): Promise<Action> {
  checkpoint('redact.before_store')
  const action = await transactOnce(deps, caller, (context) => takeRedaction(context, actionId, body))
  await endGrantsFrom(deps, actionId, caller)
  checkpoint('redact.after_store')
  return action
}

/**
 * In a transaction of its own, because rights are changed before anything else is locked. After the redaction, because no further grant is
 * made from a redacted action.
 */
function endGrantsFrom({ store, clock }: GateDeps, actionId: string, { principal }: Caller): Promise<void> {
  const nowMs = clock.nowMs()
  return store.transact(function* (outbox) {
    yield* changeRights()
    for (const { id, tool } of yield* redaction.grantsFrom.all({ action_id: actionId })) {
      yield* recordAudit(outbox, { kind: 'grant_revoked', actor: principal.id, data: { grant: id, tool } }, nowMs)
      yield* grants.revokeGrant.change({ id, revoked_by: principal.id, now: nowMs })
    }
    yield* redaction.blankGrants.run({ action_id: actionId })
  })
}

function* takeRedaction(context: CallerContext, actionId: string, { reason }: RedactBody): Tx<Action> {
  const { caller, nowMs } = context
  const found = yield* findVisibleAction(caller.principal, actionId, nowMs)
  requireAdmin(caller.principal, 'redacts what was recorded')
  const opened = yield* openSession(context, found)
  // Read again: whoever held the session or the action before may have changed it.
  const before = (yield* actions.findAction.first({ id: actionId })) ?? found
  const isBlanked = yield* redaction.blankAction.change({ id: actionId, now: nowMs, ...withoutValues(before) })
  const row = yield* actions.findAction.first({ id: actionId })
  assert(row, 'an action is never deleted')
  if (!isBlanked && row.redacted_at === null) {
    const why = `action ${actionId} is ${row.state}; only a settled action can be redacted`
    throw new CountersignError('illegal_transition', why, { action: yield* viewAction(row, { nowMs }) })
  }
  if (!isBlanked) return yield* viewAction(row, { nowMs })
  yield* seen.forgetSeen.run({ action_id: actionId })
  yield* audit.blankVotes.run({ action_id: actionId })
  yield* blankRevisions(actionId)
  yield* blankDifferences(actionId)
  yield* webhookDeliveries.blankDeliveries.run({ action_id: actionId })
  yield* audit.blankRows({ scope: found.session_id ?? actionId, actionId })
  yield* redaction.blankEvents(found, blankEvent)
  const blanked = yield* viewAction(row, { nowMs })
  yield* blankAnswers(row, blanked)
  const { id: _, ...changed } = blanked
  yield* emitUpdate(opened, row, changed, { kind: 'redacted', by: caller, data: { reason } })
  if (opened.session) yield* opened.session.save()
  return blanked
}

/** A repeat of the proposal gets the action as it is now: the first answer would tell what it was about. */
function* blankAnswers(row: ActionRow, blanked: Action): Tx<void> {
  // The time of an answer is that of the proposal. Retention puts it forward while the action is open, and last to when it ended.
  const [from, until] = [row.created_at, row.updated_at + CLOCKS_DIFFER_MS]
  for (const { scope, key, answer } of yield* redaction.answersNaming.all({ from, until, naming: `%"${row.id}"%` })) {
    const { id } = (JSON.parse(answer) ?? {}) as { id?: unknown }
    if (id === row.id) yield* redaction.replaceAnswer.run({ scope, key, answer: JSON.stringify(blanked) })
  }
}

/** Removes earlier revisions too, and the reasons for them, because they contain values. */
function* blankRevisions(actionId: string): Tx<void> {
  for (const row of yield* revisions.revisionsOf.all({ action_id: actionId })) {
    const revised = stored.revisedOf(row)
    const blanked = { revised: revised && withoutReason(revised), ended: withoutReason(stored.endedOf(row)), ...withoutValues(row) }
    yield* redaction.blankRevision.run({ action_id: actionId, revision: row.revision, ...blanked })
  }
}

const withoutReason = (revised: stored.StoredRevised): string => JSON.stringify({ ...revised, reason: 'Redacted' })

/** Removes the same from what versions of the policy on trial said. */
function* blankDifferences(actionId: string): Tx<void> {
  for (const { shadow, said } of yield* redaction.differencesOf.all({ action_id: actionId })) {
    yield* redaction.replaceSaid.run({ shadow, action_id: actionId, said: JSON.stringify(blankVerdict(JSON.parse(said))) })
  }
}

/** Risk and verdict without what their reasons repeat: a tool's may name arguments; for those of a verdict see {@link blankVerdict}. */
function withoutValues(row: Pick<ActionRow, 'risk' | 'policy'>): Pick<ActionRow, 'risk' | 'policy'> {
  return {
    risk: JSON.stringify({ ...stored.riskOf(row), reasons: ['Redacted'] }),
    policy: JSON.stringify(blankVerdict(stored.policyOf(row))),
  }
}
