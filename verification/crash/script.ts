// The model of the campaign's agents. A message carries its plan, so what an agent does is written down before it begins.
import type { ModelMessage, ModelRequest } from '@countersign/core'
import { defineScript, type ScriptReply } from '../../packages/server/src/models/index.ts'

/** The replies and calls of an agent, step by step; after the last step it says that it is done. */
export interface AgentPlan {
  steps: ScriptReply[]
}

const MARK = 'PLAN '

export const planMessage = (plan: AgentPlan): string => MARK + JSON.stringify(plan)

/** The words of an agent that was shown a history which no provider would take. */
export const BROKEN_HISTORY = 'the history is broken'

export default defineScript({
  reply({ messages }: ModelRequest): ScriptReply {
    const problem = historyProblem(messages)
    if (problem !== undefined) return { error: `${BROKEN_HISTORY}: ${problem}` }
    const at = messages.findLastIndex((message) => planOf(message) !== undefined)
    const plan = planOf(messages[at]) ?? { steps: [] }
    const taken = messages.slice(at + 1).filter(({ role }) => role === 'assistant').length
    return plan.steps[taken] ?? { text: 'All done.' }
  },
})

const planOf = (message: ModelMessage | undefined): AgentPlan | undefined =>
  message?.role === 'user' && message.content.startsWith(MARK) ? JSON.parse(message.content.slice(MARK.length)) : undefined

/** Before each model call every tool call has exactly one result, in its place (I6). */
function historyProblem(messages: readonly ModelMessage[]): string | undefined {
  let open: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      const expected = open.shift()
      if (expected !== message.toolCallId)
        return `the result of ${message.toolCallId} stands where that of ${expected ?? 'nothing'} belongs`
    } else if (open.length > 0) return `${open.join(' and ')} has no result`
    else if (message.role === 'assistant') open = message.toolCalls.map(({ id }) => id)
  }
  return open.length > 0 ? `${open.join(' and ')} has no result` : undefined
}
