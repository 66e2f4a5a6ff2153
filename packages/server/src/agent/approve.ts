import { CountersignError, type Session } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import {
  alreadyDecided,
  type Caller,
  type CallerContext,
  decideInSession,
  definitionHashOf,
  EXPIRED,
  findRight,
  grantedTool,
  grantWholeSession,
  type RunContext,
  type SessionWriter,
  STOPPED,
  stopRun,
  transactOnce,
  viewAction,
} from '../gate/index.ts'
import { type ActionRow, actions, type Tx } from '../store/index.ts'
import type { AgentDeps } from './agent.ts'
import { findVisibleSession, sessionNow, writeOpenSession } from './session.ts'
import { whyNotUnnamed } from './unnamed.ts'

export interface SessionVerdict {
  verdict: 'approve' | 'reject' | 'approve_all'
  actionId?: string | undefined
  reason?: string | undefined
  revision?: number | undefined
  digest?: string | undefined
}

/** Of several actions those that the caller may vote on. */
export function* votableOf(actionIds: readonly string[], { principal }: Caller, now: number): Tx<string[]> {
  const votable: string[] = []
  for (const id of actionIds) {
    const row = yield* actions.findAction.first({ id })
    if (row && (yield* findRight(row, principal, now)).refusal === undefined) votable.push(id)
  }
  return votable
}

/**
 * Votes on the named actions; with `all`, on those that the caller may decide, and makes a grant for the session's later actions. An action
 * whose deadline has passed is answered as expired. The caller finishes the writer.
 */
export function* decideAll(
  deps: AgentDeps,
  context: CallerContext<RunContext>,
  actionIds: readonly string[],
  { all, ...body }: { verdict: 'approve' | 'decline'; all: boolean } & Pick<SessionVerdict, 'reason' | 'revision' | 'digest'>,
): Tx<ActionRow[]> {
  const { session: writer, caller, nowMs: now } = context
  const votable = all ? yield* votableOf(actionIds, caller, now) : actionIds
  // Without one, the first refusal says why.
  const named = votable.length > 0 ? votable : actionIds.slice(0, 1)
  const decided = yield* decideInSession(context, named, body)
  const rows = decided.map(({ row }) => row)
  const { run } = writer.state
  // An action of an earlier run that went back for approval stops nothing: its run has ended.
  const isNowIn = (state: ActionRow['state']) => decided.some(({ row, isNew }) => isNew && row.state === state && row.run_id === run?.id)
  if (all && !rows.every(isExpired)) yield* grantTheRest(deps, writer, caller, now)
  const why = isNowIn('declined') ? STOPPED : isNowIn('expired') ? EXPIRED : undefined
  if (why === undefined || run?.state !== 'open' || deps.agents.get(writer.row.agent)?.onDecline !== 'stop') return rows
  yield* stopRun(context, run.id, { reason: why, by: why === STOPPED ? caller : undefined })
  // The end of the run withdrew what had been approved beside an expired one.
  const ended: ActionRow[] = []
  for (const row of rows) ended.push((yield* actions.findAction.first({ id: row.id })) ?? row)
  return ended
}

function* grantTheRest(deps: AgentDeps, writer: SessionWriter, caller: Caller, now: number): Tx<void> {
  const tools = deps.agents.get(writer.row.agent)?.tools ?? []
  const definitions = Object.fromEntries(
    tools.map((tool) => [tool.name, grantedTool({ definition_hash: definitionHashOf(tool), credential: tool.credential })]),
  )
  yield* grantWholeSession(writer, definitions, caller, now)
}

export const isExpired = (row: ActionRow): boolean => row.state === 'expired'

/**
 * Those of the waiting actions that an approval may mean without naming them: nothing of high risk, and nothing with text that has to be
 * opened first. @throws CountersignError `illegal_transition` where none is left.
 */
function* decidableUnnamed(waiting: readonly string[], all: boolean): Tx<readonly string[]> {
  const meant: string[] = []
  for (const id of waiting) {
    const row = yield* actions.findAction.first({ id })
    if (row && whyNotUnnamed(row) === undefined) meant.push(id)
  }
  if (meant.length > 0) return meant
  const what = all ? 'each of them' : 'it'
  throw new CountersignError(
    'illegal_transition',
    `what waits has high risk, or text that must be opened first: approve ${what} by name, with actionId, revision and digest`,
    { waiting },
  )
}

/**
 * Decides what waits in a session, whether or not any process is working on it.
 * @throws CountersignError `illegal_transition` when nothing waits or it is not clear which action is meant; see also `decide`.
 */
export async function approveInSession(deps: AgentDeps, sessionId: string, input: SessionVerdict, caller: Caller): Promise<Session> {
  const { session, tooLate } = await transactOnce(deps, caller, function* ({ outbox, nowMs: now }) {
    const session = yield* findVisibleSession(sessionId, caller)
    const writer = yield* writeOpenSession({ outbox, caller, nowMs: now }, session)
    const waiting = writer.state.open.filter((action) => action.state === 'proposed').map((action) => action.id)
    const all = input.verdict === 'approve_all'
    const named = input.actionId === undefined ? waiting : [input.actionId]
    if (named.length === 0) throw new CountersignError('illegal_transition', `nothing waits for a decision in session ${sessionId}`)
    if (named.length > 1 && !all) {
      throw new CountersignError('illegal_transition', `${named.length} actions wait in session ${sessionId}: name one with actionId`, {
        waiting,
      })
    }
    const verdict = input.verdict === 'reject' ? 'decline' : 'approve'
    const meant = verdict === 'approve' && input.actionId === undefined ? yield* decidableUnnamed(named, all) : named
    const { reason, revision, digest } = input
    const decided = yield* decideAll(deps, { outbox, session: writer, nowMs: now, caller }, meant, {
      verdict,
      all,
      reason,
      ...(meant.length === 1 && { revision, digest }),
    })
    checkpoint('approve.storing')
    yield* writer.finish()
    const [first] = decided
    return {
      session: yield* sessionNow(sessionId, now),
      tooLate: first && decided.every(isExpired) ? yield* viewAction(first, { nowMs: now }) : null,
    }
  })
  if (tooLate) throw alreadyDecided(tooLate)
  return session
}
