import {
  assert,
  isSettled,
  type NewEvent,
  type SessionPerson,
  type SessionStatus,
  type ToolCall,
  type ToolOutcome,
} from '@countersign/core'
import { type AuditEntry, append } from '../audit/index.ts'
import {
  type ActionRow,
  type actions,
  ahead,
  events,
  type KnownRows,
  keepSession,
  lockUnderRights,
  type MessageRow,
  messages,
  type Outbox,
  type QueuedMessage,
  type RunRow,
  type SessionRow,
  type SessionState,
  type StoredEvent,
  sessions,
  type Tx,
  takeSession,
} from '../store/index.ts'
import { toolResultText } from './execute/tool-result.ts'
import { viewMessage, viewSaid } from './read/view.ts'

type NewMessage = Pick<MessageRow, 'id' | 'role' | 'content'> &
  Partial<Pick<MessageRow, 'kind' | 'run_id' | 'queued' | 'tool_call_id' | 'model' | 'payload'>> & {
    /** The person or program that wrote it. */
    author?: SessionPerson
    /** False for what the model never sees and for what waits in the queue. */
    inHistory: boolean
    toolCalls?: ToolCall[]
    actionIds?: string[]
  }

export interface ToolResult {
  messageId: string
  runId: string | null
  toolCall: { id: string; name: string }
  outcome: ToolOutcome
  /** Absent for a call that never became an action (unknown tool, arguments that do not fit). */
  actionId?: string
}

/** An event about a transition. It is always stored together with its row of the record. */
export type TransitionEvent = Extract<NewEvent, { type: 'action_proposed' | 'action_update' }>
export type OtherEvent = Exclude<NewEvent, TransitionEvent>

interface WriteOptions {
  soon?: readonly Tx<unknown>[]
  require?: (session: SessionRow | undefined) => Tx<unknown>
}

/**
 * Opens a session for writing: nobody else writes to it until the transaction ends. Every transaction that writes to a session, or to
 * an action or a run of it, begins its writing with this, so that all wait in one order and what they say is numbered as it is committed.
 * @param options `soon`: queries that follow, whose answers come with the session; `require` throws where the session is not one that the
 * caller may write to, or is not there.
 */
export function* writeSession(
  outbox: Outbox,
  sessionId: string,
  nowMs: number,
  { soon = [], require }: WriteOptions = {},
): Tx<SessionWriter> {
  yield* lockUnderRights(sessionId)
  yield* ahead(...soon)
  const found = yield* takeSession(sessionId)
  if (require) yield* require(found?.session)
  assert(found, 'the session that is written to exists')
  return new SessionWriter(outbox, found, nowMs)
}

/**
 * One transaction's writing to one session: everything it appends gets the next numbers of the session's log. The session's run, open
 * actions and queue were loaded with it, and every write to them goes through it or is noted here, so that none is read again.
 */
export class SessionWriter {
  /** The session as it will be written back. */
  readonly row: SessionRow
  /** All else that is known of it, as it is now. */
  #now: SessionState
  /** The run as it is stored: what comes of it is written at the end, at once. */
  #storedRun: RunRow | undefined
  readonly #outbox: Outbox
  readonly #nowMs: number
  readonly #statusBefore: SessionStatus
  readonly #said: { seq: number; event: NewEvent }[] = []
  readonly #passing: StoredEvent[] = []
  /** True when somebody wrote of whom it is not known whether they are disabled. */
  #hasNewAuthor = false

  constructor(outbox: Outbox, state: SessionState, nowMs: number) {
    this.row = { ...state.session }
    this.#now = { ...state, session: this.row }
    this.#storedRun = state.run
    this.#outbox = outbox
    this.#nowMs = nowMs
    this.#statusBefore = state.session.status
  }

  /** The session as this transaction has it now. */
  get state(): SessionState {
    return this.#now
  }

  #note(changed: Partial<SessionState>): void {
    this.#now = { ...this.#now, ...changed }
  }

  #noteRows(changed: Partial<KnownRows>): void {
    this.#note({ known: { ...this.#now.known, ...changed } })
  }

  /** Takes an action that was stored or moved into the list of open ones, or out of it. */
  noteAction(row: ActionRow): void {
    const { id, state, run_id, executor, due_at } = row
    const open = this.#now.open.filter((other) => other.id !== id)
    const rows = new Map(this.#now.known.actions)
    rows.delete(id)
    if (!isSettled(state)) {
      // Oldest first, as ids sort.
      open.push({ id, state, run_id, executor, due_at })
      open.sort((a, b) => (a.id < b.id ? -1 : 1))
      if (rows.size < MOST_KNOWN_ACTIONS && row.arguments.length < MOST_KNOWN_CHARACTERS) rows.set(id, row)
    }
    this.#note({ open, hasDeclined: this.#now.hasDeclined || state === 'declined' })
    this.#noteRows({ actions: rows })
  }

  /** Records whether the session has results of reads that may be reused. */
  noteReuse(hasReusable: boolean): void {
    this.#note({ hasReusable })
  }

  /** Begins the session's next run. */
  *beginRun(id: string): Tx<void> {
    yield* this.#saveRun()
    this.#note({ run: sessions.newRun({ id, session_id: this.row.id, number: ++this.row.last_run, now: this.#nowMs }) })
    this.#noteRows({ mayHaveDeltas: false })
  }

  /** Writes what became of the run. A session has one open run at most, so the one before is written first. */
  *#saveRun(): Tx<void> {
    const { run } = this.#now
    const stored = this.#storedRun
    if (!run || run === stored) return
    if (stored?.id === run.id) yield* sessions.updateRun(stored, run)
    else yield* sessions.insertRun.run({ ...run })
    this.#storedRun = run
  }

  /** A run while it is open, and with `steps` at that step. Only the newest run of a session can be open. */
  #openRun(id: string, steps?: number): RunRow | undefined {
    const { run } = this.#now
    return run?.id === id && run.state === 'open' && (steps === undefined || run.steps === steps) ? run : undefined
  }

  /** Ends a run. False when it had ended already. */
  endRun(id: string, state: Exclude<RunRow['state'], 'open'>): boolean {
    const run = this.#openRun(id)
    if (!run) return false
    this.#note({ run: { ...run, state, updated_at: this.#nowMs } })
    return true
  }

  /** Ends a run because its step failed. False when another loop made that step, or the run had ended already. */
  failRun({ id, steps }: Pick<RunRow, 'id' | 'steps'>): boolean {
    return this.#openRun(id, steps) !== undefined && this.endRun(id, 'failed')
  }

  /** Counts a step of a run and its tokens. False when another loop made that step, or the run has ended. */
  countStep({ id, steps }: Pick<RunRow, 'id' | 'steps'>, usage: sessions.StepColumns): boolean {
    const run = this.#openRun(id, steps)
    if (!run) return false
    this.#note({ run: sessions.withStep(run, usage, this.#nowMs) })
    return true
  }

  /** Deletes the pieces of a message that is stored whole, or is begun again. */
  *dropDeltas(messageId: string): Tx<void> {
    if (this.#now.known.mayHaveDeltas) yield* events.dropDeltas.run({ message_id: messageId })
    this.#noteRows({ mayHaveDeltas: false })
  }

  event(event: OtherEvent): void {
    this.#said.push({ seq: ++this.row.last_seq, event })
  }

  /** Says that an action of the session moved, and writes it down in the record. */
  *transition(event: TransitionEvent, entry: AuditEntry): Tx<void> {
    this.#said.push({ seq: ++this.row.last_seq, event })
    yield* this.audit(entry)
  }

  /** Writes down in the session's part of the record what is no transition of an action. */
  *audit(entry: AuditEntry): Tx<void> {
    const { id, audit_seq: seq, audit_hash: hash, audit_place: place } = this.row
    const end = yield* append(this.#outbox, { scope: id, seq, hash, place }, entry, this.#nowMs)
    this.row.audit_seq = end.seq
    this.row.audit_hash = end.hash
    this.row.audit_place = end.place
  }

  /** Tells those who listen now, and keeps nothing: for pieces of a message that is stored whole in this very transaction. */
  passingEvent(event: OtherEvent): void {
    this.#passing.push({ id: 0, sessionId: this.row.id, seq: ++this.row.last_seq, event })
  }

  *message({ inHistory, toolCalls, actionIds, author, ...given }: NewMessage): Tx<MessageRow> {
    const seq = ++this.row.last_seq
    const message: MessageRow = {
      session_id: this.row.id,
      seq,
      id: given.id,
      run_id: given.run_id ?? null,
      role: given.role,
      kind: given.kind ?? 'text',
      in_history: inHistory ? 1 : 0,
      queued: given.queued ?? 0,
      content: given.content,
      tool_calls: toolCalls === undefined ? null : JSON.stringify(toolCalls),
      tool_call_id: given.tool_call_id ?? null,
      action_ids: actionIds === undefined ? null : JSON.stringify(actionIds),
      model: given.model ?? null,
      payload: given.payload ?? null,
      author_id: author?.id ?? null,
      created_at: this.#nowMs,
    }
    yield* messages.insertMessage.run({ ...message })
    this.#noteMessage(message)
    this.#said.push({ seq, event: { type: 'message', data: { message: viewMessage(message, author) } } })
    return message
  }

  /** Adds the result of a tool call, for the model and for programs that follow the session. */
  *toolResult({ messageId, runId, toolCall, outcome, actionId }: ToolResult): Tx<void> {
    const content = toolResultText(outcome)
    yield* this.message({
      id: messageId,
      run_id: runId,
      role: 'tool',
      content,
      tool_call_id: toolCall.id,
      payload: JSON.stringify(outcome),
      inHistory: true,
    })
    const result = { toolCall: { ...toolCall, result: JSON.parse(content) }, ...(actionId !== undefined && { actionId }) }
    this.event({ type: 'tool_call_result', data: result })
  }

  #noteMessage(message: MessageRow): void {
    const { seq, run_id, author_id, queued, in_history } = message
    const now = this.#now
    const people = [now.session.owner_id, ...now.authors, ...now.queued.map((other) => other.author_id)]
    if (author_id !== null && !people.includes(author_id)) this.#hasNewAuthor = true
    if (queued === 1) this.#note({ queued: [...now.queued, { seq, run_id, author_id }].sort((a, b) => a.seq - b.seq) })
    if (in_history !== 1) return
    if (author_id !== null && !now.authors.includes(author_id)) this.#note({ authors: [...now.authors, author_id].sort() })
    this.#noteRows({ history: withMessage(now.known.history, message) })
  }

  #noteTaken(seq: number): void {
    this.#note({ queued: this.#now.queued.filter((other) => other.seq !== seq) })
  }

  /** Puts the message of a held request into the queue. False when it was put there before. */
  *enqueueHeld(seq: number): Tx<boolean> {
    const message = yield* messages.callHeldMessage.first({ session_id: this.row.id, seq })
    if (message) this.#noteMessage(message)
    return message !== undefined
  }

  /** Gives a queued message the last place of the session and of the history. */
  *dequeue({ seq }: QueuedMessage, runId: string): Tx<void> {
    const to = ++this.row.last_seq
    const message = yield* messages.dequeueMessage.first({ session_id: this.row.id, seq, run_id: runId, to })
    assert(message, `message ${seq} of ${this.row.id} was queued`)
    this.#noteMessage(message)
    this.#noteTaken(seq)
    this.#said.push({ seq: to, event: { type: 'message', data: { message: yield* viewSaid(message) } } })
  }

  /** Takes a message out of the queue for good: people read it, the model never does. */
  *unqueue(seq: number): Tx<void> {
    const message = yield* messages.unqueueMessage.first({ session_id: this.row.id, seq })
    this.#noteTaken(seq)
    if (message) this.event({ type: 'message', data: { message: yield* viewSaid(message) } })
  }

  /**
   * Derives the session's status from its run and open actions, and writes counters and status back. Call once, last. Returns the open
   * actions.
   */
  *finish(): Tx<readonly actions.OpenAction[]> {
    const { open, run } = this.#now
    const waiting = open.filter(({ state }) => state === 'proposed').map(({ id }) => id)
    this.row.status = waiting.length > 0 ? 'waiting_approval' : run ? STATUS_AFTER[run.state] : 'idle'
    // A waiting session always says which actions wait: the list may have changed under the same word.
    if (this.row.status !== this.#statusBefore || waiting.length > 0) {
      this.event({ type: 'session_status', data: { status: this.row.status, pendingApprovals: waiting } })
    }
    yield* this.save()
    return open
  }

  /**
   * Writes events and counters. Call once, last, instead of `finish`, where nothing happened that a status depends on.
   * @param deltaOf The message that all these events are pieces of.
   */
  *save(deltaOf?: string): Tx<void> {
    yield* this.#saveRun()
    this.row.updated_at = this.#nowMs
    const { id, status, last_seq, last_run, title, audit_seq, audit_hash, audit_place } = this.row
    if (this.#said.length > 0) {
      const stored = yield* events.insertEvents({ sessionId: id, events: this.#said, deltaOf, nowMs: this.#nowMs })
      this.#outbox.events.push(...stored)
      if (deltaOf !== undefined) this.#noteRows({ mayHaveDeltas: true })
    }
    if (this.#passing.length > 0) {
      this.#outbox.events.push(...this.#passing)
      this.#outbox.events.sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0))
    }
    const update = status === this.#statusBefore ? sessions.updateCounters : sessions.updateSession
    yield* update.run({ id, status, last_seq, last_run, title, audit_seq, audit_hash, audit_place, now: this.#nowMs })
    if (!this.#now.hasDisabled && !this.#hasNewAuthor) yield* keepSession({ ...this.#now, session: { ...this.row } })
  }
}

/** The messages that are remembered for the model's next history, and how long they may be in all. */
const MOST_KNOWN_MESSAGES = 16
const MOST_KNOWN_CHARACTERS = 64_000
const MOST_KNOWN_ACTIONS = 20

const lengthOf = ({ content, payload, tool_calls }: MessageRow): number =>
  content.length + (payload?.length ?? 0) + (tool_calls?.length ?? 0)

/** Adds a message to the end of a history; the oldest ones go where there are too many to remember. */
function withMessage({ after, rows }: KnownRows['history'], message: MessageRow): KnownRows['history'] {
  const kept = [...rows, message]
  let characters = kept.reduce((sum, row) => sum + lengthOf(row), 0)
  let last = after
  for (let [first] = kept; first && (kept.length > MOST_KNOWN_MESSAGES || characters > MOST_KNOWN_CHARACTERS); [first] = kept) {
    characters -= lengthOf(first)
    last = first.seq
    kept.shift()
  }
  return { after: last, rows: kept }
}

const STATUS_AFTER = { open: 'active', done: 'completed', failed: 'error', cancelled: 'completed' } as const
