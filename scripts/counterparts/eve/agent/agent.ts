import { defineAgent } from 'eve'
import { mockModel } from 'eve/evals'

/** The message is the calls that the model makes, in one step. Then it says what it was told. A call without an id gets another one each time. */
export default defineAgent({
  model: mockModel(({ lastUserMessage, toolResults }) => {
    if (toolResults.length > 0) return JSON.stringify(toolResults)
    const calls: { id?: string; name: string; input: object }[] = JSON.parse(lastUserMessage ?? '[]')
    return { toolCalls: calls.map((call) => ({ id: crypto.randomUUID(), ...call })) }
  }),
})
