import { z } from 'zod'
import type { Outcome } from '../desk/answer.ts'
import type { EditedOutcome, HistoryMessage } from '../desk/turn.ts'

const Content = z.union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() })), z.null()]).optional()

const ToolCall = z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) })

/** A message in the shape of OpenAI's chat. */
const ChatMessage = z.discriminatedUnion('role', [
  z.looseObject({ role: z.enum(['system', 'developer']), content: Content }),
  z.looseObject({ role: z.literal('user'), content: Content }),
  z.looseObject({ role: z.literal('assistant'), content: Content, tool_calls: z.array(ToolCall).nullish() }),
  z.looseObject({ role: z.literal('tool'), tool_call_id: z.string(), content: Content }),
])

/** The request body of the brain. */
export const BrainRequest = z.looseObject({
  messages: z.array(ChatMessage).min(1),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).optional(),
})
export type BrainRequest = z.output<typeof BrainRequest>

/** The chat as the desk reads it; instructions are left out, this brain has its own mind. */
export function toHistory(messages: BrainRequest['messages']): HistoryMessage[] {
  return messages.flatMap((message): HistoryMessage[] => {
    switch (message.role) {
      case 'user':
        return [{ role: 'user', content: toText(message.content) }]
      case 'assistant': {
        const toolCalls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: text } }) => {
          const parsed = parse(text)
          return { id, name, arguments: isRecord(parsed) ? parsed : {} }
        })
        return [{ role: 'assistant', content: toText(message.content), toolCalls }]
      }
      case 'tool':
        return [{ role: 'tool', toolCallId: message.tool_call_id, outcome: toOutcome(toText(message.content)) }]
      default:
        return []
    }
  })
}

/**
 * `{denied: true, reason}`, `{error}` and `{outcome_unknown: true, message}` are not outputs, `{edited: true, arguments_run, …}` says what ran
 * instead; everything else is one.
 */
function toOutcome(content: string): Outcome | EditedOutcome {
  const value = parse(content)
  if (!isRecord(value)) return { type: 'output', value }
  if (value.edited === true && isRecord(value.arguments_run)) {
    const outcome = 'result' in value ? { type: 'output' as const, value: value.result } : toPlainOutcome(value)
    return { type: 'edited', argumentsRun: value.arguments_run, outcome }
  }
  return toPlainOutcome(value)
}

function toPlainOutcome(value: Record<string, unknown>): Outcome {
  if (value.denied === true || value.declined === true) return { type: 'declined', reason: textOr(value.reason, 'User declined') }
  if (value.outcome_unknown === true) return { type: 'outcome_unknown', message: textOr(value.message, 'no answer came back') }
  if (typeof value.error === 'string') return { type: 'error', message: value.error }
  return { type: 'output', value }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const toText = (content: z.output<typeof Content>): string =>
  typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('')

const textOr = (value: unknown, otherwise: string): string => (typeof value === 'string' && value.trim() !== '' ? value : otherwise)
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
