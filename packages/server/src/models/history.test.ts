import { type ModelMessage, type ModelTool, toolResultValue } from '@countersign/core'
import { expect, test } from 'vitest'
import { historyProblem, toPrompt } from './history.ts'
import { openModel } from './open.ts'
import { callsOf, collect, messagesOf } from './testing/collect.ts'
import { modelFor, type RecordedApi } from './testing/recordings.ts'
import { type Replay, startReplayServer } from './testing/replay-server.ts'
import { speak } from './testing/speak.ts'
import { countCalls, historyProblems } from './testing/strict-history.ts'

const APIS: { api: RecordedApi; vendor: string }[] = [
  { api: 'openai-chat', vendor: 'OpenAI' },
  { api: 'openai-chat', vendor: 'Mistral' },
  { api: 'openai-responses', vendor: 'OpenAI' },
  { api: 'anthropic-messages', vendor: 'Anthropic' },
  { api: 'google-generateContent', vendor: 'Google' },
]

const TOOLS: ModelTool[] = [
  { name: 'refund', description: 'Give money back', inputSchema: { type: 'object', properties: { orderId: { type: 'string' } } } },
]

const TWO_CALLS = {
  text: 'Two refunds.',
  calls: [
    { id: 'functions.refund:0', name: 'refund', argumentsText: '{"orderId":"ORD-001"}' },
    { id: 'functions.refund:0', name: 'refund', argumentsText: '{"orderId":"ORD-002"}' },
  ],
}

for (const { api, vendor } of APIS) {
  test(`${api} of ${vendor}: two parallel calls, one done and one declined, go back as a history it takes, also when its ids repeat`, async () => {
    await using server = await startReplayServer()
    const replay = server.play([speak(api, TWO_CALLS), speak(api, TWO_CALLS), speak(api, { text: 'Done.' })])
    const { spec, settings } = modelFor({ api, vendor, model: 'm' }, replay.baseUrl)
    const model = await openModel(spec, settings)
    const messages: ModelMessage[] = [{ role: 'user', content: 'Refund both' }]
    const instructions = 'You run the order desk.'
    for (const step of [1, 2]) {
      const events = await collect(model, { instructions, messages: [...messages], tools: TOOLS })
      expect(callsOf(events).map((call) => call.argumentsText)).toEqual(TWO_CALLS.calls.map((call) => call.argumentsText))
      expect(new Set(callsOf(events).map((call) => call.key)).size).toBe(2)
      messages.push(...messagesOf(events, spec, step))
    }
    expect((await collect(model, { instructions, messages, tools: TOOLS })).at(-1)).toMatchObject({ type: 'finish', reason: 'stop' })

    const body = lastBody(replay)
    expect(historyProblems(api, body)).toEqual([])
    expect(countCalls(api, body)).toBe(4)
    // Gemini accepts a result as an object, the others as a text with JSON in it.
    const text = JSON.stringify(body).replaceAll('\\"', '"')
    expect(text).toContain('"declined":true,"reason":"User declined"')
    expect(text).toContain('You run the order desk.')
    expect(text).toContain('Give money back')
  })

  test(`${api} of ${vendor}: what another model left behind is not sent to it, its words and calls are`, async () => {
    await using server = await startReplayServer()
    const replay = server.play([speak(api, { text: 'Done.' })])
    const { spec, settings } = modelFor({ api, vendor, model: 'm' }, replay.baseUrl)
    const model = await openModel(spec, settings)
    const secret = { parts: [{ type: 'reasoning', text: 'I think', providerOptions: { anthropic: { signature: 'of-another' } } }] }
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Refund' },
      {
        role: 'assistant',
        content: 'I will.',
        toolCalls: [{ id: 'call_1', name: 'refund', arguments: { orderId: 'ORD-001' } }],
        model: 'anthropic/another',
        providerData: secret,
      },
      { role: 'tool', toolCallId: 'call_1', toolName: 'refund', outcome: { type: 'output', value: 'done' } },
    ]
    await collect(model, { messages })
    const text = JSON.stringify(lastBody(replay))
    expect(historyProblems(api, lastBody(replay))).toEqual([])
    expect(text).not.toContain('of-another')
    expect(text).not.toContain('I think')
    expect(text).toContain('I will.')
    expect(text).toContain('ORD-001')
  })

  test(`${api} of ${vendor}: white space alone is not sent back as words, whoever said it`, async () => {
    await using server = await startReplayServer()
    const { calls } = TWO_CALLS
    const replay = server.play([speak(api, { text: '\n\n', calls, signature: 'signed' }), speak(api, { text: 'Done.' })])
    const { spec, settings } = modelFor({ api, vendor, model: 'm' }, replay.baseUrl)
    const model = await openModel(spec, settings)
    const own = messagesOf(await collect(model), spec)
    const messages: ModelMessage[] = [
      { role: 'user', content: 'Refund both' },
      {
        role: 'assistant',
        content: ' \n',
        toolCalls: [{ id: 'call_0', name: 'refund', arguments: {} }],
        model: 'openai-compatible/another',
      },
      { role: 'tool', toolCallId: 'call_0', toolName: 'refund', outcome: { type: 'output', value: null } },
      ...own,
      { role: 'assistant', content: '\n', toolCalls: [], model: 'openai-compatible/another' },
      { role: 'user', content: 'And?' },
    ]
    await collect(model, { messages })
    expect(historyProblems(api, lastBody(replay))).toEqual([])
    expect(countCalls(api, lastBody(replay))).toBe(3)
  })
}

test('Mistral takes ids of nine letters or digits and gets them, the same ones in every request', async () => {
  const call = (id: string): ModelMessage[] => [
    { role: 'assistant', content: '', toolCalls: [{ id, name: 'refund', arguments: {} }] },
    { role: 'tool', toolCallId: id, toolName: 'refund', outcome: { type: 'output', value: null } },
  ]
  const ids = (messages: ModelMessage[]) =>
    toPrompt('', messages, { model: 'm', callId: /^[a-zA-Z0-9]{9}$/ }).flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.flatMap((part) => ('toolCallId' in part ? [part.toolCallId] : [])),
    )
  const first = ids(call('call_01k9f3v7qs4m'))
  expect(first).toEqual(['call00001', 'call00001'])
  expect(ids([...call('call_01k9f3v7qs4m'), ...call('call_01k9f3v7qs4n')])).toEqual([...first, 'call00002', 'call00002'])
})

test('a model hears of its calls under the ids that it gave them, whatever they look like', () => {
  const step = (id: string, model: string): ModelMessage[] => [
    { role: 'assistant', content: '', toolCalls: [{ id, name: 'refund', arguments: {} }], model },
    { role: 'tool', toolCallId: id, toolName: 'refund', outcome: { type: 'output', value: null } },
  ]
  const ids = (messages: ModelMessage[]) =>
    toPrompt('', messages, { model: 'openai-compatible/kimi', callId: /^[a-zA-Z0-9]{9}$/ }).flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.flatMap((part) => ('toolCallId' in part ? [part.toolCallId] : [])),
    )
  const own = step('functions.refund:0', 'openai-compatible/kimi')
  expect(ids(own)).toEqual(['functions.refund:0', 'functions.refund:0'])
  expect(ids([...own, ...step('abcdefgh1', 'mistral')])).toEqual(['functions.refund:0', 'functions.refund:0', 'abcdefgh1', 'abcdefgh1'])
  expect(ids([...own, ...step('toolu_01k9f3v7qs4m', 'anthropic/m')])).toEqual(['call00001', 'call00001', 'call00002', 'call00002'])
})

test('edited arguments are what the provider sees, beside the signature of its own call', () => {
  const providerData = { parts: [{ type: 'call', name: 'refund', providerOptions: { google: { thoughtSignature: 'signed' } } }] }
  const messages: ModelMessage[] = [
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'call_1', name: 'refund', arguments: { amount: 5 } }],
      model: 'google/m',
      providerData,
    },
    { role: 'tool', toolCallId: 'call_1', toolName: 'refund', outcome: { type: 'output', value: null } },
  ]
  expect(toPrompt('', messages, { model: 'google/m', callId: /./ })[0]).toEqual({
    role: 'assistant',
    content: [
      {
        type: 'tool-call',
        toolCallId: 'call_1',
        toolName: 'refund',
        input: { amount: 5 },
        providerOptions: { google: { thoughtSignature: 'signed' } },
      },
    ],
  })
})

test('a message that is no longer what the provider said is sent plainly', () => {
  const providerData = { parts: [{ type: 'text', text: 'A secret', providerOptions: { openai: { itemId: 'msg_1' } } }] }
  const messages: ModelMessage[] = [{ role: 'assistant', content: '[removed]', toolCalls: [], model: 'openai/m', providerData }]
  expect(toPrompt('', messages, { model: 'openai/m', callId: /./ })).toEqual([
    { role: 'assistant', content: [{ type: 'text', text: '[removed]' }] },
  ])
})

test('each outcome is worded as the contract says', () => {
  expect(toolResultValue({ type: 'output', value: { total: 3 } })).toEqual({ total: 3 })
  expect(toolResultValue({ type: 'declined', reason: 'Timeout' })).toEqual({ declined: true, reason: 'Timeout' })
  expect(toolResultValue({ type: 'error', message: 'no stock' })).toEqual({ error: 'no stock' })
  expect(toolResultValue({ type: 'outcome_unknown', message: 'cut off' })).toEqual({ outcome_unknown: true, message: 'cut off' })
})

test('a history with a call that has no result, two results, or a result without a call is refused before anything is sent', async () => {
  const assistant: ModelMessage = { role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name: 'refund', arguments: {} }] }
  const result: ModelMessage = { role: 'tool', toolCallId: 'call_1', toolName: 'refund', outcome: { type: 'output', value: null } }
  const user: ModelMessage = { role: 'user', content: 'Hello' }
  expect(historyProblem([user, assistant, result, user])).toBeUndefined()
  expect(historyProblem([user, assistant])).toContain('no result for the call call_1')
  expect(historyProblem([user, assistant, user, result])).toContain('no result for the call call_1')
  expect(historyProblem([user, assistant, result, result])).toContain('which was not called right before it')
  expect(historyProblem([user, result])).toContain('which was not called right before it')
  expect(historyProblem([user, assistant, result, assistant, result])).toContain('two calls with the id call_1')

  await using server = await startReplayServer()
  const replay = server.play([speak('openai-responses', { text: 'Hello' })])
  const model = await openModel('openai/m', { openai: { apiKey: 'k', baseUrl: replay.baseUrl } })
  expect(await collect(model, { messages: [user, assistant] })).toMatchObject([
    { type: 'error', code: 'model_refused_request', retryable: false },
  ])
  expect(replay.requests).toEqual([])
})

const lastBody = (replay: Replay): unknown => replay.requests.at(-1)?.body
