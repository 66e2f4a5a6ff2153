// The route in `ai-sdk-route.before.ts` needs a model and a function that fetches weather. Its documentation leaves both to the reader.
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'

/** The cities whose weather was fetched. */
export const fetched: string[] = []

export async function fetchWeather(city: string): Promise<object> {
  fetched.push(city)
  return { city, weather: 'sunny' }
}

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}
type Part = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Of> ? Of : never
const CALL: Part[] = [
  { type: 'tool-call', toolCallId: 'call_1', toolName: 'getWeather', input: '{"city":"Paris"}' },
  { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage: USAGE },
]
const ANSWER: Part[] = [
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'I see.' },
  { type: 'text-end', id: '1' },
  { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage: USAGE },
]

/** The model calls the tool once and answers with text after the tool's result. */
export const model = new MockLanguageModelV4({
  doStream: async ({ prompt }) => ({ stream: convertArrayToReadableStream(prompt.at(-1)?.role === 'tool' ? ANSWER : CALL) }),
})
