import type { WorkflowAgent } from '@ai-sdk/workflow'
import { WORKFLOW_DESERIALIZE, WORKFLOW_SERIALIZE } from '@workflow/serde'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { answerTo, callsFor, TOOL } from '../../script.ts'

type Model = InstanceType<typeof MockLanguageModelV4>
type Prompt = Parameters<Model['doStream']>[0]['prompt']
type Streamed = Awaited<ReturnType<Model['doStream']>>
type Part = Streamed['stream'] extends ReadableStream<infer P> ? P : never

const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 50, text: 50, reasoning: 0 },
}

/** Returns the scripted model's answer to a prompt. */
function say(prompt: Prompt): Part[] {
  const answers = prompt.flatMap(({ role, content }) => (role === 'tool' ? [...content] : []))
  const results = answers.filter(({ type }) => type === 'tool-result').length
  if (results > 0) {
    return [
      { type: 'text-start', id: 'answer' },
      { type: 'text-delta', id: 'answer', delta: answerTo(results) },
      { type: 'text-end', id: 'answer' },
      { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
    ]
  }
  const asked = prompt.find(({ role }) => role === 'user')?.content[0]
  const calls = callsFor(typeof asked === 'object' && asked.type === 'text' ? asked.text : '')
  return [
    ...calls.map((call) => ({
      type: 'tool-call' as const,
      toolCallId: call.orderId,
      toolName: TOOL.name,
      input: JSON.stringify(call),
    })),
    { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'tool-calls' }, usage },
  ]
}

/** The scripted model. The workflow passes it to the step that calls it, so its class defines how it is serialized. */
class ScriptedModel extends MockLanguageModelV4 {
  static [WORKFLOW_SERIALIZE]() {
    return {}
  }

  static [WORKFLOW_DESERIALIZE]() {
    return new ScriptedModel()
  }

  constructor() {
    super({
      doStream: async ({ prompt }) => ({
        stream: convertArrayToReadableStream<Part>([{ type: 'stream-start', warnings: [] }, ...say(prompt)]),
      }),
    })
  }
}

// The agent brings its own version of the model's types; at run time they are the same.
export const scriptedModel = () => new ScriptedModel() as unknown as ConstructorParameters<typeof WorkflowAgent>[0]['model']
