import { checkpoint } from '@countersign/toolkit/internal'
import type { OtherEvent } from '../gate/index.ts'
import { type SessionWriter, writeSession } from '../gate/index.ts'
import { events, type Outbox, type RunRow, type Tx } from '../store/index.ts'
import type { AgentDeps } from './agent.ts'
import { isAtStep } from './run.ts'

/** About 30 writes a second at most per stream; the first piece goes out at once. */
const MIN_INTERVAL_MS = 33

/** Puts a message's pieces into the session's log while it streams; what comes while one write is under way shares the next. */
export interface Deltas {
  text(content: string): void
  reasoning(content: string): void
  toolCallStart(id: string, name: string): void
  /** All that was said of the message is void: it is written anew from its start. */
  restart(): void
  /**
   * Ends the writing and hands back what was not written yet, to be said together with the whole message.
   */
  close(): OtherEvent[]
}

export interface DeltasOptions {
  run: RunRow
  messageId: string
  /** The name of a tool in the API, for the name that the model used. */
  apiName(name: string): string
  /** The run was ended, or the step is made by somebody else: nobody waits for the rest of the message. */
  onEnded(): void
}

export function openDeltas(deps: AgentDeps, { run, messageId, apiName, onEnded }: DeltasOptions): Deltas {
  const sessionId = run.session_id
  let pending: OtherEvent[] = []
  let stopWaiting: (() => void) | undefined
  let isWriting = false
  let isClosed = false
  /** The row of the log that this stream wrote last. */
  let lastRow: number | undefined
  let hasSpoken = false
  let restarts = 0

  function push(event: OtherEvent): void {
    hasSpoken = true
    const last = pending.at(-1)
    if (last && (last.type === 'delta' || last.type === 'reasoning_delta') && last.type === event.type) {
      last.data = { ...last.data, content: last.data.content + (event.data as typeof last.data).content }
    } else {
      pending.push(event)
    }
    // The write is delayed: an answer that arrives at once needs no write of its own.
    if (!isWriting && stopWaiting === undefined) stopWaiting = deps.clock.after(0, write)
  }

  async function write(): Promise<void> {
    stopWaiting = undefined
    if (isClosed || pending.length === 0) return
    const batch = pending
    const startedWith = restarts
    pending = []
    isWriting = true
    checkpoint('delta.before_store')
    try {
      const row = await deps.store.transact((outbox) => storeDeltas(outbox, batch))
      // Later text of this step is not sent.
      if (row === undefined) {
        isClosed = true
        onEnded()
      } else if (startedWith === restarts) lastRow = row
      checkpoint('delta.after_store')
    } catch (error) {
      // The pieces are a courtesy; the message itself is stored with its own error handling.
      deps.log.warn({ sessionId, messageId, error }, 'delta.lost')
    }
    isWriting = false
    if (!isClosed && pending.length > 0) stopWaiting = deps.clock.after(MIN_INTERVAL_MS, write)
  }

  /** Answers the row that was written; undefined when the step has ended or another loop makes it. */
  function* storeDeltas(outbox: Outbox, batch: readonly OtherEvent[]): Tx<number | undefined> {
    const writer = yield* writeSession(outbox, sessionId, deps.clock.nowMs())
    // Otherwise the text after the last delta of a run or a step would never be sent.
    if (!isAtStep(writer.state, run)) return undefined
    if (lastRow !== undefined) {
      // Another loop began this step anew and dropped what this one said.
      if (!(yield* events.findRow.first({ id: lastRow }))) return undefined
    } else if (writer.state.known.mayHaveDeltas && (yield* events.dropDeltas.change({ message_id: messageId }))) {
      // A loop that was killed in the middle of this step left pieces, or a model that broke off: they and these are not one text.
      writer.event({ type: 'delta', data: { messageId, content: '', restart: true } })
    }
    for (const event of batch) writer.event(event)
    yield* writer.save(messageId)
    return events.rowOf(outbox.events.at(-1))
  }

  return {
    text: (content) => push({ type: 'delta', data: { messageId, content } }),
    reasoning: (content) => push({ type: 'reasoning_delta', data: { messageId, content } }),
    toolCallStart: (id, name) => push({ type: 'tool_call_start', data: { toolCall: { id, name: apiName(name) } } }),
    restart: () => {
      if (!hasSpoken) return
      restarts++
      lastRow = undefined
      pending = []
      // Said itself, too: the next pieces may go out with the whole message, or there may be none.
      push({ type: 'delta', data: { messageId, content: '', restart: true } })
      hasSpoken = false
    },
    close: () => {
      isClosed = true
      stopWaiting?.()
      const unsaid = pending
      pending = []
      return unsaid
    },
  }
}

/** Keeps what was said of a message that is not going to be finished, as far as it reached the log. */
export function* keepSaid(writer: SessionWriter, run: RunRow, messageId: string): Tx<void> {
  const pieces = (yield* events.deltaRows.all({ message_id: messageId })).flatMap(events.readEvents)
  if (pieces.length === 0) return
  yield* writer.dropDeltas(messageId)
  const content = pieces.map(({ event }) => (event.type === 'delta' ? event.data.content : '')).join('')
  if (content.trim() !== '') yield* writer.message({ id: messageId, run_id: run.id, role: 'assistant', content, inHistory: true })
}
