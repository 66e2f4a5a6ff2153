import type { JsonObject, JsonValue } from '@countersign/core'
import type { Said } from './snapshot.ts'

/** A question to people, which the next run of the thread answers. */
export interface Interrupt {
  id: string
  /** `tool_call`: a call of `toolCallId` needs approval. */
  reason: 'tool_call'
  message: string
  toolCallId: string
  responseSchema: JsonObject
  expiresAt?: string
  metadata: JsonValue
}

export type SnapshotMessage =
  | { id: string; role: 'user'; content: string }
  | {
      id: string
      role: 'assistant'
      content?: string
      toolCalls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
    }
  | { id: string; role: 'tool'; toolCallId: string; content: string }

/** The events of AG-UI 1.0 that this server sends. An optional member is left out: clients end a stream with a null in it. */
export type AgUiEvent =
  | { type: 'RUN_STARTED'; threadId: string; runId: string; protocolVersion: '1.0' }
  /** Messages of the server, and those that the page has. */
  | { type: 'MESSAGES_SNAPSHOT'; messages: readonly (SnapshotMessage | Said)[] }
  | { type: 'REASONING_START'; messageId: string }
  | { type: 'REASONING_MESSAGE_START'; messageId: string; role: 'reasoning' }
  | { type: 'REASONING_MESSAGE_CONTENT'; messageId: string; delta: string }
  | { type: 'REASONING_MESSAGE_END'; messageId: string }
  | { type: 'REASONING_END'; messageId: string }
  | { type: 'TEXT_MESSAGE_START'; messageId: string; role: 'assistant' }
  | { type: 'TEXT_MESSAGE_CONTENT'; messageId: string; delta: string }
  | { type: 'TEXT_MESSAGE_END'; messageId: string }
  | { type: 'TOOL_CALL_START'; toolCallId: string; toolCallName: string; parentMessageId: string }
  | { type: 'TOOL_CALL_ARGS'; toolCallId: string; delta: string }
  | { type: 'TOOL_CALL_END'; toolCallId: string }
  | { type: 'TOOL_CALL_RESULT'; messageId: string; toolCallId: string; content: string; role: 'tool' }
  | {
      type: 'RUN_FINISHED'
      threadId: string
      runId: string
      outcome: { type: 'success' } | { type: 'interrupt'; interrupts: Interrupt[] }
    }
  | { type: 'RUN_ERROR'; message: string }

/** The frames of the wire. LF only: HttpAgent 1.0.0 does not read CRLF. */
export const frameOf = (event: AgUiEvent): Buffer => Buffer.from(`data: ${JSON.stringify(event)}\n\n`)
