import type { Action, AuditKind, EventDataOf, JsonObject, NewEvent } from '@countersign/core'
import { type AuditEntry, append, appendToScope, CHAIN_START, SYSTEM, sha256 } from '../audit/index.ts'
import { type ActionRow, events, messages, newId, noteHappening, type Outbox, principals, stored, type Tx } from '../store/index.ts'
import type { Caller } from './caller.ts'
import type { SessionContext } from './context.ts'
import { outcomeOf } from './execute/tool-result.ts'
import { isoTime, viewAction, viewOutcome, viewStartsAt, viewTimes } from './read/view.ts'
import type { OtherEvent, TransitionEvent } from './session-writer.ts'
import { tellOfMove, tellOfProposal } from './tell-webhooks.ts'

/** Tells of something about an action that is no transition of it. */
export function* emitEvent({ outbox, session, nowMs }: SessionContext, event: OtherEvent): Tx<void> {
  if (session) session.event(event)
  else yield* store(outbox, event, nowMs)
}

function* store(outbox: Outbox, event: NewEvent, nowMs: number): Tx<void> {
  outbox.events.push(...(yield* events.insertEvents({ sessionId: null, events: [{ seq: null, event }], nowMs })))
}

/** The cause of a transition, for the record. */
export interface Cause {
  kind: AuditKind
  /**
   * The caller who caused it; undefined for the server itself. It is never the caller by default: an action that expires during a request
   * was not expired by the caller.
   */
  by?: Caller | undefined
  /** How long what ends with it took, for the metrics. */
  tookMs?: number
  /** More facts about it, besides those that every row has about its action. */
  data?: JsonObject
}

/** Tells everybody that there is a new action, and writes it down in the record, in its session's part or in one of its own. */
export function* announceProposed({ outbox, session, nowMs }: SessionContext, row: ActionRow): Tx<Action> {
  const proposal = yield* viewAction(row, { nowMs })
  const { policy } = proposal
  // Claims of the caller.
  const unverified = [...(proposal.agent !== null && !proposal.agentVerified ? ['agent'] : []), ...(proposal.context ? ['context'] : [])]
  // In the order of canonical JSON: this is the longest row of an action.
  const data = {
    agent: proposal.agent,
    arguments: proposal.arguments,
    cachedFrom: proposal.cachedFrom,
    ...(proposal.context !== null && { context: proposal.context }),
    credential: proposal.credential,
    definition: row.definition_hash,
    description: proposal.description,
    destination: proposal.destination,
    digest: row.digest,
    effect: proposal.effect,
    executor: proposal.executor,
    expiresAt: proposal.expiresAt,
    policy: { rule: policy.rule, verdict: policy.verdict, version: policy.version },
    precondition: proposal.precondition,
    preview: proposal.preview,
    ...(row.requesters !== null && { requesters: stored.requestersOf(row) }),
    ...(row.result !== null && { result: hashOf(row.result) }),
    revision: row.revision,
    state: row.state,
    tool: proposal.tool,
    ...(unverified.length > 0 && { unverified }),
  } as JsonObject
  const entry = { kind: 'proposed', actor: row.requested_by, actionId: row.id, data } as const
  const event: TransitionEvent = { type: 'action_proposed', data: { proposal } }
  noteHappening(outbox, { what: 'proposed', verdict: policy.verdict, state: row.state })
  if (session) yield* session.transition(event, entry)
  else {
    yield* append(outbox, { scope: row.id, ...CHAIN_START }, entry, nowMs)
    yield* store(outbox, event, nowMs)
  }
  yield* tellOfProposal(outbox, row, nowMs)
  return proposal
}

/** Tells everybody that an action moved, and writes down in the record what made it. */
export function* emitUpdate(
  context: SessionContext,
  row: ActionRow,
  changed: Partial<EventDataOf<'action_update'>>,
  { kind, by, data, tookMs }: Cause,
): Tx<void> {
  const { outbox, session, nowMs } = context
  const outcome = yield* viewOutcome(row, changed.votes)
  const event: TransitionEvent = {
    type: 'action_update',
    data: {
      proposalId: row.id,
      state: row.state,
      revision: row.revision,
      ...viewTimes(row),
      updatedAt: isoTime(row.updated_at),
      outcome,
      ...(row.starts_at !== null && { startsAt: viewStartsAt(row) }),
      ...changed,
    },
  }
  const entry = entryOf(row, { kind, by, data })
  noteHappening(outbox, {
    what: 'moved',
    kind,
    state: row.state,
    executor: row.executor,
    isByPerson: by?.principal.kind === 'person',
    tookMs,
  })
  if (session) yield* session.transition(event, entry)
  else {
    yield* appendToScope(outbox, row.id, entry, nowMs)
    yield* store(outbox, event, nowMs)
  }
  yield* tellOfMove(outbox, row, { kind, by, data }, nowMs)
}

/** Writes down what happened to an action that stays as everybody knows it. */
export function* recordCause(context: SessionContext, row: ActionRow, cause: Cause): Tx<void> {
  const entry = entryOf(row, cause)
  if (context.session) yield* context.session.audit(entry)
  else yield* appendToScope(context.outbox, row.id, entry, context.nowMs)
}

const entryOf = (row: ActionRow, { kind, by, data }: Cause): AuditEntry => ({
  kind,
  actor: by?.principal.id ?? SYSTEM,
  actionId: row.id,
  data: { ...factsOf(row), ...(by?.signIn !== undefined && { signIn: by.signIn }), ...data },
})

const hashOf = (result: string): string => `sha256:${sha256(result)}`

/**
 * The facts about an action that every row of the record has: its current state, and its last attempt. A result is recorded by its hash.
 */
function factsOf(row: ActionRow): JsonObject {
  const { state, revision, digest, attempt, epoch, idempotency_key, runner, result } = row
  const error = stored.errorOf(row)
  // In the order of canonical JSON, as far as that goes: then there is nothing to sort.
  return {
    ...(attempt > 0 && { attempt }),
    digest,
    ...(attempt > 0 && { epoch }),
    ...(error !== null && { error: { ...error } }),
    ...(attempt > 0 && { key: idempotency_key }),
    ...(result !== null && { result: hashOf(result) }),
    revision,
    ...(attempt > 0 && { runner }),
    state,
  }
}

/**
 * Puts the result of a settled action into its session, for the model. `reason` is the decider's. If the model already received a result,
 * because the action failed before and went to people again, it gets a note.
 */
export function* writeToolResult(context: SessionContext, row: ActionRow, reason?: string): Tx<void> {
  const { session, nowMs } = context
  if (!session) return
  const { session_id, tool_call_id } = row
  // Nothing settles twice within a first attempt at the first revision.
  const mayBeTold = row.attempt > 1 || (row.attempt === 1 && row.revision > 1)
  const isTold =
    mayBeTold && session_id !== null && (yield* messages.findToolResult.first({ session_id, tool_call_id: tool_call_id ?? row.id }))
  if (isTold)
    return yield* noteResult(context, row, `was sent back for approval and ${row.state}${reason === undefined ? '' : `: ${reason}`}`)
  const editor = row.edited_by === null ? undefined : yield* principals.findPrincipal.first({ id: row.edited_by })
  yield* session.toolResult({
    messageId: newId('msg', nowMs),
    runId: row.run_id,
    toolCall: { id: row.tool_call_id ?? row.id, name: row.tool },
    outcome: outcomeOf(row, reason, editor?.name),
    actionId: row.id,
  })
}

/**
 * Tells a model that was given a result what came of the action since. It waits in the queue like a person's message: a history is never
 * rewritten (signed reasoning is bound to it).
 */
export function* noteResult({ session, nowMs }: SessionContext, row: ActionRow, sentence: string): Tx<void> {
  if (!session) return
  yield* session.message({
    id: newId('msg', nowMs),
    role: 'system',
    kind: 'note',
    content: `The action "${row.description}" (${row.tool}) ${sentence}`,
    queued: 1,
    inHistory: false,
  })
}
