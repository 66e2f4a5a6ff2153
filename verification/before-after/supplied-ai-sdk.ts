// The model and the functions that the documentation of the AI SDK leaves to its reader.
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { carryOut } from './effects.ts'

export const fetchWeather = (city: string): Promise<object> => carryOut({ city }, { city, weather: 'sunny' })
export const runCommand = (command: string): Promise<string> => carryOut({ command }, 'It ran.')

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
const INPUTS: Readonly<Record<string, object>> = {
  getWeather: { city: 'Paris' },
  runCommand: { command: 'rm temp.txt' },
  deleteTool: { id: 'abc-123' },
}
type Options = Parameters<MockLanguageModelV4['doStream']>[0]
type Part = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Of> ? Of : never

const isAnswered = ({ prompt }: Options): boolean => prompt.at(-1)?.role === 'tool'

function callOf({ tools }: Options) {
  const toolName = tools?.[0]?.name ?? ''
  return { type: 'tool-call', toolCallId: 'call_1', toolName, input: JSON.stringify(INPUTS[toolName]) } as const
}
const ANSWER: Part[] = [
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'I see.' },
  { type: 'text-end', id: '1' },
  { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage: USAGE },
]

/** The model calls the tool that it is given once and answers with text after the tool's result. */
export const model = new MockLanguageModelV4({
  doGenerate: async (options) => ({
    content: isAnswered(options) ? [{ type: 'text', text: 'I see.' }] : [callOf(options)],
    finishReason: { unified: isAnswered(options) ? 'stop' : 'tool-calls', raw: undefined },
    usage: USAGE,
    warnings: [],
  }),
  doStream: async (options) => ({
    stream: convertArrayToReadableStream<Part>(
      isAnswered(options)
        ? ANSWER
        : [callOf(options), { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage: USAGE }],
    ),
  }),
})
