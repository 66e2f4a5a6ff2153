import type { JsonObject, Model, ModelEvent, ModelMessage, ModelRequest, ToolOutcome } from '@countersign/core'

/** Creates a request with one user message and nothing else, or with the given fields. */
export const request = (given: Partial<ModelRequest> = {}): ModelRequest => ({
  instructions: '',
  messages: [{ role: 'user', content: 'Hello' }],
  tools: [],
  signal: new AbortController().signal,
  ...given,
})

/** Collects all events of one step. */
export async function collect(model: Model, given: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.stream(request(given))) events.push(event)
  return events
}

export const textOf = (events: readonly ModelEvent[]): string => events.map((event) => (event.type === 'text' ? event.delta : '')).join('')

export const callsOf = (events: readonly ModelEvent[]) => events.filter((event) => event.type === 'tool_call')

/** Returns true for a step that may become actions: it has calls and a finish that says that they are complete. */
export function isActionable(events: readonly ModelEvent[]): boolean {
  const last = events.at(-1)
  return callsOf(events).length > 0 && last?.type === 'finish' && (last.reason === 'stop' || last.reason === 'tool_calls')
}

const OUTCOMES: ToolOutcome[] = [
  { type: 'output', value: { ok: true } },
  { type: 'declined', reason: 'User declined' },
  { type: 'error', message: 'the shop answered 422' },
  { type: 'outcome_unknown', message: 'the connection broke' },
]

/**
 * Returns the messages that the agent would store for a step: the assistant's, and a result for each call, with the given outcomes in turn.
 */
export function messagesOf(events: readonly ModelEvent[], model: string, step = 1): ModelMessage[] {
  const finish = events.at(-1)
  const toolCalls = callsOf(events).map((call, index) => ({
    id: `call_${step}_${index + 1}`,
    name: call.name,
    arguments: toObject(call.argumentsText),
  }))
  const providerData = finish?.type === 'finish' ? finish.providerData : undefined
  return [
    { role: 'assistant', content: textOf(events), toolCalls, model, ...(providerData !== undefined && { providerData }) },
    ...toolCalls.map(
      (call, index): ModelMessage => ({
        role: 'tool',
        toolCallId: call.id,
        toolName: call.name,
        outcome: OUTCOMES[index % OUTCOMES.length] ?? { type: 'output', value: null },
      }),
    ),
  ]
}

function toObject(text: string): JsonObject {
  const value: unknown = text === '' ? {} : JSON.parse(text)
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {}
}
