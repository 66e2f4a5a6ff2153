import type { Action, Checkpoint, JsonObject, RequestAnswer, RequestStatus, RequestView } from '@countersign/core'
import { viewAction } from '../gate/index.ts'
import { type ActionRow, actions, agentRequests, type MessageRow, messages, type RunRow, sessions, type Tx } from '../store/index.ts'

export interface RequestPlace {
  /** The id of its run. */
  requestId: string
  sessionId: string
}

type OpenAction = Pick<ActionRow, 'id' | 'state' | 'executor'>

const ENDED = { done: 'completed', failed: 'failed', cancelled: 'rejected' } as const

/**
 * Returns the state of a request, or undefined while the server has work to do for it: a model call, a tool, the run before it. The state
 * stays until somebody outside acts.
 */
export function* viewRequest(place: RequestPlace, nowMs: number): Tx<RequestAnswer | undefined> {
  const { run, open, isDropped } = yield* readRequest(place)
  const status = isDropped ? 'rejected' : statusOf(run, open)
  return status && (yield* viewAs(place, status, { run, open, nowMs }))
}

/** Where a request stands, whatever it does: asking runs nothing and waits for nothing. */
export function* viewRequestNow(place: RequestPlace, heldSeq: number, nowMs: number): Tx<RequestView> {
  const { run, open, isDropped } = yield* readRequest(place)
  if (isDropped) return yield* viewAs(place, 'rejected', { run, open, nowMs })
  const isHeld = !run && (yield* agentRequests.findHeldRequest.first({ session_id: place.sessionId, seq: heldSeq })) !== undefined
  const status = isHeld ? 'held' : (statusOf(run, open) ?? 'running')
  // Actions that wait before a held request are not its own.
  return yield* viewAs(place, status, { run, open: isHeld ? [] : open, nowMs })
}

interface FoundRequest {
  run: RunRow | undefined
  /** The open actions of the session; empty once the request has ended. */
  open: readonly OpenAction[]
  /** True for a request that was taken out of the queue: its run never begins. */
  isDropped: boolean
}

function* readRequest({ requestId, sessionId }: RequestPlace): Tx<FoundRequest> {
  const run = yield* sessions.findRun.first({ session_id: sessionId, id: requestId })
  // Before a run begins, only the note that says why it never will is about it.
  const isDropped = !run && (yield* messages.lastOfRun.all({ session_id: sessionId, run_id: requestId })).length > 0
  const hasEnded = isDropped || (run && run.state !== 'open')
  return { run, open: hasEnded ? [] : yield* actions.openActions.all({ session_id: sessionId }), isDropped }
}

function* viewAs<Status extends RequestView['status']>(
  { requestId, sessionId }: RequestPlace,
  status: Status,
  { run, open, nowMs }: Pick<FoundRequest, 'run' | 'open'> & { nowMs: number },
) {
  const said = yield* messages.lastOfRun.all({ session_id: sessionId, run_id: requestId })
  const pendingApprovals: Action[] = []
  for (const { id, state } of open) {
    const row = state === 'proposed' ? yield* actions.findAction.first({ id }) : undefined
    if (row) pendingApprovals.push(yield* viewAction(row, { nowMs }))
  }
  const message = wordsOf(status, said)
  return {
    requestId,
    sessionId,
    status,
    checkpoint: { iterationCount: run?.steps ?? 0, lastToolCall: lastToolCall(said, pendingApprovals), status },
    pendingApprovals,
    ...(message !== undefined && { message }),
  }
}

/** A request whose run has not begun stands where the session does: it waits behind what waits there. */
function statusOf(run: RunRow | undefined, open: readonly OpenAction[]): RequestStatus | undefined {
  if (run && run.state !== 'open') return ENDED[run.state]
  const isOurTurn = open.length === 0 || open.some(({ state, executor }) => state !== 'proposed' && executor === 'server')
  if (isOurTurn) return undefined
  return open.some(({ state }) => state === 'proposed') ? 'awaiting_approval' : 'awaiting_client'
}

/** The agent's words about what it did are not why it ended, and a request for approval that was answered is neither. */
function wordsOf(status: RequestView['status'], said: readonly MessageRow[]): string | undefined {
  const kinds = KINDS[status] ?? ['text']
  return said.find(({ kind, content }) => content !== '' && kinds.includes(kind))?.content
}

/** The kinds of message whose text answers a request of that status. Default: the agent's own text. */
const KINDS: Partial<Record<RequestView['status'], readonly MessageRow['kind'][]>> = {
  awaiting_approval: ['request', 'text'],
  failed: ['note'],
  rejected: ['note'],
}

/** The last call that waits for approval, whose id `approve-tool` takes: others of its step may have run or been refused. */
function lastToolCall(said: readonly MessageRow[], pending: readonly Action[]): Checkpoint['lastToolCall'] {
  const text = said.find(({ tool_calls }) => tool_calls !== null)?.tool_calls
  const calls: { id: string; name: string; arguments: JsonObject }[] = text ? JSON.parse(text) : []
  const last = calls.findLast(({ id }) => pending.some(({ toolCallId }) => toolCallId === id)) ?? calls.at(-1)
  return last ? { id: last.id, name: last.name, input: last.arguments } : null
}
