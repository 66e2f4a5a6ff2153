import { assert, type NewEvent, type SessionStatus, type ToolCall, type ToolOutcome } from '@countersign/core'
import {
  actions,
  events,
  type MessageRow,
  messages,
  type Outbox,
  type SessionRow,
  type StoredEvent,
  sessions,
  type Tx,
} from '../store/index.ts'
import { toolResultText } from './tool-result.ts'
import { viewMessage } from './view.ts'

type NewMessage = Pick<MessageRow, 'id' | 'role' | 'content'> &
  Partial<Pick<MessageRow, 'kind' | 'run_id' | 'queued' | 'tool_call_id' | 'model' | 'payload'>> & {
    /** False for what the model never sees and for what waits in the queue. */
    inHistory: boolean
    toolCalls?: ToolCall[]
    actionIds?: string[]
  }

/** One transaction's writing to one session: everything it appends gets the next numbers of the session's log. */
export interface SessionWriter {
  readonly row: SessionRow
  event(event: NewEvent): void
  /** Tells those who listen now, and keeps nothing: for pieces of a message that is stored whole in this very transaction. */
  passingEvent(event: NewEvent): void
  message(message: NewMessage): Tx<MessageRow>
  /** Adds the result of a tool call: what the model is given, and what programs are told. */
  toolResult(result: ToolResult): Tx<void>
  /** Gives a queued message the last place of the session and of the history. */
  dequeue(queued: MessageRow, runId: string): Tx<void>
  /**
   * Writes events and counters. Call once, last, instead of `finish`, where nothing happened that a status depends on.
   * @param deltaOf The message that all these events are pieces of.
   */
  save(deltaOf?: string): Tx<void>
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

  const said: { seq: number; event: NewEvent }[] = []
  const passing: StoredEvent[] = []

  const writer: SessionWriter = {
    row,
    event(event) {
      said.push({ seq: ++row.last_seq, event })
    },
    passingEvent(event) {
      passing.push({ id: 0, sessionId, seq: ++row.last_seq, event })
    },
    *message({ inHistory, toolCalls, actionIds, ...given }) {
      const seq = ++row.last_seq
      const message: MessageRow = {
        kind: 'text',
        run_id: null,
        queued: 0,
        tool_call_id: null,
        model: null,
        payload: null,
        ...given,
        session_id: sessionId,
        seq,
        in_history: inHistory ? 1 : 0,
        tool_calls: toolCalls === undefined ? null : JSON.stringify(toolCalls),
        action_ids: actionIds === undefined ? null : JSON.stringify(actionIds),
        created_at: nowMs,
      }
      yield* messages.insertMessage.run({ ...message })
      said.push({ seq, event: { type: 'message', data: { message: viewMessage(message) } } })
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
        payload: JSON.stringify(outcome),
        inHistory: true,
      })
      if (actionId === undefined) return
      writer.event({ type: 'tool_call_result', data: { toolCall: { ...toolCall, result: JSON.parse(content) }, actionId } })
    },
    *dequeue(queued, runId) {
      const to = ++row.last_seq
      const message = yield* messages.dequeueMessage.first({ session_id: sessionId, seq: queued.seq, run_id: runId, to })
      assert(message, `message ${queued.id} was queued`)
      said.push({ seq: to, event: { type: 'message', data: { message: viewMessage(message) } } })
    },
    *finish() {
      const waiting = (yield* actions.openActions.all({ session_id: sessionId })).filter((open) => open.state === 'proposed')
      row.status = waiting.length > 0 ? 'waiting_approval' : yield* settledStatus(sessionId)
      // A waiting session always says which actions wait: the list may have changed under the same word.
      if (row.status !== waitingBefore || waiting.length > 0) {
        writer.event({ type: 'session_status', data: { status: row.status, pendingApprovals: waiting.map(({ id }) => id) } })
      }
      yield* writer.save()
    },
    *save(deltaOf) {
      const stored = said.length === 0 ? [] : yield* events.insertEvents({ sessionId, events: said, deltaOf, nowMs })
      outbox.events.push(...[...stored, ...passing].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0)))
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
