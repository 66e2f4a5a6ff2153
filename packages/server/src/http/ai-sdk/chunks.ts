import type { JsonObject, JsonValue } from '@countersign/core'

/** The parts of the AI SDK's UI message stream (v1) that this server sends. A client ends its stream at a type that it does not know. */
export type Chunk =
  | { type: 'start'; messageId: string; messageMetadata: { sessionId: string } }
  | { type: 'start-step' | 'finish-step' | 'reset-step' }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'tool-input-start'; toolCallId: string; toolName: string }
  | { type: 'tool-input-available'; toolCallId: string; toolName: string; input: JsonObject }
  | {
      type: 'tool-approval-request'
      approvalId: string
      toolCallId: string
      reason?: string
      approvalDescriptor?: JsonValue
      isAutomatic?: true
    }
  | { type: 'tool-approval-response'; approvalId: string; approved: boolean; reason?: string }
  | { type: 'tool-output-available'; toolCallId: string; output: JsonValue }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string }
  | { type: 'tool-output-denied'; toolCallId: string }
  | { type: 'data-note'; id: string; data: { text: string } }
  | { type: 'finish'; finishReason: 'stop' | 'tool-calls' }
  | { type: 'error'; errorText: string }

/** The frames of the wire: LF only, no ids, because a client cannot resume in the middle. */
export const frameOf = (chunk: Chunk | '[DONE]'): Buffer => Buffer.from(`data: ${chunk === '[DONE]' ? chunk : JSON.stringify(chunk)}\n\n`)

/** Names of tools become part of a part's type: `tool-shop_refund`. */
export const partName = (tool: string): string => tool.replaceAll(/[^a-zA-Z0-9_-]/g, '_')
