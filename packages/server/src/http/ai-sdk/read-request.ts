import { CountersignError, Json, MessageText } from '@countersign/core'
import { z } from 'zod'
import type { AskedDecision } from '../threads/decide-all.ts'

/** The request of the AI SDK's chat transport. Only its last message is read; members that an app adds are left alone. */
export const AiSdkChatBody = z.looseObject({
  /** The client's id of the conversation, or the id of a session. */
  id: z.string().min(1).max(200),
  messages: z
    .array(z.looseObject({ id: z.string().max(200).optional(), role: z.string(), parts: z.array(z.looseObject({ type: z.string() })) }))
    .min(1),
  trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
  messageId: z.string().max(200).optional(),
  /** Of a new conversation: the agent. Default: the first of the configuration. */
  agent: z.string().min(1).max(120).optional(),
  metadata: Json.optional(),
})
export type AiSdkChatBody = z.infer<typeof AiSdkChatBody>

/** The part of the message that a client has already. It is left out of the stream, and has no other effect. */
export interface ClientMessage {
  id: string
  steps: number
  calls: ReadonlyMap<string, ClientCall>
}

interface ClientCall {
  input: unknown
  approvalId: string | undefined
  approved: boolean | undefined
  isEnded: boolean
}

/** A request either brings a message, or brings decisions and continues a message. */
export type ChatRequest = { say: string; messageId: string | undefined } | { decisions: AskedDecision[]; client: ClientMessage }

const Approval = z.looseObject({ id: z.string().max(200), approved: z.boolean().optional(), reason: z.string().max(2_000).optional() })
const ToolPart = z.looseObject({
  toolCallId: z.string().max(500),
  state: z.string(),
  input: z.unknown().optional(),
  approval: Approval.optional(),
})

/** Reads the last message of a request. @throws CountersignError `bad_request` for what this server cannot take. */
export function readChatRequest({ messages, trigger }: AiSdkChatBody): ChatRequest {
  if (trigger === 'regenerate-message') {
    throw new CountersignError('bad_request', 'an answer cannot be made again: what it did is done. Send another message')
  }
  const last = messages.at(-1)
  if (last?.role === 'user') {
    // Left out in silence, the agent would answer as if there were no file, and its author would believe that it was read.
    if (last.parts.some(({ type }) => type === 'file'))
      throw new CountersignError('bad_request', 'files are not taken: send the message without them')
    const text = last.parts.flatMap((part) => (part.type === 'text' && typeof part.text === 'string' ? part.text : [])).join('\n')
    const said = MessageText.safeParse(text)
    if (!said.success) throw new CountersignError('bad_request', 'the last message needs a text part of at most 100,000 characters')
    return { say: said.data, messageId: last.id }
  }
  if (last?.role !== 'assistant')
    throw new CountersignError('bad_request', 'the last message must be of a user, or an answer with approvals')
  const calls = new Map<string, ClientCall>()
  const decisions: AskedDecision[] = []
  for (const part of last.parts) {
    const tool = part.type === 'dynamic-tool' || part.type.startsWith('tool-') ? ToolPart.safeParse(part) : undefined
    if (!tool?.success) continue
    const { toolCallId, state, input, approval } = tool.data
    calls.set(toolCallId, { input, approvalId: approval?.id, approved: approval?.approved, isEnded: state.startsWith('output-') })
    if (state === 'approval-responded' && approval?.approved !== undefined) {
      decisions.push({ approvalId: approval.id, approved: approval.approved, reason: approval.reason })
    }
  }
  const steps = last.parts.filter(({ type }) => type === 'step-start').length
  return { decisions, client: { id: last.id ?? '', steps, calls } }
}
