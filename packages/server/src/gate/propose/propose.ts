import {
  type Action,
  type ActionContext,
  type ClaimedChange,
  CountersignError,
  canonicalJson,
  durationMs,
  type Executor,
  isSettled,
  type JsonObject,
  type PolicyResult,
  type ProposedAction,
  type Tool,
} from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { EARLIER_DENIAL } from '../../policy/index.ts'
import {
  type ActionRow,
  actions,
  findAnswer,
  idempotently,
  keepRights,
  newId,
  type Outbox,
  type Tx,
  together,
  waiting,
} from '../../store/index.ts'
import { type Caller, requireStanding, requireWriter } from '../caller.ts'
import { deadlinesOf, lookAgainAt, type Times } from '../deadlines.ts'
import { announceProposed } from '../events.ts'
import type { GateDeps } from '../gate.ts'
import { allowedBy, useGrant } from '../grants/grants.ts'
import { isInForce, noteDifference, policyText, requirementsText, riskOf } from '../policy.ts'
import { viewAction } from '../read/view.ts'
import type { SessionWriter } from '../session-writer.ts'
import { agentNamed } from './agent-name.ts'
import { callbackText } from './callback.ts'
import { findEarlierDenial } from './denial-memory.ts'
import { readImpossible, recordImpossible } from './impossible.ts'
import { columnsOf, type PreparedAction, prepareAction, unseen } from './prepare.ts'
import { priorVerdicts } from './prior-verdicts.ts'
import { queueWithSameAsk, repeatAsk } from './repeat-ask.ts'
import { findReusable } from './reuse.ts'
import { limitsOf, noteRefusedAsk, queueNearLimit, requireRoomToWait, type WaitingLimits } from './waiting-limits.ts'

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
  /** The agent's own words about it. */
  agentSays?: string | undefined
  context?: ActionContext | undefined
  /** The changes that the proposer foresees. */
  claims?: readonly ClaimedChange[] | undefined
  /** Text of the column. */
  callback?: string | null
  /** How long people may take at most, whatever policy says. */
  expiresInMs?: number | undefined
  /** True when it was proposed without an idempotency key: the same call again is the same action while it waits. */
  isUnkeyed?: boolean
  /** The waiting action that may stand for this one, and the proposer of both. */
  repeats?: { found: ActionRow; by: Caller } | undefined
  limits: WaitingLimits
  /** How many actions of the requester wait; undefined where they have to be counted. */
  waitingNow?: number | undefined
  nowMs: number
}

const STATE_AFTER = { allow: 'approved', ask: 'proposed', deny: 'declined' } as const

/**
 * Stores a prepared action with its verdict and announces it. An allowed action is enqueued for execution, or has its result at once if an
 * identical read of a moment ago can be reused. Stores nothing when it throws.
 * @param writer Its session, opened by the caller; undefined for an action without one.
 * @throws CountersignError `too_many_waiting`
 */
export function* insertPrepared(
  outbox: Outbox,
  writer: SessionWriter | undefined,
  input: InsertInput,
): Tx<{ row: ActionRow; proposal: Action; folded?: true }> {
  const { prepared, placement, requestedBy, nowMs } = input
  const { tool } = prepared
  const id = newId('act', nowMs)
  const found = yield* findReusable(prepared, placement.sessionId, requestedBy, nowMs)
  const [{ policy, grantId }, waitingNow] = yield* together(answerFor(input, writer), waitingOf(input))
  const state = found ? 'succeeded' : STATE_AFTER[policy.verdict]
  if (state === 'proposed' && input.repeats) {
    const repeated = yield* repeatAsk({ outbox, nowMs, caller: input.repeats.by }, prepared, input.repeats.found)
    if (repeated) return { row: repeated, proposal: yield* viewAction(repeated, { nowMs }), folded: true }
  }
  if (state === 'proposed') requireRoomToWait({ waitingNow, session: writer }, input.limits)
  const times = timesOf(state, tool, policy, input)
  const row: ActionRow = {
    id,
    session_id: placement.sessionId,
    run_id: placement.runId,
    message_id: placement.messageId,
    tool_call_id: placement.toolCallId,
    position: placement.position,
    // A declined action keeps the digest that people declined.
    ...columnsOf(policy.verdict === 'ask' || policy.rule === EARLIER_DENIAL ? prepared : unseen(prepared)),
    revision: 1,
    revised: null,
    edited_by: null,
    target_version: null,
    risk: JSON.stringify(riskOf(tool, policy, JSON.parse(prepared.argumentsText))),
    state,
    policy: policyText(policy, tool),
    requires: requirementsText(policy, times?.escalate_at ?? null),
    requested_by: requestedBy,
    requesters: JSON.stringify(prepared.requesterIds),
    agent: prepared.agent ?? prepared.claimedAgent ?? null,
    agent_verified: prepared.agent === undefined ? 0 : 1,
    agent_says: input.agentSays || null,
    context: contextText(input),
    callback: input.callback ?? null,
    times_asked: 1,
    unkeyed: input.isUnkeyed ? 1 : 0,
    attempt: 0,
    epoch: 0,
    // The model gets the result of such an action together with the proposal.
    result_delivered: state === 'declined' || state === 'succeeded' ? 1 : 0,
    runner: null,
    due_at: times?.due_at ?? null,
    remind_at: times?.remind_at ?? null,
    escalate_at: times?.escalate_at ?? null,
    grant_id: grantId,
    resolution: null,
    cached_from: found?.id ?? null,
    reusable_until: null,
    claimed_by: null,
    idempotency_key: `${id}.1`,
    in_doubt: 0,
    first_send: 1,
    checks: null,
    result: found?.result ?? null,
    result_url: found?.result_url ?? null,
    error: null,
    expires_at: times?.expires_at ?? null,
    extended: null,
    assigned: null,
    archived_at: null,
    redacted_at: null,
    instance_epoch: null,
    released_at: null,
    starts_at: null,
    decided_at: state === 'proposed' ? null : nowMs,
    started_at: null,
    settled_at: isSettled(state) ? nowMs : null,
    created_at: nowMs,
    updated_at: nowMs,
  }
  yield* actions.insertAction.run({ ...row })
  writer?.noteAction(row)
  if (prepared.shadow) yield* noteDifference(id, prepared.policy, prepared.shadow)
  if (row.due_at !== null) lookAgainAt(outbox, row.due_at)
  if (row.state === 'approved' && row.executor === 'server') outbox.actions.add(id)
  return { row, proposal: yield* announceProposed({ outbox, session: writer, nowMs, caller: undefined }, row) }
}

function contextText({ context, claims = [] }: Pick<InsertInput, 'context' | 'claims'>): string | null {
  const said = { ...context, ...(claims.length > 0 && { preview: [...claims] }) }
  return Object.values(said).some((one) => one !== undefined) ? canonicalJson(said) : null
}

/** How many actions of the requester wait, up to the limit; 0 for a call that will not wait. */
function* waitingOf({ prepared, requestedBy, limits, waitingNow }: InsertInput): Tx<number> {
  if (waitingNow !== undefined) return waitingNow
  return prepared.policy.verdict === 'ask' ? yield* waiting.countWaitingOf(requestedBy, limits.perAgent) : 0
}

/** An action has a deadline if it waits for people, or for a client. */
function timesOf(
  state: ActionRow['state'],
  { executor }: Tool,
  policy: PolicyResult,
  { expiresInMs, nowMs }: Pick<InsertInput, 'expiresInMs' | 'nowMs'>,
): (Omit<Times, 'due_at'> & { due_at: number | null }) | undefined {
  const asked = deadlinesOf(policy, expiresInMs, nowMs)
  if (state === 'proposed') return asked
  if (state !== 'approved' || executor !== 'client') return undefined
  return { expires_at: asked.expires_at, remind_at: null, escalate_at: null, due_at: asked.expires_at }
}

/** Returns the policy's decision unless people decided about the same call before: a decline of this run applies first, then a grant. */
function* answerFor(
  { prepared, placement, requestedBy, nowMs }: InsertInput,
  writer: SessionWriter | undefined,
): Tx<{ policy: PolicyResult; grantId: string | null }> {
  const { policy, tool } = prepared
  if (policy.verdict !== 'ask') return { policy, grantId: null }
  const { sessionId: session_id, runId: run_id } = placement
  const place = { session_id, run_id, digest: prepared.digest }
  const agent = prepared.agent ?? prepared.claimedAgent ?? null
  const before = yield* priorVerdicts(place, agent, tool.name, writer?.state)
  const declined = before.declined ? yield* findEarlierDenial(place) : undefined
  if (declined) return { policy: { ...policy, ...declined }, grantId: null }
  // A grant does not cover a tool whose definition has changed.
  if (!before.granted || tool.caution !== undefined) return { policy, grantId: null }
  const grant = yield* useGrant(
    {
      session_id,
      agent,
      requested_by: requestedBy,
      requesters: JSON.stringify(prepared.requesterIds),
      edited_by: null,
      tool: tool.name,
      arguments: prepared.argumentsText,
      definition_hash: prepared.definitionHash,
      credential: tool.credential,
      requires: policy.requires,
      risk: riskOf(tool, policy, JSON.parse(prepared.argumentsText)).level,
      fits: prepared.fits,
    },
    nowMs,
  )
  return grant ? { policy: { ...policy, ...(yield* allowedBy(grant)) }, grantId: grant.id } : { policy, grantId: null }
}

export interface ProposeInput {
  tool: string
  arguments: JsonObject
  agent?: string | undefined
  description?: string | undefined
  /** Further claims of the caller about the call. */
  context?: ActionContext | undefined
  /** The changes that the caller foresees. */
  preview?: readonly ClaimedChange[] | undefined
  /** The executor that the caller expects. Another one than the tool's is refused. */
  executor?: Executor | undefined
  /** Where it is told what became of the action. */
  callback?: { url: string } | undefined
  /** ISO 8601: how long people may take. Policy may give them less. */
  expiresIn?: string | undefined
  /** The id of the call in the program that makes it. */
  toolCallId?: string | undefined
}

/**
 * Proposes an action for an agent that runs elsewhere. Policy may answer `approved` or `declined` at once.
 * The same call of the same agent or service, without an idempotency key, while the first one waits under the same version of the policy,
 * is the same action: people decide once and it runs once. A call of a person, with a callback or with its own deadline, is always a new action.
 * A repeat of an idempotency key gets its first answer, whatever became of its tool since.
 * @throws CountersignError `not_found` for an unknown tool, `invalid_arguments` (also for another executor than the tool's), `impossible`
 * when its preview refuses the call, `too_many_waiting`, `forbidden` for an agent that uses a name which is not its own, or for an address
 * that takes no callbacks.
 */
export async function propose(deps: GateDeps, input: ProposeInput, caller: Caller): Promise<ProposedAction> {
  requireWriter(caller.principal)
  const who = agentNamed(input.agent, caller.principal)
  for (;;) {
    const prepared = await prepareProposal(deps, input, who, caller).catch(async (error: unknown) => {
      const answer = await firstAnswer(deps, caller)
      if (answer) return { answer }
      await noteImpossible(deps, error, who, caller)
      throw error
    })
    if ('answer' in prepared) return prepared.answer
    const proposed = await storeProposal(deps, prepared, input, caller).catch((error: unknown) => {
      noteRefusedAsk(deps.refusals, { actor: caller.principal.id, tool: prepared.tool.name, sessionId: null }, error)
      throw error
    })
    if (proposed) return proposed
  }
}

/** The name that the caller's key proves, or that it gives itself. */
type Who = ReturnType<typeof agentNamed>

async function prepareProposal(deps: GateDeps, input: ProposeInput, who: Who, { principal }: Caller): Promise<PreparedAction> {
  await deps.refreshTool?.(input.tool)
  const tool = deps.tools.byName(input.tool)
  // Another one's tool is answered like one that does not exist.
  if (!tool || (tool.registered && tool.registered.ownerId !== principal.id))
    throw new CountersignError('not_found', `there is no tool ${input.tool}`)
  if (input.executor !== undefined && input.executor !== tool.executor)
    throw new CountersignError(
      'invalid_arguments',
      `executor: the tool ${tool.name} has the executor ${tool.executor}, which a proposal cannot change`,
    )
  const { clock, policies, previewTimeoutMs } = deps
  return prepareAction({
    ...{ tool, arguments: input.arguments, ...who, session: null, requesters: [principal] },
    ...{ policies, clock, previewTimeoutMs },
  })
}

/**
 * Returns the first answer to a request with the same idempotency key. The repeat may be refused now because the first call was carried out, or
 * because the tool is gone or takes other arguments since then. A model that hears of such a refusal corrects the call, and it runs twice.
 */
const firstAnswer = async ({ store }: GateDeps, { once }: Caller): Promise<ProposedAction | undefined> =>
  once && (await store.read(() => findAnswer<ProposedAction>(once)))

/** Records the refusal of a call that cannot be done. */
async function noteImpossible(
  { store, clock }: GateDeps,
  error: unknown,
  { agent, claimedAgent }: Who,
  { principal }: Caller,
): Promise<void> {
  const refused = readImpossible(error)
  if (!refused) return
  const call = { ...refused, agent: agent ?? claimedAgent ?? null, actor: principal.id }
  await store.transact((outbox) => recordImpossible(outbox, undefined, call, clock.nowMs()))
}

/** Undefined when another version of the policy came into force since the call was prepared. */
async function storeProposal(
  { store, clock, policies }: GateDeps,
  prepared: PreparedAction,
  input: ProposeInput,
  caller: Caller,
): Promise<ProposedAction | undefined> {
  // Only now: people's time does not run while the target is read for the preview.
  const nowMs = clock.nowMs()
  checkpoint('propose.before_store')
  const proposed = await store.transact(function* (outbox) {
    const asks = prepared.policy.verdict === 'ask'
    const isUnkeyed = caller.once === undefined
    const mayRepeat = isUnkeyed && caller.principal.kind !== 'person' && input.expiresIn === undefined && !input.callback
    const earlier = asks && mayRepeat ? yield* queueWithSameAsk(prepared, caller.principal.id) : undefined
    yield* keepRights()
    const { document } = yield* policies.inForce()
    if (!(yield* isInForce(policies, prepared.policy))) return undefined
    const limits = limitsOf(document)
    const waitingNow = asks ? yield* queueNearLimit(caller.principal.id, limits) : undefined
    return yield* idempotently(caller.once, nowMs, function* (): Tx<ProposedAction> {
      yield* requireStanding(caller, nowMs)
      const { proposal, folded } = yield* insertPrepared(outbox, undefined, {
        prepared,
        placement: { ...NOWHERE, toolCallId: input.toolCallId ?? null },
        requestedBy: caller.principal.id,
        agentSays: input.description,
        context: input.context,
        claims: input.preview,
        callback: yield* callbackText(input.callback),
        expiresInMs: input.expiresIn === undefined ? undefined : durationMs(input.expiresIn),
        isUnkeyed,
        repeats: earlier && { found: earlier, by: caller },
        limits,
        waitingNow,
        nowMs,
      })
      checkpoint('propose.storing')
      return folded ? { ...proposal, folded } : proposal
    })
  })
  checkpoint('propose.after_store')
  return proposed
}
