import { assert, type NewEvent, type SessionStatus, type ToolCall, type ToolOutcome } from '@countersign/core'
import { actions, type MessageRow, messages, type Outbox, type SessionRow, sessions, type Tx } from '../store/index.ts'
import { storeEvent } from './store-event.ts'
import { toolResultText } from './tool-result.ts'
import { viewMessage } from './view.ts'

type NewMessage = Pick<MessageRow, 'id' | 'role' | 'content'> &
  Partial<Pick<MessageRow, 'kind' | 'run_id' | 'queued' | 'tool_call_id' | 'action_id' | 'model' | 'payload'>> & {
    /** False for what the model never sees and for what waits in the queue. */
    inHistory: boolean
    toolCalls?: ToolCall[]
    actionIds?: string[]
  }

/** One transaction's writing to one session: everything it appends gets the next numbers of the session's log. */
export interface SessionWriter {
  readonly row: SessionRow
  event(event: NewEvent, subjectId?: string): Tx<void>
  message(message: NewMessage): Tx<MessageRow>
  /** Adds the result of a tool call: what the model is given, and what programs are told. */
  toolResult(result: ToolResult): Tx<void>
  /** Moves a queued message to the end of the history. */
  dequeue(messageId: string, runId: string): Tx<void>
  /** Writes the counters back. Call once, last, instead of `finish`, where nothing happened that a status depends on. */
  save(): Tx<void>
  /** Works the session's status out of its rows and writes counters and status back. Call once, last. */
  finish(): Tx<void>
}

export interface ToolResult {
  messageId: string
  runId: string | null
  toolCall: { id: string; name: string }
  outcome: ToolOutcome
  /** Absent for a call that never became an action (unknown tool, arguments that do not fit). */
  actionId?: string
}

/** Opens a session for writing in the current transaction; a row that was read in this very transaction spares reading it again. */
export function* writeSession(outbox: Outbox, session: string | SessionRow, nowMs: number): Tx<SessionWriter> {
  const found = typeof session === 'string' ? yield* sessions.findSession.first({ id: session }) : session
  assert(found, 'the session that is written to exists')
  const row: SessionRow = { ...found }
  const sessionId = row.id
  const waitingBefore = row.status

  const append = (event: NewEvent, seq: number, subjectId: string | null): Tx<void> =>
    storeEvent(outbox, event, { sessionId, seq }, subjectId, nowMs)

  const writer: SessionWriter = {
    row,
    *event(event, subjectId) {
      yield* append(event, ++row.last_seq, subjectId ?? null)
    },
    *message({ inHistory, toolCalls, actionIds, ...given }) {
      const seq = ++row.last_seq
      const message: MessageRow = {
        kind: 'text',
        run_id: null,
        queued: 0,
        tool_call_id: null,
        action_id: null,
        model: null,
        payload: null,
        ...given,
        session_id: sessionId,
        seq,
        history_seq: inHistory ? seq : null,
        tool_calls: toolCalls === undefined ? null : JSON.stringify(toolCalls),
        action_ids: actionIds === undefined ? null : JSON.stringify(actionIds),
        created_at: nowMs,
      }
      yield* messages.insertMessage.run({ ...message })
      yield* append({ type: 'message', data: { message: viewMessage(message) } }, seq, message.id)
      return message
    },
    *toolResult({ messageId, runId, toolCall, outcome, actionId }) {
      const content = toolResultText(outcome)
      yield* writer.message({
        id: messageId,
        run_id: runId,
        role: 'tool',
        content,
        tool_call_id: toolCall.id,
        action_id: actionId ?? null,
        payload: JSON.stringify(outcome),
        inHistory: true,
      })
      if (actionId === undefined) return
      yield* writer.event(
        { type: 'tool_call_result', data: { toolCall: { ...toolCall, result: JSON.parse(content) }, actionId } },
        actionId,
      )
    },
    *dequeue(messageId, runId) {
      const seq = ++row.last_seq
      const message = yield* messages.dequeueMessage.first({ id: messageId, run_id: runId, history_seq: seq })
      assert(message, `message ${messageId} was queued`)
      yield* append({ type: 'message', data: { message: viewMessage(message) } }, seq, messageId)
    },
    *finish() {
      const waiting = (yield* actions.openActions.all({ session_id: sessionId })).filter((open) => open.state === 'proposed')
      row.status = waiting.length > 0 ? 'waiting_approval' : yield* settledStatus(sessionId)
      // A waiting session always says which actions wait: the list may have changed under the same word.
      if (row.status !== waitingBefore || waiting.length > 0) {
        yield* writer.event({ type: 'session_status', data: { status: row.status, pendingApprovals: waiting.map(({ id }) => id) } })
      }
      yield* writer.save()
    },
    *save() {
      yield* sessions.updateSession.run({
        id: sessionId,
        status: row.status,
        last_seq: row.last_seq,
        last_run: row.last_run,
        title: row.title,
        approve_all_by: row.approve_all_by,
        now: nowMs,
      })
    },
  }
  return writer
}

const STATUS_AFTER = { open: 'active', done: 'completed', failed: 'error', cancelled: 'completed' } as const

function* settledStatus(sessionId: string): Tx<SessionStatus> {
  const run = yield* sessions.newestRun.first({ session_id: sessionId })
  return run ? STATUS_AFTER[run.state] : 'idle'
}
