import type { RecordedApi } from './recordings.ts'
import { answerWith, type ReplayAnswer } from './replay-server.ts'

/** The output of a stand-in provider in one answer. */
export interface Speech {
  text?: string
  calls?: { id: string; name: string; argumentsText: string }[]
  /** The provider's signature of its reasoning, which it expects back verbatim. With chat, gateways have one and OpenAI has none. */
  signature?: string
  /** The usage that it reports; by default some report one token and some nothing. */
  usage?: SpokenUsage
}

export interface SpokenUsage {
  /** All input tokens, including those read from the cache and, where the API reports it, written to it. */
  input: number
  cached: number
  written: number
  output: number
}

/** Encodes a complete answer in the format of an API, for cases without a recording: the end of a loop, parallel calls. */
export function speak(api: RecordedApi, { text = '', calls = [], signature, usage }: Speech): ReplayAnswer & { chunks: Uint8Array[] } {
  const events = SAY[api](text, calls, signature, usage)
  const body = events
    .map((event) => `${'type' in event ? `event: ${String(event.type)}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('')
  return answerWith({ status: 200, contentType: 'text/event-stream', body: new TextEncoder().encode(body) })
}

type Event = Record<string, unknown>
type Say = (text: string, calls: NonNullable<Speech['calls']>, signature: string | undefined, usage: SpokenUsage | undefined) => Event[]

const chat: Say = (text, calls, signature, counted) => {
  const chunk = (delta: Event, finish: string | null = null) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const thought = (more: Event) => chunk({ reasoning_details: [{ type: 'reasoning.text', ...more, index: 0 }] })
  return [
    ...(signature === undefined ? [] : [thought({ text: 'I think' }), thought({ signature })]),
    chunk({ role: 'assistant', content: text }),
    ...calls.map((call, index) =>
      chunk({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: call.argumentsText } }] }),
    ),
    chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    ...(counted === undefined
      ? []
      : [
          {
            ...chunk({}),
            choices: [],
            usage: {
              prompt_tokens: counted.input,
              completion_tokens: counted.output,
              total_tokens: counted.input + counted.output,
              prompt_tokens_details: { cached_tokens: counted.cached },
            },
          },
        ]),
  ]
}

const responses: Say = (text, calls, signature, counted = { input: 1, cached: 0, written: 0, output: 1 }) => {
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', output: [], status: 'in_progress' }
  const usage = {
    input_tokens: counted.input,
    output_tokens: counted.output,
    total_tokens: counted.input + counted.output,
    input_tokens_details: { cached_tokens: counted.cached },
    output_tokens_details: { reasoning_tokens: 0 },
  }
  const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [] }
  const said: Event[] =
    text === ''
      ? []
      : [
          { type: 'response.output_item.added', output_index: 0, item: { ...message, status: 'in_progress' } },
          { type: 'response.output_text.delta', output_index: 0, item_id: 'msg_1', content_index: 0, delta: text },
          {
            type: 'response.output_item.done',
            output_index: 0,
            item: { ...message, content: [{ type: 'output_text', text, annotations: [] }] },
          },
        ]
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: signature }
  const thought: Event[] =
    signature === undefined
      ? []
      : [
          { type: 'response.output_item.added', output_index: 0, item: reasoning },
          { type: 'response.output_item.done', output_index: 0, item: reasoning },
        ]
  const called = calls.flatMap((call, index): Event[] => {
    const item = { type: 'function_call', id: `fc_${index}`, call_id: call.id, name: call.name, arguments: '', status: 'in_progress' }
    const output_index = index + 1
    return [
      { type: 'response.output_item.added', output_index, item },
      { type: 'response.function_call_arguments.delta', output_index, item_id: item.id, delta: call.argumentsText },
      { type: 'response.output_item.done', output_index, item: { ...item, arguments: call.argumentsText, status: 'completed' } },
    ]
  })
  const events = [
    { type: 'response.created', response },
    ...thought,
    ...said,
    ...called,
    { type: 'response.completed', response: { ...response, status: 'completed', usage } },
  ]
  return events.map((event, sequence_number) => ({ ...event, sequence_number }))
}

const anthropic: Say = (text, calls, signature, counted = { input: 1, cached: 0, written: 0, output: 1 }) => {
  const blocks: { start: Event; delta: Event }[] = [
    ...(signature === undefined
      ? []
      : [{ start: { type: 'thinking', thinking: '', signature: '' }, delta: { type: 'signature_delta', signature } }]),
    ...(text === '' ? [] : [{ start: { type: 'text', text: '' }, delta: { type: 'text_delta', text } }]),
    ...calls.map((call) => ({
      start: { type: 'tool_use', id: call.id, name: call.name, input: {} },
      delta: { type: 'input_json_delta', partial_json: call.argumentsText },
    })),
  ]
  // In this API, cached tokens are not part of the input.
  const usage = {
    input_tokens: counted.input - counted.cached - counted.written,
    cache_read_input_tokens: counted.cached,
    cache_creation_input_tokens: counted.written,
    output_tokens: counted.output,
  }
  return [
    {
      type: 'message_start',
      message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage },
    },
    ...blocks.flatMap(({ start, delta }, index): Event[] => [
      { type: 'content_block_start', index, content_block: start },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
}

const gemini: Say = (text, calls, thoughtSignature, counted = { input: 1, cached: 0, written: 0, output: 1 }) => {
  const parts = [
    ...(text === '' ? [] : [{ text }]),
    ...calls.map((call, index) => ({
      functionCall: { name: call.name, args: JSON.parse(call.argumentsText || '{}') },
      ...(index === 0 && thoughtSignature !== undefined && { thoughtSignature }),
    })),
  ]
  return [
    {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
      usageMetadata: {
        promptTokenCount: counted.input,
        candidatesTokenCount: counted.output,
        ...(counted.cached > 0 && { cachedContentTokenCount: counted.cached }),
      },
    },
  ]
}

const SAY: Record<RecordedApi, Say> = {
  'openai-chat': chat,
  'openai-responses': responses,
  'anthropic-messages': anthropic,
  'google-generateContent': gemini,
}
