import type { NewEvent } from '@countersign/core'
import { writeSession } from '../gate/index.ts'
import { reach } from '../points.ts'
import { type RunRow, sessions } from '../store/index.ts'
import type { AgentParts } from './agent.ts'

/** About 30 writes a second at most per stream; the first piece goes out at once. */
const MIN_INTERVAL_MS = 33

/** Puts a message's pieces into the session's log while it streams; what comes while one write is under way shares the next. */
export interface Deltas {
  text(content: string): void
  reasoning(content: string): void
  toolCallStart(id: string, name: string): void
  /**
   * Ends the writing and hands back what was not written yet, to be said together with the whole message.
   */
  close(): NewEvent[]
}

/** @param apiName The name of a tool in the API, for the name that the model used. */
export function openDeltas(parts: AgentParts, run: RunRow, messageId: string, apiName: (name: string) => string): Deltas {
  const sessionId = run.session_id
  let pending: NewEvent[] = []
  let stopWaiting: (() => void) | undefined
  let isWriting = false
  let isClosed = false

  function push(event: NewEvent): void {
    const last = pending.at(-1)
    if (last && (last.type === 'delta' || last.type === 'reasoning_delta') && last.type === event.type) {
      last.data = { messageId, content: last.data.content + (event.data as typeof last.data).content }
    } else {
      pending.push(event)
    }
    // Not at once: an answer that comes whole needs no write of its own.
    if (!isWriting && stopWaiting === undefined) stopWaiting = parts.clock.after(0, write)
  }

  async function write(): Promise<void> {
    stopWaiting = undefined
    if (isClosed || pending.length === 0) return
    const batch = pending
    pending = []
    isWriting = true
    reach('delta.before_store')
    try {
      await parts.store.transact(function* (outbox) {
        // A run that was stopped meanwhile has said its last word; what came after it would stay half said for good.
        const newest = yield* sessions.newestRun.first({ session_id: sessionId })
        if (newest?.id !== run.id || newest.state !== 'open') return
        const writer = yield* writeSession(outbox, sessionId, parts.clock.nowMs())
        for (const event of batch) writer.event(event)
        yield* writer.save(messageId)
      })
      reach('delta.after_store')
    } catch (error) {
      // The pieces are a courtesy; the message itself is stored with its own error handling.
      parts.log.warn({ sessionId, messageId, error }, 'delta.lost')
    }
    isWriting = false
    if (!isClosed && pending.length > 0) stopWaiting = parts.clock.after(MIN_INTERVAL_MS, write)
  }

  return {
    text: (content) => push({ type: 'delta', data: { messageId, content } }),
    reasoning: (content) => push({ type: 'reasoning_delta', data: { messageId, content } }),
    toolCallStart: (id, name) => push({ type: 'tool_call_start', data: { toolCall: { id, name: apiName(name) } } }),
    close: () => {
      isClosed = true
      stopWaiting?.()
      const unsaid = pending
      pending = []
      return unsaid
    },
  }
}
