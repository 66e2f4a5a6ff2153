import {
  assert,
  higherRisk,
  type JsonObject,
  type PolicyResult,
  type Requires,
  type Revised,
  strictestRequirements,
} from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, newId, type PatchOf, revisions, stored, type Tx } from '../../store/index.ts'
import type { Caller } from '../caller.ts'
import type { SessionContext } from '../context.ts'
import { deadlinesOf, earliestOf, type Timers } from '../deadlines.ts'
import { nextKey } from '../execute/attempt-key.ts'
import { policyText, requirementsText, riskOf } from '../policy.ts'
import { columnsOf, type PreparedAction } from '../propose/prepare.ts'
import { viewAction } from '../read/view.ts'
import { transition } from '../transition.ts'

/** A row as it was read, in a state that allows a new revision. */
export type Revisable = ActionRow & { state: 'proposed' | 'approved' | 'failed' }

/** Why what was asked, or decided, does not hold any more. */
export interface Why extends Pick<Revised, 'why' | 'reason'> {
  /** The person who caused the revision, if any. */
  by?: Caller
}

/**
 * Makes a new revision of an action, with its own digest and without votes, and keeps the previous one. If policy now denies the call, the
 * action is declined at once. Returns undefined when the action is no longer as it was read.
 * The caller finishes the session.
 */
export function* revise(
  context: SessionContext,
  seen: Revisable,
  prepared: PreparedAction,
  { why, reason, by }: Why,
): Tx<ActionRow | undefined> {
  const { nowMs } = context
  const row = yield* currentOf(seen)
  if (!row) return undefined
  const { tool: _, ...columns } = columnsOf(prepared)
  const times = timesOf(row, prepared, nowMs)
  const decision = askedOf(row, prepared, times, why === 'edit' || row.edited_by !== null)
  const patch = {
    ...columns,
    ...decision,
    ...timersOf(times, decision),
    edited_by: why === 'edit' ? (by?.principal.id ?? null) : row.edited_by,
    requesters: JSON.stringify(prepared.requesterIds),
  }
  const asked = yield* storeRevision(context, row, patch, { why, reason, ...(by && { by }) })
  if (!asked) return undefined
  if (prepared.policy.verdict === 'deny') return yield* denyRevision(context, asked, prepared.policy.reason)
  if (row.state !== 'proposed') yield* askInSession(context, asked, reason)
  return asked
}

/**
 * The same revision as it is now: while the target was read, its deadline may have been extended, or further people asked. Undefined when
 * the action was decided or revised meanwhile.
 */
function* currentOf({ id, state, revision, epoch }: Revisable): Tx<Revisable | undefined> {
  const row = yield* actions.findAction.first({ id })
  return row?.state === state && row.revision === revision && row.epoch === epoch ? { ...row, state } : undefined
}

/** The values that a revision changes. Values that follow from any new revision are not listed. */
type Revision = Omit<PatchOf<'revise'>, 'idempotency_key' | 'revised' | 'grant_id' | 'error' | 'resolution'>

/** Stores the current revision among the earlier ones, and the new one without votes. Undefined when the action is no longer as it was read. */
export function* storeRevision(
  context: SessionContext,
  row: Revisable,
  revision: Revision,
  { why, reason, by }: Why,
): Tx<ActionRow | undefined> {
  const at = context.nowMs
  // Where nobody decided, or an approval is taken back, the time to decide goes on.
  const since = row.state === 'proposed' || why === 'undone' ? askedSince(row) : at
  const revised: stored.StoredRevised = { why, reason, by: by?.principal.id ?? null, at, since }
  const text = JSON.stringify(revised)
  const patch = { ...revision, idempotency_key: nextKey(row), revised: text, grant_id: null, error: null, resolution: null }
  const data: JsonObject = { why, reason, ...factsOf({ ...row, ...patch }) }
  return yield* transition(context, row, 'revise', {
    patch,
    cause: { kind: 'asked_again', by, data },
    *changed(moved) {
      checkpoint('revise.storing')
      yield* revisions.insertRevision.run({ ...keptOf(row), ended: text })
      const { id: _id, ...changed } = yield* viewAction(moved, { votes: [], nowMs: at })
      return changed
    },
  })
}

/**
 * Returns the policy's decision about the new revision. A call that policy would now allow still needs approval, because people were
 * already asked to decide.
 * @param isEdited True when somebody changed the arguments, now or before: the requirements are then at least those of the call before the
 * edit.
 */
function askedOf(
  row: ActionRow,
  { policy, tool, argumentsText }: PreparedAction,
  { escalate_at }: Timers,
  isEdited: boolean,
): Pick<ActionRow, 'policy' | 'requires' | 'risk'> {
  const now = riskOf(tool, policy, JSON.parse(argumentsText))
  const risk = isEdited && higherRisk(stored.riskOf(row).level, now.level) !== now.level ? row.risk : JSON.stringify(now)
  if (policy.verdict === 'allow') return { policy: row.policy, requires: row.requires, risk }
  const requires = requirementsText(isEdited ? withFloor(policy, row) : policy, escalate_at)
  return { policy: policyText(policy, tool), requires, risk }
}

/**
 * Combines the policy's requirements for an edited call with those of the call before. Escalation adds nobody that it would not have added
 * before.
 */
function withFloor(policy: PolicyResult, row: ActionRow): PolicyResult {
  const { escalation, ...before }: Requires = stored.requirementsOf(row)
  const { escalateTo, ...said } = policy
  const requires = strictestRequirements(before, policy.requires)
  const asked = escalateTo?.filter((role) => escalation?.roles.includes(role))
  return { ...said, requires, ...(asked && asked.length > 0 && { escalateTo: asked }) }
}

/**
 * While people decide, the deadline moves no later, and is never later than the rule of the revision says, unless somebody extended it. A
 * revision of a settled action gets the whole time again.
 */
function timesOf(row: Revisable, { policy }: PreparedAction, nowMs: number): Timers {
  const { remind_at, escalate_at } = row
  if (row.state === 'proposed') {
    const { escalation }: Requires = stored.requirementsOf(row)
    const expires_at = row.extended === null ? earlierOf(row.expires_at, deadlinesOf(policy, undefined, nowMs).expires_at) : row.expires_at
    // Whom an escalation added may decide about the new revision too, where the policy still names them.
    if (escalation?.isDone) return { expires_at, remind_at, escalate_at: nowMs }
    // The policy may escalate only since another version.
    const leftMs = expires_at === null ? undefined : expires_at - nowMs
    return { expires_at, remind_at, escalate_at: escalate_at ?? deadlinesOf(policy, leftMs, nowMs).escalate_at }
  }
  return deadlinesOf(policy, askedMs(row), nowMs)
}

const earlierOf = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)

/** Since when the time to decide runs. */
const askedSince = (row: ActionRow): number => stored.revisedOf(row)?.since ?? row.created_at

/** The time that people had to decide, without an extension; undefined when it was not limited. */
function askedMs(row: ActionRow): number | undefined {
  if (row.expires_at === null) return undefined
  const since = askedSince(row)
  const extension = stored.extensionOf(row)
  return (extension && extension.at >= since ? extension.from : row.expires_at) - since
}

/** The times at which something is to be done. A time that stays although nothing is done then would be due for good. */
function timersOf(times: Timers, decision: Pick<ActionRow, 'requires'>): Timers & Pick<ActionRow, 'due_at'> {
  const { escalation }: Requires = stored.requirementsOf(decision)
  const timers = { ...times, escalate_at: escalation?.isDone === false ? times.escalate_at : null }
  return { ...timers, due_at: earliestOf(timers) }
}

/** The facts about the new revision in the record, besides those of every row. */
const factsOf = (asked: ActionRow): JsonObject => ({
  arguments: stored.argumentsOf(asked),
  description: asked.description,
  destination: asked.destination,
  definition: asked.definition_hash,
  credential: asked.credential,
  precondition: asked.precondition,
  preview: stored.previewOf(asked) as JsonObject[] | null,
  policy: stored.policyOf(asked),
  requesters: [...(stored.requestersOf(asked) ?? [asked.requested_by])],
})

const keptOf = (row: ActionRow) => ({
  action_id: row.id,
  revision: row.revision,
  tool: row.tool,
  arguments: row.arguments,
  digest: row.digest,
  definition_hash: row.definition_hash,
  destination: row.destination,
  credential: row.credential,
  precondition: row.precondition,
  description: row.description,
  preview: row.preview,
  preview_error: row.preview_error,
  previewed_at: row.previewed_at,
  risk: row.risk,
  policy: row.policy,
  requires: row.requires,
  revised: row.revised,
})

function* denyRevision(context: SessionContext, asked: ActionRow, reason: string): Tx<ActionRow> {
  const denied = yield* transition(context, asked, 'decline', { patch: { due_at: null }, cause: { kind: 'declined', data: { reason } } })
  assert(denied, 'what was revised in this transaction is there to be denied')
  return denied
}

/** Asks again in the session, so that a person who comes back sees why the action waits once more. */
export function* askInSession({ session, nowMs }: SessionContext, asked: ActionRow, reason: string): Tx<void> {
  if (!session) return
  yield* session.message({
    id: newId('msg', nowMs),
    run_id: asked.run_id,
    role: 'assistant',
    kind: 'request',
    content: `I need approval again to use ${asked.tool}: ${asked.description}. ${reason} Please look at it and approve or decline this action.`,
    actionIds: [asked.id],
    inHistory: false,
  })
}
