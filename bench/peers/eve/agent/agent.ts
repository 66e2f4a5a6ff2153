import { defineAgent } from 'eve'
import { mockModel } from 'eve/evals'
import { answerTo, callsFor, TOOL } from '../../script.ts'

/** The scripted model, on the mock that the framework ships. */
export default defineAgent({
  model: mockModel(({ lastUserMessage, toolResults }) => {
    if (toolResults.length > 0) return answerTo(toolResults.length)
    return { toolCalls: callsFor(lastUserMessage ?? '').map((call) => ({ name: TOOL.name, input: { ...call } })) }
  }),
})
