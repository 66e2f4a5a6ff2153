import { type Action, CountersignError, durationMs, type JsonObject, type PolicyResult } from '@countersign/core'
import { reach } from '../points.ts'
import { type ActionRow, actions, doOnce, newId, type Outbox, type Tx } from '../store/index.ts'
import { type Caller, requireWriter } from './caller.ts'
import { deadlinesOf, lookAgainAt } from './deadlines.ts'
import { announceProposed } from './events.ts'
import type { GateParts } from './gate.ts'
import { isInForce, noteDifference, policyText, riskOf } from './policy.ts'
import { columnsOf, type PreparedAction, prepareAction, unseen } from './prepare.ts'
import { findReusable } from './reuse.ts'
import type { SessionWriter } from './session-writer.ts'

/** Where an action belongs; all null for one that an outside agent proposes. */
export interface Placement {
  sessionId: string | null
  runId: string | null
  messageId: string | null
  toolCallId: string | null
  position: number
}

const NOWHERE: Placement = { sessionId: null, runId: null, messageId: null, toolCallId: null, position: 0 }

export interface InsertInput {
  prepared: PreparedAction
  placement: Placement
  /** Id of the principal. */
  requestedBy: string
  agent: string | undefined
  /** The agent's own words about it. */
  agentSays?: string | undefined
  /** The person who approved everything further in this session, if one did. */
  approvedAllBy: string | null
  /** How long people may take at most, whatever policy says. */
  expiresInMs?: number | undefined
  nowMs: number
}

const STATE_AFTER = { allow: 'approved', ask: 'proposed', deny: 'declined' } as const

/**
 * Stores a prepared action with its verdict; an allowed one is put up for execution, or has its result at once where an earlier read had it
 * a short while ago, and tells of it.
 * @param writer Its session, opened before; undefined for an action without one.
 */
export function* insertPrepared(
  outbox: Outbox,
  writer: SessionWriter | undefined,
  input: InsertInput,
): Tx<{ row: ActionRow; proposal: Action }> {
  const { prepared, placement, requestedBy, nowMs } = input
  const { tool } = prepared
  const id = newId('act', nowMs, placement.position)
  const found = yield* findReusable(prepared, placement.sessionId, requestedBy, nowMs)
  const policy = input.approvedAllBy !== null && prepared.policy.verdict === 'ask' ? approvedAll(prepared.policy) : prepared.policy
  const state = found ? 'succeeded' : STATE_AFTER[policy.verdict]
  const times = state === 'proposed' ? deadlinesOf(policy, input.expiresInMs, nowMs) : undefined
  const row: ActionRow = {
    id,
    session_id: placement.sessionId,
    run_id: placement.runId,
    message_id: placement.messageId,
    tool_call_id: placement.toolCallId,
    position: placement.position,
    ...columnsOf(policy.verdict === 'ask' ? prepared : unseen(prepared)),
    revision: 1,
    revised: null,
    edited_by: null,
    target_version: null,
    risk: JSON.stringify(riskOf(tool.effect, policy)),
    state,
    policy: policyText(policy),
    requires: JSON.stringify(policy.requires),
    requested_by: requestedBy,
    agent: input.agent ?? null,
    agent_says: input.agentSays || null,
    attempt: 0,
    epoch: 0,
    // Its result is known at once, and told with it.
    told: state === 'declined' || state === 'succeeded' ? 1 : 0,
    runner: null,
    due_at: times?.due_at ?? null,
    resolution: null,
    cached_from: found?.id ?? null,
    reusable_until: null,
    claimed_by: null,
    idempotency_key: `${id}.1`,
    result: found?.result ?? null,
    result_url: found?.result_url ?? null,
    error: null,
    expires_at: times?.expires_at ?? null,
    archived_at: null,
    redacted_at: null,
    created_at: nowMs,
    updated_at: nowMs,
  }
  yield* actions.insertAction.run({ ...row })
  if (prepared.shadow) yield* noteDifference(id, prepared.policy, prepared.shadow)
  if (times) lookAgainAt(outbox, times.due_at)
  if (row.state === 'approved' && row.executor === 'server') outbox.actions.add(id)
  return { row, proposal: yield* announceProposed(outbox, writer, row, nowMs) }
}

const approvedAll = (policy: PolicyResult): PolicyResult => ({
  ...policy,
  verdict: 'allow',
  rule: 'approve all',
  reason: 'A person approved everything further in this session',
})

export interface ProposeInput {
  tool: string
  arguments: JsonObject
  agent?: string | undefined
  description?: string | undefined
  /** ISO 8601: how long people may take. Policy may give them less. */
  expiresIn?: string | undefined
}

/**
 * Proposes an action for an agent that runs elsewhere. Policy may answer `approved` or `declined` at once.
 * @throws CountersignError `not_found` for an unknown tool, `invalid_arguments`.
 */
export async function propose(parts: GateParts, input: ProposeInput, caller: Caller): Promise<Action> {
  requireWriter(caller.principal)
  const tool = parts.tools.byName(input.tool)
  if (!tool) throw new CountersignError('not_found', `there is no tool ${input.tool}`)
  const { clock, policies } = parts
  const call = { tool, arguments: input.arguments, agent: input.agent, session: null, requester: caller.principal }
  for (;;) {
    const prepared = await prepareAction({ ...call, policies, clock })
    const proposed = await storeProposal(parts, prepared, input, caller)
    if (proposed) return proposed
  }
}

/** Undefined when another version of the policy came into force since the call was prepared. */
async function storeProposal(
  { store, clock, policies }: GateParts,
  prepared: PreparedAction,
  input: ProposeInput,
  caller: Caller,
): Promise<Action | undefined> {
  // Only now: people's time does not run while the target is read for the preview.
  const nowMs = clock.nowMs()
  reach('propose.before_store')
  const proposed = await store.transact(function* (outbox) {
    if (!(yield* isInForce(policies, prepared.policy))) return undefined
    return yield* doOnce(caller.once, nowMs, function* () {
      const { proposal } = yield* insertPrepared(outbox, undefined, {
        prepared,
        placement: NOWHERE,
        requestedBy: caller.principal.id,
        agent: input.agent,
        agentSays: input.description,
        approvedAllBy: null,
        expiresInMs: input.expiresIn === undefined ? undefined : durationMs(input.expiresIn),
        nowMs,
      })
      reach('propose.storing')
      return proposal
    })
  })
  reach('propose.after_store')
  return proposed
}
