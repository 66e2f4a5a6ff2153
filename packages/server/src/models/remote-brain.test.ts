import type { ModelEvent } from '@countersign/core'
import { expect, test } from 'vitest'
import { openModel } from './open.ts'
import { data, REQUIRE_ACTION, sse } from './testing/brain-stream.ts'
import { callsOf, collect, messagesOf, textOf } from './testing/collect.ts'
import { answerWith, type ReplayAnswer, startReplayServer } from './testing/replay-server.ts'

async function ask(answer: ReplayAnswer, timeoutMs?: number) {
  await using server = await startReplayServer()
  const { baseUrl } = server.play([answer])
  return await collect(await openModel(`remote/${baseUrl}/chat`, { timeoutMs }))
}

test('a require-action is a call, told with the finish; the tool-input-available before it is not a second one', async () => {
  const body = data(
    { type: 'text-delta', delta: 'I will ' },
    { type: 'text-delta', textDelta: 'set ' },
    { type: 'text-delta', content: 'it.' },
    { ...REQUIRE_ACTION, type: 'tool-input-available' },
    REQUIRE_ACTION,
    { type: 'finish' },
  )
  expect(await ask(sse(body))).toEqual([
    { type: 'text', delta: 'I will ' },
    { type: 'text', delta: 'set ' },
    { type: 'text', delta: 'it.' },
    { type: 'tool_call_start', key: 'call-1', providerCallId: 'call_abc123', name: 'updateOrderStatus' },
    {
      type: 'tool_call',
      key: 'call-1',
      providerCallId: 'call_abc123',
      name: 'updateOrderStatus',
      argumentsText: '{"orderId":"ORD-001","newStatus":"processing"}',
    },
    { type: 'finish', reason: 'tool_calls', providerData: { callIds: ['call_abc123'] } },
  ])
})

test('a tool-input-available alone is a look-up of the brain and starts nothing', async () => {
  const events = await ask(
    sse(data({ ...REQUIRE_ACTION, type: 'tool-input-available' }, { type: 'text-delta', text: 'It is shipped.' }, { type: 'finish' })),
  )
  expect(events).toEqual([
    { type: 'text', delta: 'It is shipped.' },
    { type: 'look_ups', lookUps: [{ id: 'call_abc123', name: 'updateOrderStatus', input: REQUIRE_ACTION.input }] },
    { type: 'finish', reason: 'stop' },
  ])
})

const lookUp = (toolCallId: string | null, toolName: string, input: unknown = {}) => ({
  type: 'tool-input-available',
  toolCallId,
  toolName,
  input,
})
const found = (toolCallId: string, output: unknown) => ({ type: 'tool-output-available', toolCallId, output })
const lookUpsOf = (events: readonly ModelEvent[]) => events.flatMap((event) => (event.type === 'look_ups' ? event.lookUps : []))

test('an output belongs to the look-up of its id, the newest stands, and one without a look-up is ignored', async () => {
  const body = data(
    lookUp('a', 'first'),
    lookUp('b', 'second', 'as text'),
    found('nobody', 1),
    found('b', null),
    found('a', 'partly'),
    found('a', { all: true }),
    { type: 'tool-output-error', toolCallId: 'b', errorText: 'broke' },
    { type: 'tool-output-available', toolCallId: 'a' },
    { type: 'tool-input-available', toolCallId: 'c' },
    { type: 'finish' },
  )
  expect(lookUpsOf(await ask(sse(body)))).toEqual([
    { id: 'a', name: 'first', input: {}, output: { all: true } },
    { id: 'b', name: 'second', input: 'as text', error: 'broke' },
  ])
})

test('what a require-action names is no look-up, whatever the brain says of it before, after or with no id', async () => {
  const again = { ...REQUIRE_ACTION, type: 'tool-input-available' }
  const outcome = found('call_abc123', { status: 'processing' })
  for (const events of [
    [again, outcome, REQUIRE_ACTION],
    [REQUIRE_ACTION, again, outcome],
    [
      { ...again, toolCallId: null },
      { ...REQUIRE_ACTION, toolCallId: null },
    ],
  ]) {
    const heard = await ask(sse(data(...events, { type: 'finish' })))
    expect(lookUpsOf(heard)).toEqual([])
    expect(callsOf(heard)).toHaveLength(1)
  }
})

test('a call of an earlier answer is no look-up when the brain tells of it again', async () => {
  await using server = await startReplayServer()
  const again = data({ ...REQUIRE_ACTION, type: 'tool-input-available' }, found('call_abc123', 'done'), lookUp('new', 'n'), {
    type: 'finish',
  })
  const replay = server.play([sse(data(REQUIRE_ACTION, { type: 'finish' })), sse(again)])
  const spec = `remote/${replay.baseUrl}`
  const model = await openModel(spec, {})
  const messages = messagesOf(await collect(model), spec)
  expect(lookUpsOf(await collect(model, { messages }))).toEqual([{ id: 'new', name: 'n', input: {} }])
})

test('look-ups are told before an error too, also when the connection breaks', async () => {
  for (const end of [data({ type: 'error', error: 'no model' }), '', 'data: not json\n\n']) {
    const events = await ask(sse(data(lookUp('a', 'first'), found('a', 1)) + end))
    expect(events.map(({ type }) => type)).toEqual(['look_ups', 'error'])
  }
})

const LONG = '1234567890123456789'
const line = (event: string): string => `data: ${event}\n\n`

test('a look-up and an event of another protocol may hold a number of 64 bits, any digits and half a character', async () => {
  const body = [
    data(lookUp('a', 'find')),
    line(`{"type":"tool-output-available","toolCallId":"a","output":{"id":${LONG},"score":0.12345678901234567,"big":1e400,"n":12}}`),
    line(`{"type":"tool-input-available","toolCallId":"b","toolName":"find","input":{"id":${LONG}}}`),
    line('{"type":"tool-output-available","toolCallId":"b","output":["\\ud83d","\\ude00 x","\\ud83d\\ude00","\\\\ud83d"]}'),
    line(`{"type":"data-usage","ns":${LONG},"text":"\\uD83D"}`),
    data({ type: 'text-delta', delta: 'Found.' }, { type: 'finish' }),
  ]
  const events = await ask(sse(body.join('')))
  expect(lookUpsOf(events)).toEqual([
    { id: 'a', name: 'find', input: {}, output: { id: LONG, score: '0.12345678901234567', big: '1e400', n: 12 } },
    { id: 'b', name: 'find', input: { id: LONG }, output: ['\ufffd', '\ufffd x', '😀', '\\ud83d'] },
  ])
  expect(textOf(events)).toBe('Found.')
  expect(events.at(-1)).toEqual({ type: 'finish', reason: 'stop' })
})

test('a character that two deltas share is one character; a half without the other is a replacement character', async () => {
  const deltas = [
    '{"type":"text-delta","delta":"Hi \\ud83d"}',
    '{"type":"reasoning-delta","delta":"\\ud83d"}',
    '{"type":"text-delta","text":"\\ude00, \\ud83d, \\ude00"}',
    '{"type":"reasoning-delta","delta":"\\ude01"}',
    '{"type":"text-delta","content":" \\ud83d"}',
  ]
  const events = await ask(sse([...deltas.map(line), data({ type: 'finish' })].join('')))
  expect(textOf(events)).toBe('Hi 😀, \ufffd, \ufffd \ufffd')
  expect(events.flatMap((event) => (event.type === 'reasoning' ? event.delta : []))).toEqual(['😁'])
  for (const event of events) expect(JSON.stringify(event)).not.toContain('\\ud83d')
})

test('a call is told as its brain wrote it: a number that would be rounded and half a character are not mended', async () => {
  for (const [input, argumentsText] of [
    [`{"id":${LONG},"note":"ü"}`, `{"id":${LONG},"note":"ü"}`],
    [`{"of":[{"score":0.12345678901234567},1e400,2]}`, `{"of":[{"score":0.12345678901234567},1e400,2]}`],
    ['{"text":"\\ud83d","\\ude00":1}', '{"text":"\\ud83d","\\ude00":1}'],
    [`"{\\"text\\":\\"\\ud83d\\"}"`, '{"text":"\ud83d"}'],
  ]) {
    const event = line(`{"type":"require-action","toolCallId":"c","toolName":"pay","input":${input}}`)
    const events = await ask(sse(event + data({ type: 'finish' })))
    expect(callsOf(events).map((call) => call.argumentsText)).toEqual([argumentsText])
    expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'tool_calls' })
  }
  const elsewhere = line(`{"type":"require-action","at":${LONG},"toolCallId":"c","toolName":"pay","input":{"n":1}}`)
  expect(callsOf(await ask(sse(elsewhere + data({ type: 'finish' })))).map((call) => call.argumentsText)).toEqual(['{"n":1}'])
})

test('the type may be the name of the event, and [DONE] may end the stream', async () => {
  const events = await ask(sse('event: text-delta\r\ndata: {"delta":"Hello"}\r\n\r\nevent: finish\r\ndata: {}\r\n\r\ndata: [DONE]\r\n\r\n'))
  expect(events).toEqual([
    { type: 'text', delta: 'Hello' },
    { type: 'finish', reason: 'stop' },
  ])
})

test('a stream that ends without a finish has no calls, however whole they look', async () => {
  for (const end of ['', 'data: [DONE]\n\n', 'data: {"type":"finish"}']) {
    const events = await ask(sse(data(REQUIRE_ACTION) + end))
    expect(callsOf(events)).toEqual([])
    expect(events.at(-1)).toMatchObject({ type: 'error', code: 'model_broken_stream', retryable: true })
  }
})

test('a finish with length or an unknown reason releases no call', async () => {
  for (const [finishReason, reason] of [
    ['length', 'length'],
    ['content-filter', 'content_filter'],
    ['error', 'other'],
  ]) {
    expect(await ask(sse(data(REQUIRE_ACTION, { type: 'finish', finishReason })))).toEqual([
      { type: 'tool_call_start', key: 'call-1', providerCallId: 'call_abc123', name: 'updateOrderStatus' },
      { type: 'finish', reason },
    ])
  }
})

test('the same toolCallId twice makes two calls, never one of both', async () => {
  const events = await ask(sse(data(REQUIRE_ACTION, { ...REQUIRE_ACTION, input: { orderId: 'ORD-002' } }, { type: 'finish' })))
  expect(callsOf(events).map((call) => [call.key, call.argumentsText])).toEqual([
    ['call-1', '{"orderId":"ORD-001","newStatus":"processing"}'],
    ['call-2', '{"orderId":"ORD-002"}'],
  ])
})

test('a token in the address of a brain is in nothing that it says, not even when it repeats its request', async () => {
  await using server = await startReplayServer()
  const said = 'You asked /chat?mode=careful&api_key=hidden%2F0123456789, with hidden/0123456789, and I am careful.'
  const refusal = new TextEncoder().encode(JSON.stringify({ error: { message: said } }))
  const replay = server.play([
    sse(data({ type: 'text-delta', delta: said }, { type: 'finish' })),
    answerWith({ status: 403, contentType: 'application/json', body: refusal }),
  ])
  const model = await openModel(`remote/${replay.baseUrl}/chat?mode=careful&api_key=hidden%2F0123456789`, {})
  expect(textOf(await collect(model))).toBe('You asked /chat[redacted], with [redacted], and I am careful.')
  const refused = JSON.stringify(await collect(model))
  expect(refused).toContain('You asked')
  expect(refused).not.toContain('hidden')
  expect(replay.requests[0]?.path).toBe('/chat?mode=careful&api_key=hidden%2F0123456789')
})

test('a key that a long error repeats is redacted whole, also where the error is cut', async () => {
  const key = 'brain-key-0123456789abcdefghijklmnopqrstuvwxyz'
  await using server = await startReplayServer()
  for (let before = 100; before < 640; before += 10) {
    const text = `${'x'.repeat(before)} ${key} is not a key we know ${'y'.repeat(800)}`
    for (const answer of [
      sse(text, { status: 401, contentType: 'text/plain' }),
      sse(`data: ${text}\n\n`),
      sse(data({ type: 'error', message: text })),
    ]) {
      const { baseUrl } = server.play([answer])
      const model = await openModel(`remote/${baseUrl}/chat`, { remote: { headers: { 'x-brain-key': key } } })
      const last = (await collect(model)).at(-1)
      expect(last, `${before}`).toMatchObject({ type: 'error', message: expect.not.stringContaining('brain-key') })
      expect((last as Extract<ModelEvent, { type: 'error' }>).message.length).toBeLessThanOrEqual(601)
    }
  }
})

test('text does not depend on where the bytes were cut', async () => {
  const body = new TextEncoder().encode(data({ type: 'text-delta', delta: 'Größe 🙂' }, REQUIRE_ACTION, { type: 'finish' }))
  const events = await ask(answerWith({ status: 200, contentType: 'text/event-stream', body }, [...body.keys()]))
  expect(textOf(events)).toBe('Größe 🙂')
  expect(callsOf(events)).toHaveLength(1)
})

test('what the brain says went wrong is an error with its words', async () => {
  for (const event of [
    { type: 'error', error: 'no model' },
    { type: 'error', errorText: 'no model' },
    { type: 'error', error: { message: 'no model' } },
  ]) {
    expect((await ask(sse(data(event)))).at(-1)).toMatchObject({
      type: 'error',
      code: 'model_error',
      message: expect.stringContaining('no model'),
    })
  }
})

test('an error that is cut does not end in half of a character', async () => {
  for (const before of ['', 'x']) {
    const [event] = await ask(sse(data({ type: 'error', error: before + '😀'.repeat(600) })))
    if (event?.type !== 'error') throw new Error('no error')
    expect(event.message).toHaveLength(601)
    expect(event.message.isWellFormed()).toBe(true)
  }
})

test('a refusal, a page, a broken event and an absent brain are told apart', async () => {
  expect(await ask(sse('{"error":"bad key"}', { status: 401, contentType: 'application/json' }))).toMatchObject([
    { type: 'error', code: 'model_refused_request', retryable: false, message: expect.stringContaining('bad key') },
  ])
  expect(await ask(sse('', { status: 503 }))).toMatchObject([{ type: 'error', code: 'model_overloaded', retryable: true }])
  expect(await ask(sse('<html>', { contentType: 'text/html' }))).toMatchObject([
    { type: 'error', code: 'model_broken_stream', message: expect.stringContaining('text/html') },
  ])
  for (const broken of ['data: not json\n\n', 'data: {"type":"require-action","toolCallId":"a"}\n\n', 'data: 3\n\n']) {
    expect(await ask(sse(broken))).toMatchObject([{ type: 'error', code: 'model_broken_stream' }])
  }
  expect(await collect(await openModel('remote/http://127.0.0.1:1/', {}))).toMatchObject([
    { type: 'error', code: 'model_unreachable', retryable: true },
  ])
})

test('an event over 1 MB and an answer over 16 MB are refused', async () => {
  const large = data({ type: 'text-delta', delta: 'x'.repeat(1024 * 1024 + 1) }, { type: 'finish' })
  expect((await ask(sse(large))).at(-1)).toMatchObject({
    type: 'error',
    code: 'model_broken_stream',
    message: expect.stringContaining('1 MB'),
    retryable: false,
  })
  const endless = data({ type: 'text-delta', delta: 'x'.repeat(500_000) }).repeat(40)
  expect((await ask(sse(endless))).at(-1)).toMatchObject({
    type: 'error',
    code: 'model_broken_stream',
    message: expect.stringContaining('without end'),
  })
})

test('a silent brain is given up after the timeout', async () => {
  const never = Promise.withResolvers<void>()
  const chunks = (async function* () {
    yield new TextEncoder().encode(data({ type: 'text-delta', delta: 'Well' }))
    await never.promise
  })()
  expect((await ask({ status: 200, contentType: 'text/event-stream', chunks }, 50)).at(-1)).toMatchObject({
    type: 'error',
    code: 'model_unreachable',
  })
  never.resolve()
})
