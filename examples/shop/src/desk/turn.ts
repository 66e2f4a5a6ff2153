import type { Outcome, ToolResult } from './answer.ts'
import type { Turn } from './understand.ts'

/** A history, whoever kept it: Countersign's model port has this shape, the remote brain makes it from chat messages. */
export type HistoryMessage =
  | { role: 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls: readonly { id: string; name: string; arguments: Record<string, unknown> }[] }
  | { role: 'tool'; toolCallId: string; outcome: Outcome | EditedOutcome }

/** The arguments that a person edited before approval. These were executed, not the original ones. */
export interface EditedOutcome {
  type: 'edited'
  argumentsRun: Record<string, unknown>
  outcome: Outcome
}

const DECISION_WORD = /^(?:approve|yes|reject|no|approve all|(?:approve|reject) act_\w+)$/i

/**
 * The turn a history ends with: the last request, and the results of the calls made for it. Where a decision typed as a message
 * ("approve") follows its result, the request before it is still the one to answer.
 */
export function readTurn(messages: readonly HistoryMessage[]): Turn {
  const open = dropDecisionWords(messages)
  const start = open.findLastIndex((message) => message.role === 'user')
  const request = open[start]
  const calls = new Map<string, { name: string; arguments: Record<string, unknown> }>()
  const results: ToolResult[] = []
  for (const message of open.slice(start + 1)) {
    if (message.role === 'assistant') for (const call of message.toolCalls) calls.set(call.id, call)
    if (message.role !== 'tool') continue
    const call = calls.get(message.toolCallId)
    if (!call) continue
    const { outcome } = message
    results.push(
      outcome.type === 'edited'
        ? { tool: call.name, arguments: outcome.argumentsRun, outcome: outcome.outcome }
        : { tool: call.name, arguments: call.arguments, outcome },
    )
  }
  return { text: request?.role === 'user' ? request.content : '', results }
}

function dropDecisionWords(messages: readonly HistoryMessage[]): readonly HistoryMessage[] {
  const last = messages.at(-1)
  if (last?.role !== 'user' || !DECISION_WORD.test(last.content.trim())) return messages
  const rest = dropDecisionWords(messages.slice(0, -1))
  return rest.at(-1)?.role === 'tool' ? rest : messages
}
