import { randomUUID } from 'node:crypto'
import { Agent, type Model, type ModelRequest, type ModelResponse, Runner, RunState, tool, Usage } from '@openai/agents'
import { z } from 'zod'
import type { Place, System, Verdicts } from '../adapter.ts'
import { openHandStore } from '../hand-store.ts'
import { answerTo, callsFor, TOOL } from '../script.ts'

const textOf = (input: ModelRequest['input']): string => {
  if (typeof input === 'string') return input
  const first = input[0]
  if (first === undefined || !('content' in first)) return ''
  return typeof first.content === 'string' ? first.content : JSON.stringify(first.content)
}

class ScriptedModel implements Model {
  async getResponse({ input }: ModelRequest): Promise<ModelResponse> {
    const results = typeof input === 'string' ? 0 : input.filter(({ type }) => type === 'function_call_result').length
    if (results === 0) {
      const calls = callsFor(textOf(input))
      return {
        usage: new Usage(),
        output: calls.map((call) => ({
          type: 'function_call' as const,
          callId: call.orderId,
          name: TOOL.name,
          status: 'completed' as const,
          arguments: JSON.stringify(call),
        })),
      }
    }
    const content = [{ type: 'output_text' as const, text: answerTo(results) }]
    return { usage: new Usage(), output: [{ type: 'message', role: 'assistant', status: 'completed', content }] }
  }

  // biome-ignore lint/correctness/useYield: the interface asks for it, and no run here streams.
  async *getStreamedResponse(): AsyncGenerator<never> {
    throw new Error('the script does not stream')
  }
}

/** The library stores nothing: the state is saved as its documentation shows, at the pause and at the end. */
export async function open(place: Place): Promise<System> {
  const store = await openHandStore(place)
  const setStatus = tool({
    ...TOOL,
    parameters: z.object({ orderId: z.string(), status: z.string(), note: z.string() }),
    needsApproval: true,
    execute: (call) => place.effect(call),
  })
  const agent = new Agent({ name: 'desk', model: new ScriptedModel(), tools: [setStatus] })
  const runner = new Runner({ tracingDisabled: true })
  const answers = new Map<string, string>()
  const decide = async (sessionId: string, verdicts: Verdicts): Promise<void> => {
    const state = await RunState.fromString(agent, await store.load(sessionId))
    for (const item of state.getInterruptions()) {
      const { orderId } = JSON.parse(item.arguments ?? '{}') as { orderId: string }
      if (verdicts[orderId] === 'approve') state.approve(item)
      else state.reject(item)
    }
    const result = await runner.run(agent, state)
    await store.save(sessionId, result.state.toString())
    answers.set(sessionId, result.finalOutput ?? '')
  }
  return {
    async start(message) {
      const id = randomUUID()
      const result = await runner.run(agent, message)
      if (result.interruptions.length === 0) throw new Error('the run did not ask')
      await store.save(id, result.state.toString())
      return id
    },
    decide,
    finish: async (sessionId) => answers.get(sessionId) ?? '',
    async recover(sessionId, verdicts) {
      await decide(sessionId, verdicts)
      return 'the stored state still asked, and the decision was sent again'
    },
    close: () => store.close(),
  }
}
