import {
  assert,
  CountersignError,
  durationMs,
  type Grant,
  type Principal,
  type Remember,
  type Requirements,
  type RiskLevel,
} from '@countersign/core'
import { appendToScope } from '../../audit/index.ts'
import { readCondition } from '../../policy/index.ts'
import { type ActionRow, type GrantRow, grants, newId, principals, stored, type Tx, together } from '../../store/index.ts'
import { type Caller, requireAllRoles, requireOwnSignIn } from '../caller.ts'
import type { CallerContext, SessionContext } from '../context.ts'
import { authorsIn, requesterIdsOf } from '../decide/requesters.ts'
import { excludedBy, findRight, holdsNow, requirementsOf } from '../decide/rights.ts'
import type { GateDeps } from '../gate.ts'
import { isoTime, viewPrincipal } from '../read/view.ts'
import type { SessionWriter } from '../session-writer.ts'

/** "Approve all" ends with its session, and after this at the latest. */
const WHOLE_SESSION_MS = 30 * 86_400_000

/** A call that a grant may answer in place of people. */
export interface GrantableCall
  extends Pick<
    ActionRow,
    'session_id' | 'agent' | 'requested_by' | 'requesters' | 'edited_by' | 'tool' | 'arguments' | 'definition_hash' | 'credential'
  > {
  requires: Requirements
  risk: RiskLevel
  /** Says whether a condition is true of the call; one that gives no answer is not. */
  fits(condition: string): boolean
}

/** Returns why no grant can be made or used for a call with this risk and these requirements; undefined when one can. */
export function whyNeverGranted({ requires, risk }: Pick<GrantableCall, 'requires' | 'risk'>): string | undefined {
  if (risk === 'high' || risk === 'critical') return `its risk is ${risk}: it needs approval each time`
  if (requires.quorum > 1) return `it takes ${requires.quorum} approvals, so nobody can allow it alone`
  return undefined
}

/**
 * Returns the grant that approves a call which would need approval, and uses it once; undefined when there is none. A grant never does more
 * than its maker could do alone now: they still hold the role, no second person is needed, and they did not ask for the call.
 */
export function* useGrant(call: GrantableCall, nowMs: number): Tx<GrantRow | undefined> {
  if (whyNeverGranted(call) !== undefined) return undefined
  for (const grant of yield* findCandidates(call, nowMs)) {
    if (!(yield* holdsFor(grant, call))) continue
    // Others may use it at the same time: the update says who had the last use.
    if (yield* grants.countUse.change({ id: grant.id, now: nowMs })) return grant
  }
  return undefined
}

function* findCandidates({ session_id, agent, requested_by, ...row }: GrantableCall, nowMs: number): Tx<GrantRow[]> {
  const call = { tool: row.tool, arguments: row.arguments, now: nowMs }
  // A grant for an outside agent is found by its key. The name it calls itself makes a grant narrower, and never finds one.
  if (session_id === null) return yield* grants.grantsOfKey.all({ ...call, requested_by })
  const ofSession = grants.grantsOfSession.all({ ...call, session_id })
  if (agent === null) return yield* ofSession
  return (yield* together(ofSession, grants.grantsOfAgent.all({ ...call, agent }))).flat()
}

function* holdsFor(grant: GrantRow, call: GrantableCall): Tx<boolean> {
  if (grant.agent !== call.agent || !(yield* coversAllWhoAsked(grant, call))) return false
  if (!isForTool(grant, call)) return false
  if (grant.arguments !== null && grant.arguments !== call.arguments) return false
  if (grant.condition !== null && !call.fits(grant.condition)) return false
  if (!(yield* holdsNow(grant.made_by, call.requires))) return false
  return !(yield* excludedBy(call.requires, call)).has(grant.made_by)
}

/** Returns the text by which a grant recognises a tool: a tool with another definition, or with other rights, is another one. */
export const grantedTool = ({ definition_hash, credential }: Pick<ActionRow, 'definition_hash' | 'credential'>): string =>
  `${definition_hash} ${credential}`

function isForTool(grant: GrantRow, call: GrantableCall): boolean {
  const remembered = grants.definitionsOf(grant)[call.tool]
  // Earlier versions remembered the definition alone.
  return remembered === grantedTool(call) || remembered === call.definition_hash
}

/**
 * A grant of a session covers the requesters that its maker knew; requests of people invited later need approval. A grant for an agent
 * covers everybody who uses that agent.
 */
function* coversAllWhoAsked(grant: GrantRow, call: GrantableCall): Tx<boolean> {
  if (grant.scope !== 'session') return true
  const covered = grants.requestersOf(grant) ?? [call.requested_by]
  return (yield* requesterIdsOf(call)).every((id) => covered.includes(id))
}

/** Why the grant that approved an action does not carry it any more; undefined while it does. */
export function* whyNotGranted(grantId: string, call: GrantableCall, nowMs: number): Tx<string | undefined> {
  const never = whyNeverGranted(call)
  if (never !== undefined) return never
  const grant = yield* grants.findGrant.first({ id: grantId })
  if (!grant || !(yield* grants.isStanding.first({ id: grantId, now: nowMs }))) return `the grant ${grantId} was revoked or is over`
  return (yield* holdsFor(grant, call)) ? undefined : `the grant ${grantId} does not allow it any more`
}

/**
 * Records a grant.
 * @throws CountersignError `forbidden` for an embed token, and for a person who could not approve the action alone and in their own right; `illegal_transition` for
 * an action that needs approval each time; `bad_request` for a scope that the action does not have, and for a condition where the tool lets
 * none cover such a call: the grant would never be used.
 */
export function* makeGrant(
  { tools }: Pick<GateDeps, 'tools'>,
  { outbox, session, caller: { principal }, nowMs }: CallerContext<SessionContext>,
  row: ActionRow,
  terms: Remember,
): Tx<GrantRow> {
  yield* requireGrantor(principal)
  const own = yield* whyNoGrantor(row, principal, nowMs)
  if (own !== undefined) throw new CountersignError('forbidden', `${principal.name} may not allow later calls like ${row.id}: ${own}`)
  const never = whyNeverGranted({ requires: requirementsOf(row), risk: stored.riskOf(row).level })
  if (never !== undefined) throw new CountersignError('illegal_transition', `nothing can be allowed beyond ${row.id}: ${never}`)
  if (terms.scope === 'session' && row.session_id === null) {
    throw new CountersignError('bad_request', `action ${row.id} belongs to no session: allow it for the agent`)
  }
  const rules = tools.byName(row.tool)?.grantRules
  const bound = terms.when === undefined ? undefined : rules?.binds?.(stored.argumentsOf(row))
  const condition = bound === undefined ? terms.when : `${bound} && (${terms.when})`
  for (const text of [terms.when, condition]) {
    const problem = text === undefined ? undefined : problemOf(text)
    if (problem !== undefined) throw new CountersignError('bad_request', `when: ${problem}`)
  }
  if (terms.when !== undefined && rules?.mayCover(stored.argumentsOf(row)) === false) {
    const advice = 'send "exact": true for exactly these arguments, or approve each call'
    throw new CountersignError('bad_request', `when: no condition covers a call like ${row.id}; ${advice}`)
  }
  const forSession = terms.scope === 'session'
  const grant = yield* insert(
    {
      scope: terms.scope,
      session_id: forSession ? row.session_id : null,
      agent: row.agent,
      requested_by: row.session_id === null ? row.requested_by : null,
      requesters: forSession ? JSON.stringify(yield* requesterIdsOf(row)) : null,
      tool: row.tool,
      definitions: JSON.stringify({ [row.tool]: grantedTool(row) }),
      arguments: terms.exact ? row.arguments : null,
      condition: condition ?? null,
      uses_left: terms.uses ?? null,
      made_by: principal.id,
      made_from: row.id,
      expires_at: nowMs + msOf(terms.expiresIn),
    },
    nowMs,
  )
  const entry = { kind: 'grant_made', actor: principal.id, actionId: row.id, data: factsOf(grant) } as const
  yield* session ? session.audit(entry) : appendToScope(outbox, row.id, entry, nowMs)
  return grant
}

/** @throws CountersignError `forbidden` for an embed token, and for a key that leaves out a role of its person. */
export function* requireGrantor(principal: Principal): Tx<void> {
  requireOwnSignIn(principal, 'allow later calls')
  yield* requireAllRoles(principal, 'allow later calls')
}

/** Returns why somebody could not approve an action alone and in their own right; undefined when they could. */
export function* whyNoGrantor(row: ActionRow, principal: Principal, nowMs: number): Tx<string | undefined> {
  const right = yield* findRight(row, principal, nowMs)
  if (right.refusal !== undefined) return right.refusal
  return right.forId === null ? undefined : 'who votes in the place of another allows nothing beyond that vote'
}

/** Returns the facts about a grant for the record. */
const factsOf = ({ id, scope, agent, requesters, tool, arguments: exact, condition, uses_left, expires_at }: GrantRow) => ({
  grant: id,
  scope,
  agent,
  ...(requesters !== null && { requesters: grants.requestersOf({ requesters }) }),
  tool,
  exact,
  when: condition,
  uses: uses_left,
  expiresAt: isoTime(expires_at),
})

function problemOf(condition: string): string | undefined {
  const read = readCondition(condition)
  return 'problem' in read ? read.problem : undefined
}

function msOf(duration: string): number {
  const ms = durationMs(duration)
  assert(ms !== undefined, 'the duration was checked')
  return ms
}

/**
 * Records "approve all": every further call in a session, of the tools that its agent has now. Undefined when its maker has said so already.
 * @param definitions The tools by name: see {@link grantedTool}.
 */
export function* grantWholeSession(
  writer: SessionWriter,
  definitions: Record<string, string>,
  { principal }: Caller,
  nowMs: number,
): Tx<GrantRow | undefined> {
  requireOwnSignIn(principal, 'approve all')
  yield* requireAllRoles(principal, 'approve all')
  const { id: sessionId, agent } = writer.row
  const said = JSON.stringify(definitions)
  const requesters = JSON.stringify(yield* authorsIn(writer.row))
  const before = yield* grants.wholeSessionGrants.all({ session_id: sessionId, now: nowMs })
  const isSaid = (one: GrantRow) => one.made_by === principal.id && one.definitions === said && one.requesters === requesters
  if (before.some(isSaid)) return undefined
  const grant = yield* insert(
    {
      scope: 'session',
      session_id: sessionId,
      agent,
      requested_by: null,
      requesters,
      tool: null,
      definitions: said,
      arguments: null,
      condition: null,
      uses_left: null,
      made_by: principal.id,
      made_from: null,
      expires_at: nowMs + WHOLE_SESSION_MS,
    },
    nowMs,
  )
  yield* writer.audit({ kind: 'approve_all', actor: principal.id, data: factsOf(grant) })
  return grant
}

/** Ends "approve all" with its session. @returns The number of grants that ended. */
export function* endWholeSession(writer: SessionWriter, { principal }: Caller, nowMs: number): Tx<number> {
  const standing = yield* grants.wholeSessionGrants.all({ session_id: writer.row.id, now: nowMs })
  for (const { id, tool } of standing) {
    yield* grants.revokeGrant.change({ id, revoked_by: principal.id, now: nowMs })
    yield* writer.audit({ kind: 'grant_revoked', actor: principal.id, data: { grant: id, tool } })
  }
  return standing.length
}

type NewGrant = Omit<GrantRow, 'id' | 'used' | 'last_used_at' | 'revoked_at' | 'revoked_by' | 'created_at'>

function* insert(given: NewGrant, nowMs: number): Tx<GrantRow> {
  const row: GrantRow = {
    ...given,
    id: newId('gra', nowMs),
    used: 0,
    last_used_at: null,
    revoked_at: null,
    revoked_by: null,
    created_at: nowMs,
  }
  yield* grants.insertGrant.run({ ...row })
  return row
}

/** How an action is said to have been allowed by a grant. */
export function* allowedBy(grant: GrantRow): Tx<{ verdict: 'allow'; rule: string; reason: string }> {
  const maker = yield* principals.findPrincipal.first({ id: grant.made_by })
  const name = maker?.name ?? grant.made_by
  const what = grant.tool === null ? 'approved everything further in this session' : 'allowed calls like this one'
  return { verdict: 'allow', rule: `grant ${grant.id}`, reason: `${name} ${what}` }
}

export function* viewGrant(row: GrantRow, nowMs: number): Tx<Grant> {
  const time = (ms: number | null) => (ms === null ? null : isoTime(ms))
  const isUsedUp = row.uses_left === 0
  return {
    id: row.id,
    scope: row.scope,
    sessionId: row.session_id,
    agent: row.agent,
    requestedBy: row.requested_by === null ? null : yield* viewPrincipal(row.requested_by),
    tool: row.tool,
    arguments: grants.argumentsOf(row),
    when: row.condition,
    usesLeft: row.uses_left,
    used: row.used,
    lastUsedAt: time(row.last_used_at),
    madeBy: yield* viewPrincipal(row.made_by),
    actionId: row.made_from,
    state: row.revoked_at !== null ? 'revoked' : isUsedUp ? 'used_up' : row.expires_at <= nowMs ? 'over' : 'standing',
    expiresAt: isoTime(row.expires_at),
    revokedAt: time(row.revoked_at),
    revokedBy: row.revoked_by === null ? null : yield* viewPrincipal(row.revoked_by),
    createdAt: isoTime(row.created_at),
  }
}
