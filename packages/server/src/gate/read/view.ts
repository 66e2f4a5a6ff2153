import {
  type Action,
  type ActionOutcome,
  type Assignment,
  type AssignTo,
  actionOutcome,
  assert,
  DEFAULT_REQUIREMENTS,
  durationMs,
  type Extension,
  isSettled,
  type Message,
  type OutcomeChecks,
  type Principal,
  type Requires,
  type Revised,
  type Session,
  type SessionPerson,
  type Vote,
} from '@countersign/core'
import { isAgentVerified } from '../../policy/index.ts'
import {
  type ActionRow,
  actions,
  type MessageRow,
  mapInTurn,
  participants,
  principals,
  type SessionRow,
  sessions,
  stored,
  type Tx,
  type VoteRow,
  votes,
} from '../../store/index.ts'
import { requesterIdsOf } from '../decide/requesters.ts'
import { countVotes, votesCountedAtEnd } from './count.ts'

/** Epoch milliseconds as the wire has them: ISO 8601 UTC with milliseconds. */
export function isoTime(ms: number): string {
  // A transaction writes its one time into a dozen places.
  if (ms !== lastTime.ms) lastTime = { ms, text: new Date(ms).toISOString() }
  return lastTime.text
}

let lastTime = { ms: 0, text: new Date(0).toISOString() }

/** Principals that were read a moment ago: a page of the inbox names the same few again and again. */
type Known = Map<string, Principal>

export function* viewPrincipal(id: string, known?: Known): Tx<Principal> {
  const seen = known?.get(id)
  if (seen) return seen
  const row = yield* principals.findPrincipal.first({ id })
  assert(row, `principal ${id} is in the table that refers to it`)
  const principal = principals.readPrincipal(row)
  known?.set(id, principal)
  return principal
}

const viewPrincipals = (ids: readonly string[], known?: Known): Tx<Principal[]> => mapInTurn(ids, (id) => viewPrincipal(id, known))

function* viewVote(row: VoteRow, counts: boolean): Tx<Vote> {
  const by = yield* viewPrincipal(row.principal_id)
  return {
    by,
    ...(row.for_id !== null && { for: yield* viewPrincipal(row.for_id) }),
    verdict: row.verdict,
    at: isoTime(row.created_at),
    ...(row.reason !== null && { reason: row.reason }),
    ...(!counts && { counts }),
  }
}

/**
 * The votes on the current revision, the earliest first. Those that do not count say so: at that time while the action waits, else when it was
 * decided.
 */
export function* viewVotes(row: ActionRow, nowMs: number): Tx<Vote[]> {
  if (row.state !== 'proposed') return yield* viewFinalVotes(row)
  const cast = yield* votes.votesWithHolders.all({ action_id: row.id, revision: row.revision })
  if (cast.length === 0) return []
  return yield* viewCast(cast, (yield* countVotes(row, stored.requirementsOf(row), cast, nowMs)).counted)
}

/** The votes on an action that does not wait any more. */
function* viewFinalVotes(row: ActionRow): Tx<Vote[]> {
  const cast = yield* votes.votesOf.all({ action_id: row.id, revision: row.revision })
  return yield* viewCast(cast, yield* votesCountedAtEnd(row, cast))
}

/**
 * Votes as they leave the server, the earliest first.
 * @param counted Those that count. Default: all of them.
 */
export const viewCast = (cast: readonly VoteRow[], counted?: ReadonlySet<VoteRow>): Tx<Vote[]> =>
  mapInTurn(cast.toSorted(byTime), (row) => viewVote(row, counted?.has(row) ?? true))

const byTime = (one: VoteRow, other: VoteRow): number =>
  one.created_at - other.created_at || (one.principal_id < other.principal_id ? -1 : 1)

export function* viewRevised({ by, at, since: _, ...why }: stored.StoredRevised): Tx<Revised> {
  return { ...why, by: by === null ? null : yield* viewPrincipal(by), at: isoTime(at) }
}

/** The automatic checks of an unknown outcome; null where it is known, or its tool cannot look. */
export function viewChecks(row: Pick<ActionRow, 'checks' | 'due_at'>): OutcomeChecks | null {
  const checks = stored.checksOf(row)
  if (checks === null) return null
  const { since, until, lastAt, lastFound } = checks
  return {
    since: isoTime(since),
    until: isoTime(until),
    ended: row.due_at === null,
    lastAt: lastAt === null ? null : isoTime(lastAt),
    lastFound,
  }
}

export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))

/** When an action was decided, when its last attempt started, and when it was settled. */
export const viewTimes = ({ decided_at, started_at, settled_at }: Pick<ActionRow, 'decided_at' | 'started_at' | 'settled_at'>) => ({
  decidedAt: isoOrNull(decided_at),
  startedAt: isoOrNull(started_at),
  settledAt: isoOrNull(settled_at),
})

/** When an approved action starts; null without a grace period and in every other state. */
export const viewStartsAt = ({ state, starts_at }: Pick<ActionRow, 'state' | 'starts_at'>): string | null =>
  state === 'approved' && starts_at !== null ? isoTime(starts_at) : null

/** True for an action that waits and that people were reminded of: see `deadlinesOf`. */
export const isOverdue = ({ state, remind_at }: Pick<ActionRow, 'state' | 'remind_at'>): boolean =>
  state === 'proposed' && remind_at === null

/** The deadline that people may still set, where policy lets them. */
function viewExtendable({ state, expires_at, extended }: ActionRow, extend: string | undefined): Pick<Action, 'extendableUntil'> {
  if (state !== 'proposed' || expires_at === null || extended !== null || extend === undefined) return {}
  return { extendableUntil: isoTime(expires_at + (durationMs(extend) ?? 0)) }
}

/** The person or the role that should decide about an action; null for nobody in particular. */
export function assigneeOf(row: Pick<ActionRow, 'assigned'>): AssignTo | null {
  const assignment = stored.assignmentOf(row)
  if (assignment === null) return null
  const { by: _, at: __, ...to } = assignment
  return to
}

export function* viewAssignment({ by, at, ...to }: stored.StoredAssignment, known?: Known): Tx<Assignment> {
  const said = { by: yield* viewPrincipal(by, known), at: isoTime(at) }
  return 'person' in to ? { person: yield* viewPrincipal(to.person, known), ...said } : { role: to.role, ...said }
}

export function* viewExtension({ by, at, from }: stored.StoredExtension, known?: Known): Tx<Extension> {
  return { by: yield* viewPrincipal(by, known), at: isoTime(at), from: isoTime(from) }
}

export interface ViewOptions {
  /** Its votes, where they were read already. */
  votes?: Vote[] | undefined
  known?: Known
  /** The time by which its votes count while it waits: see {@link viewVotes}. A delegation may have run out since the action changed last. */
  nowMs: number
}

/** Policy's decision about a revision, without the times that the server keeps beside it. */
export function viewPolicy(row: Pick<ActionRow, 'policy'>): Action['policy'] {
  const { verdict, rule, version, reason } = stored.policyOf(row)
  return { verdict, rule, version, reason }
}

/** An action as it leaves the server. */
export function* viewAction(row: ActionRow, { votes: knownVotes, known, nowMs }: ViewOptions): Tx<Action> {
  const { verdict, declineReasons, extend } = stored.policyOf(row)
  const requires: Requires = { ...DEFAULT_REQUIREMENTS, ...stored.requirementsOf(row) }
  // Only an action that needed approval has votes. Where the first vote decides, only a decided action has one.
  const mayHaveVotes = verdict === 'ask' && (row.state !== 'proposed' || requires.quorum > 1 || requires.declineQuorum > 1)
  const revised = stored.revisedOf(row)
  const extension = stored.extensionOf(row)
  const assignment = stored.assignmentOf(row)
  const action: Omit<Action, 'outcome'> = {
    id: row.id,
    sessionId: row.session_id,
    runId: row.run_id,
    messageId: row.message_id,
    toolCallId: row.tool_call_id,
    tool: row.tool,
    effect: row.effect,
    destination: row.destination,
    credential: row.credential,
    arguments: stored.sharedArgumentsOf(row),
    digest: row.digest,
    revision: row.revision,
    revised: revised && (yield* viewRevised(revised)),
    description: row.description,
    preview: stored.shownPreviewOf(row),
    previewError: row.preview_error,
    previewedAt: row.previewed_at === null ? null : isoTime(row.previewed_at),
    risk: stored.riskOf(row),
    precondition: row.precondition,
    state: row.state,
    policy: viewPolicy(row),
    requires,
    ...(declineReasons && { declineReasons }),
    votes: knownVotes ?? (mayHaveVotes ? yield* viewVotes(row, nowMs) : []),
    requestedBy: yield* viewPrincipal(row.requested_by, known),
    requesters: yield* viewPrincipals(yield* requesterIdsOf(row), known),
    agent: row.agent,
    agentVerified: isAgentVerified(row),
    agentSays: row.agent_says,
    context: stored.contextOf(row),
    callback: viewCallback(row),
    ...(row.times_asked > 1 && { timesAsked: row.times_asked }),
    executor: row.executor,
    attempt: row.attempt,
    idempotencyKey: row.idempotency_key,
    ...(row.result === null ? {} : { result: stored.resultOf(row) }),
    resultUrl: row.result_url,
    error: stored.errorOf(row),
    checks: viewChecks(row),
    resolution: stored.resolutionOf(row),
    cachedFrom: row.cached_from,
    expiresAt: row.expires_at === null ? null : isoTime(row.expires_at),
    ...viewExtendable(row, extend),
    ...(extension && { extension: yield* viewExtension(extension, known) }),
    ...(assignment && { assignment: yield* viewAssignment(assignment, known) }),
    startsAt: viewStartsAt(row),
    overdue: isOverdue(row),
    ...(row.redacted_at === null ? {} : { redactedAt: isoTime(row.redacted_at) }),
    createdAt: isoTime(row.created_at),
    ...viewTimes(row),
    updatedAt: isoTime(row.updated_at),
  }
  return { ...action, outcome: actionOutcome(action) }
}

/** The outcome of an action as {@link viewAction} has it, with no more queries than it needs. */
export function* viewOutcome(row: ActionRow, knownVotes?: Vote[]): Tx<ActionOutcome | null> {
  if (!isSettled(row.state)) return null
  const revised = stored.revisedOf(row)
  return actionOutcome({
    id: row.id,
    state: row.state,
    description: row.description,
    arguments: stored.sharedArgumentsOf(row),
    revision: row.revision,
    revised: revised && (yield* viewRevised(revised)),
    policy: stored.policyOf(row),
    votes: row.state === 'declined' && stored.wasAsked(row) ? (knownVotes ?? (yield* viewFinalVotes(row))) : [],
    error: stored.errorOf(row),
    result: stored.resultOf(row) ?? undefined,
    resolution: stored.resolutionOf(row),
    executor: row.executor,
    decidedAt: isoOrNull(row.decided_at),
    redactedAt: row.redacted_at === null ? undefined : isoTime(row.redacted_at),
  })
}

export function viewActions(rows: readonly ActionRow[], nowMs: number): Tx<Action[]> {
  const known: Known = new Map()
  return mapInTurn(rows, (row) => viewAction(row, { known, nowMs }))
}

const nameOf = ({ id, name }: SessionPerson): SessionPerson => ({ id, name })

function* viewOwner(id: string): Tx<Session['owner']> {
  const { name, personId } = yield* viewPrincipal(id)
  return { id, name, ...(personId !== undefined && { personId }) }
}

/** A message without its actions: those change, the message does not. */
export const viewMessage = (row: MessageRow, author?: SessionPerson): Message => ({
  id: row.id,
  sessionId: row.session_id,
  runId: row.run_id,
  role: row.role,
  kind: row.kind,
  content: row.content,
  ...(author && { author }),
  ...(row.queued ? { queued: true } : {}),
  ...(row.tool_calls === null ? {} : { toolCalls: JSON.parse(row.tool_calls) }),
  ...(row.tool_call_id === null ? {} : { toolCallId: row.tool_call_id }),
  ...viewLookUps(row),
  ...(row.action_ids === null ? {} : { actionIds: JSON.parse(row.action_ids) }),
  ...(row.model === null ? {} : { model: row.model }),
  createdAt: isoTime(row.created_at),
  seq: row.seq,
})

/** A remote brain's look-ups are stored beside the provider's parts, which nobody sees. */
function viewLookUps({ role, payload }: MessageRow): Pick<Message, 'lookUps' | 'lookUpsLeftOut'> {
  if (role !== 'assistant' || !payload?.includes('"lookUps"')) return {}
  const { lookUps, lookUpsLeftOut } = JSON.parse(payload)
  return { ...(lookUps && { lookUps }), ...(lookUpsLeftOut && { lookUpsLeftOut }) }
}

/** A message with its author, without its actions. */
export function* viewSaid(row: MessageRow): Tx<Message> {
  return viewMessage(row, yield* authorOf(row))
}

export function* viewMessageWithActions(row: MessageRow, nowMs: number): Tx<Message> {
  const message = yield* viewSaid(row)
  if (row.role !== 'assistant' || row.tool_calls === null) return message
  return {
    ...message,
    actions: yield* viewActions(yield* actions.actionsOfMessage.all({ session_id: row.session_id, message_id: row.id }), nowMs),
  }
}

/** The author of a message, if it has one, for people who read it. */
function* authorOf({ author_id }: Pick<MessageRow, 'author_id'>): Tx<SessionPerson | undefined> {
  if (author_id === null) return undefined
  const { id, name } = yield* viewPrincipal(author_id)
  return { id, name }
}

/** A session with the actions that wait in it. */
export function* viewSession(row: SessionRow, nowMs: number): Tx<Session> {
  const pending: Action[] = []
  for (const open of yield* actions.openActions.all({ session_id: row.id })) {
    if (open.state !== 'proposed') continue
    const action = yield* actions.findAction.first({ id: open.id })
    if (action) pending.push(yield* viewAction(action, { nowMs }))
  }
  const used = yield* sessions.tokensOf.first({ session_id: row.id })
  return {
    id: row.id,
    agent: row.agent,
    title: row.title,
    status: row.status,
    owner: yield* viewOwner(row.owner_id),
    participants: (yield* participants.participantsOf.all({ session_id: row.id })).map(nameOf),
    pendingApprovals: pending,
    unknownOutcomes: Number((yield* actions.countUnknown.first({ session_id: row.id }))?.unknown ?? 0),
    tokens: { input: Number(used?.input ?? 0), output: Number(used?.output ?? 0) },
    lastSeq: row.last_seq,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  }
}

function viewCallback(row: ActionRow): Action['callback'] {
  const url = stored.callbackOf(row)?.url
  return url === undefined ? null : { host: new URL(url).host }
}
