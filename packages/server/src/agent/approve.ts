import { assert, CountersignError, type Session } from '@countersign/core'
import { type Caller, decideInSession, type SessionWriter, STOPPED, stopRun, viewSession, writeSession } from '../gate/index.ts'
import { reach } from '../points.ts'
import { type ActionRow, actions, doOnce, type Outbox, sessions, type Tx } from '../store/index.ts'
import type { AgentParts } from './agent.ts'
import { findVisibleSession } from './session.ts'

export interface SessionVerdict {
  verdict: 'approve' | 'reject' | 'approve_all'
  actionId?: string | undefined
  reason?: string | undefined
}

/** Decides the named actions; with `all`, also approves what this session still asks for. The caller finishes the writer. */
export function* decideAll(
  parts: AgentParts,
  outbox: Outbox,
  writer: SessionWriter,
  actionIds: readonly string[],
  { verdict, all, reason }: { verdict: 'approve' | 'decline'; all: boolean; reason?: string | undefined },
  caller: Caller,
  now: number,
): Tx<ActionRow[]> {
  const decided = yield* decideInSession(outbox, writer, actionIds, { verdict, reason }, caller, now)
  if (all) writer.row.approve_all_by = caller.principal.id
  const run = yield* sessions.newestRun.first({ session_id: writer.row.id })
  const isDeclined = verdict === 'decline' && decided.some(({ isNew }) => isNew)
  if (isDeclined && run?.state === 'open' && parts.agents.get(writer.row.agent)?.onDecline === 'stop') {
    yield* stopRun(outbox, writer, run.id, STOPPED, now)
  }
  return decided.map(({ row }) => row)
}

/**
 * Decides what waits in a session, whether or not any process is working on it.
 * @throws CountersignError `illegal_transition` when nothing waits or it is not clear which action is meant; see also `decide`.
 */
export async function approveInSession(parts: AgentParts, sessionId: string, input: SessionVerdict, caller: Caller): Promise<Session> {
  const now = parts.clock.nowMs()
  return parts.store.transact((outbox) =>
    doOnce(caller.once, now, function* () {
      const session = yield* findVisibleSession(sessionId, caller)
      const writer = yield* writeSession(outbox, session, now)
      const open = yield* actions.openActions.all({ session_id: sessionId })
      const waiting = open.filter((action) => action.state === 'proposed').map((action) => action.id)
      const all = input.verdict === 'approve_all'
      const named = input.actionId === undefined ? waiting : [input.actionId]
      if (named.length === 0) throw new CountersignError('illegal_transition', `nothing waits for a decision in session ${sessionId}`)
      if (named.length > 1 && !all) {
        throw new CountersignError('illegal_transition', `${named.length} actions wait in session ${sessionId}: name one with actionId`, {
          waiting,
        })
      }
      const verdict = input.verdict === 'reject' ? 'decline' : 'approve'
      yield* decideAll(parts, outbox, writer, named, { verdict, all, reason: input.reason }, caller, now)
      reach('approve.storing')
      yield* writer.finish()
      const row = yield* sessions.findSession.first({ id: sessionId })
      assert(row, 'the session is still there')
      return yield* viewSession(row)
    }),
  )
}
