import type { Action, JsonObject, JsonValue } from '@countersign/core'

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

/**
 * The id of an approval: that of its action, and from the second revision on also the revision. A client that answers it names what it was
 * shown.
 * @param again The message in which it is asked for once more: clients find an approval by its id, so each place needs its own.
 */
export const approvalIdOf = ({ id, revision }: Pick<Action, 'id' | 'revision'>, again?: string): string =>
  again === undefined ? (revision === 1 ? id : `${id}.${revision}`) : `${id}.${revision}.${again}`

/** The action and the revision that an approval id names. */
export function readApprovalId(approvalId: string): { actionId: string; revision: number } {
  const [, actionId = approvalId, revision = '1'] = /^(\w+)(?:\.(\d{1,9}))?(?:\.\w+)?$/.exec(approvalId) ?? []
  return { actionId, revision: Number(revision) }
}

/** What a card needs besides the call: cards of the client can show it. */
export function descriptorOf({ id, revision, digest, description, preview, risk, expiresAt, requires }: Action): JsonValue {
  const { quorum, roles } = requires
  return JSON.parse(
    JSON.stringify({ actionId: id, revision, digest, description, preview, risk, expiresAt, requires: { quorum, roles } }),
  ) as JsonValue
}
