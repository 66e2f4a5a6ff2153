import { type AgentRequest, type AgentRequestBody, assert, CountersignError, type RequestView } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type Caller, readerOf, requireAllRoles, requireVisibleAction, requireVisibleSession, requireWriter } from '../gate/index.ts'
import {
  type AgentRequestRow,
  actions,
  agentRequests,
  idempotently,
  newId,
  type SessionRow,
  sessions,
  type Tx,
  type visibility,
} from '../store/index.ts'
import type { AgentDeps } from './agent.ts'
import { findAgent, insertSessionOnce, titleFrom } from './messages.ts'
import { requireParticipant } from './participants.ts'
import { type RequestPlace, viewRequestNow } from './request-answer.ts'
import { startRun } from './run.ts'
import { writeVisibleSession } from './session.ts'
import { dropOfFormerWriters } from './who-writes.ts'

/**
 * Takes a request that does not run by itself: its message is held, and nothing calls the model for it before {@link callRequest}.
 * @throws CountersignError `not_found`, `forbidden`.
 */
export async function createRequest(
  deps: AgentDeps,
  { message, sessionId, agent }: AgentRequestBody,
  caller: Caller,
): Promise<AgentRequest> {
  requireWriter(caller.principal)
  const place = sessionId === undefined ? { agent: findAgent(deps, agent) } : { sessionId }
  const now = deps.clock.nowMs()
  checkpoint('request.before_store')
  const request = await deps.store.transact(function* (outbox) {
    const inSession = place.sessionId ?? (yield* insertSessionOnce({ agent: place.agent, title: '', now }, caller))
    return yield* idempotently(caller.once, now, function* () {
      const writer = yield* writeVisibleSession({ outbox, caller, now }, inSession, [])
      yield* requireAllRoles(caller.principal, 'write in a session')
      yield* requireParticipant(writer.row, caller.principal)
      const id = newId('run', now)
      if (writer.row.title === '') writer.row.title = titleFrom(message)
      const held = yield* writer.message({
        id: newId('msg', now),
        run_id: id,
        role: 'user',
        content: message,
        queued: 2,
        author: { id: caller.principal.id, name: caller.principal.name },
        inHistory: false,
      })
      yield* agentRequests.insertRequest.run({ id, session_id: inSession, held_seq: held.seq })
      checkpoint('request.storing')
      yield* writer.finish()
      return { requestId: id, sessionId: inSession, status: 'held' as const }
    })
  })
  checkpoint('request.after_store')
  return request
}

/**
 * Calls for a held request: its run begins now, or at its turn. From then on it runs by itself, even if the caller goes away. A second call
 * changes nothing. The request of somebody who may not write in the session any more ends without a run.
 * @throws CountersignError `not_found`, `forbidden`.
 */
export async function callRequest(deps: AgentDeps, requestId: string, caller: Caller): Promise<RequestPlace> {
  const now = deps.clock.nowMs()
  checkpoint('request.before_call')
  const place = await deps.store.transact(function* (outbox) {
    const { request, session } = yield* findVisibleRequest(requestId, caller)
    requireWriter(caller.principal)
    // Asked once the session is held: whoever is uninvited meanwhile begins nothing.
    const writer = yield* writeVisibleSession({ outbox, caller, now }, session.id, [])
    yield* requireParticipant(writer.row, caller.principal)
    if (yield* writer.enqueueHeld(request.held_seq)) {
      // Its author may be another than the caller, and may not write here any more.
      yield* dropOfFormerWriters(writer, now)
      const { open, run, queued } = writer.state
      if (queued.length > 0 && open.length === 0 && run?.state !== 'open') yield* startRun(outbox, writer, now)
      checkpoint('request.calling')
      yield* writer.finish()
    }
    return { requestId, sessionId: session.id }
  })
  checkpoint('request.after_call')
  return place
}

/** Where a request stands; reading runs nothing. @throws CountersignError `not_found`. */
export function* readRequest(requestId: string, caller: Pick<Caller, 'principal'>, nowMs: number): Tx<RequestView> {
  const { request, session } = yield* findVisibleRequest(requestId, caller)
  return yield* viewRequestNow({ requestId, sessionId: session.id }, request.held_seq, nowMs)
}

function* findVisibleRequest(
  requestId: string,
  { principal }: Pick<Caller, 'principal'>,
): Tx<{ request: AgentRequestRow; session: SessionRow }> {
  const request = yield* agentRequests.findRequest.first({ id: requestId })
  const found = request && (yield* sessions.findSession.first({ id: request.session_id }))
  const session = yield* requireVisibleSession(principal, found, `request ${requestId}`)
  assert(request, 'its session was found by it')
  return { request, session }
}

/**
 * The action that a program means by an action id, or by the id of a tool call where that is enough to know it, and the request it
 * belongs to.
 * @throws CountersignError `not_found`; `illegal_transition` when several actions have this id, or it belongs to no request.
 */
export function* findToolCall(id: string, { principal }: Caller, nowMs: number): Tx<RequestPlace & { actionId: string }> {
  const named = yield* actions.findAction.first({ id })
  const [first, other] = named ? [named] : yield* actionsCalled(id, readerOf(principal))
  const row = yield* requireVisibleAction(principal, first, `action or tool call ${id}`, nowMs)
  if (other) throw new CountersignError('illegal_transition', `several actions have the tool call id ${id}: name the one by its action id`)
  if (row.session_id === null || row.run_id === null) {
    throw new CountersignError(
      'illegal_transition',
      `action ${row.id} belongs to no request: decide it with POST /api/actions/${row.id}/decision`,
    )
  }
  // The answer covers the whole session, which is more than a person with a delegated vote may see.
  const session = yield* sessions.findSession.first({ id: row.session_id })
  yield* requireVisibleSession(principal, session, `action or tool call ${id}`)
  return { actionId: row.id, requestId: row.run_id, sessionId: row.session_id }
}

/** Returns the waiting action of a tool call id; if none waits, the settled one, so that a repeated answer finds its action. */
function* actionsCalled(toolCallId: string, reader: visibility.Reader | undefined) {
  const waiting = yield* agentRequests.actionsOfToolCall({ toolCallId, waiting: true, reader })
  return waiting.length > 0 ? waiting : yield* agentRequests.actionsOfToolCall({ toolCallId, waiting: false, reader })
}
