import type { Checkpoint, RequestAnswer, RequestStatus } from '@countersign/core'
import { viewAction } from '../gate/index.ts'
import { type ActionRow, actions, type MessageRow, messages, type RunRow, sessions, type Tx } from '../store/index.ts'

export interface RequestPlace {
  /** The id of its run. */
  requestId: string
  sessionId: string
}

type OpenAction = Pick<ActionRow, 'id' | 'state' | 'executor'>

const ENDED = { done: 'completed', failed: 'failed', cancelled: 'rejected' } as const

/**
 * Where a request stands, or undefined while the server itself has something to do for it: a model call, a tool, the run before it.
 * What is answered stays so until somebody outside acts.
 */
export function* viewRequest({ requestId, sessionId }: RequestPlace): Tx<RequestAnswer | undefined> {
  const run = yield* sessions.findRun.first({ session_id: sessionId, id: requestId })
  const open = run && run.state !== 'open' ? [] : yield* actions.openActions.all({ session_id: sessionId })
  const status = statusOf(run, open)
  if (status === undefined) return undefined
  const said = yield* messages.lastOfRun.all({ session_id: sessionId, run_id: requestId })
  const pendingApprovals: RequestAnswer['pendingApprovals'] = []
  for (const { id, state } of open) {
    const row = state === 'proposed' ? yield* actions.findAction.first({ id }) : undefined
    if (row) pendingApprovals.push(yield* viewAction(row))
  }
  const message = wordsOf(status, said)
  return {
    requestId,
    sessionId,
    status,
    checkpoint: { iterationCount: run?.steps ?? 0, lastToolCall: lastToolCall(said), status },
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

/** The agent's words about what it did are not why it ended. */
function wordsOf(status: RequestStatus, said: readonly MessageRow[]): string | undefined {
  const ended = status === 'failed' || status === 'rejected'
  return said.find(({ kind, content }) => content !== '' && (kind === 'note') === ended)?.content
}

function lastToolCall(said: readonly MessageRow[]): Checkpoint['lastToolCall'] {
  const calls = said.find(({ tool_calls }) => tool_calls !== null)?.tool_calls
  const last = calls ? JSON.parse(calls).at(-1) : undefined
  return last ? { id: last.id, name: last.name, input: last.arguments } : null
}
