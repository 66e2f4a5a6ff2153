import { expect, test } from 'vitest'
import type { RecordedApi } from '../../packages/server/src/models/testing/recordings.ts'
import { answerWith, holdBack, type ReplayAnswer, startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { speak } from '../../packages/server/src/models/testing/speak.ts'
import { PROVIDERS, providerEnvironment } from '../testing/providers.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

/** Splits an answer after its text: the first part has no end and no finish reason. */
function inTwo(api: RecordedApi): [Uint8Array, Uint8Array] {
  const bytes = (text: string) => Buffer.concat([...(speak(api, { text }).chunks as Uint8Array[])])
  if (api === 'google-generateContent') {
    const part = { candidates: [{ content: { role: 'model', parts: [{ text: 'First words, ' }] }, index: 0 }] }
    return [Buffer.from(`data: ${JSON.stringify(part)}\n\n`), bytes('and more.')]
  }
  const whole = bytes('First words, and more.')
  const cut = whole.indexOf('\n\n', whole.indexOf('First words')) + 2
  return [whole.subarray(0, cut), whole.subarray(cut)]
}

for (const { model, api } of PROVIDERS) {
  test(`with ${model}, the first words reach the reader before the provider has sent its last`, async () => {
    const [begin, rest] = inTwo(api)
    const last = Promise.withResolvers<void>()
    let isLastSent = false
    const answer: ReplayAnswer = {
      status: 200,
      contentType: 'text/event-stream',
      chunks: (async function* () {
        yield begin
        await last.promise
        isLastSent = true
        yield rest
      })(),
    }
    await using providers = await startReplayServer()
    const { baseUrl } = providers.play([answer])
    await using server = await startTestServer({
      config: { agents: { desk: { model } } },
      environment: providerEnvironment(baseUrl),
    })
    using stream = await server.admin.stream('/api/chat', { body: { message: 'hello' } })
    const { content } = await stream.next('delta')
    expect(content).toMatch(/^First/)
    expect(isLastSent).toBe(false)
    last.resolve()
    const { message } = await stream.next('message', (data) => data.message.role === 'assistant')
    expect(message.content).toBe('First words, and more.')
    await stream.next('done')
  })
}

/** Returns one chunk of an answer in the format of the chat API. */
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

for (const { provider, name } of [
  { provider: 'openai-chat', name: ['keyed'] },
  { provider: 'openai-chat', name: ['ke', 'y', 'ed'] },
  { provider: 'openai-compatible', name: ['ke', 'yed'] },
]) {
  test(`${provider}: fragments of several calls are put together by their index, also a name in ${name.length} pieces`, async () => {
    const part = (index: number, call: object) => chunk({ tool_calls: [{ index, ...call }] })
    const frames = [
      chunk({ role: 'assistant', content: null }),
      part(0, { id: 'call_a', type: 'function', function: { name: name[0], arguments: '' } }),
      ...name.slice(1).map((piece) => part(0, { function: { name: piece } })),
      part(0, { function: { arguments: '{"wh' } }),
      part(1, { id: 'call_b', type: 'function', function: { name: 'unkeyed', arguments: '{"what":' } }),
      part(0, { function: { arguments: 'at":"first \\u00' } }),
      part(1, { function: { arguments: '"second"}' } }),
      part(0, { function: { arguments: 'e9"}' } }),
      chunk({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ]
    await using target = await startTarget(() => ({ status: 200 }))
    await using providers = await startReplayServer()
    const isCallSeen = Promise.withResolvers<void>()
    const answer = answerWith({ status: 200, contentType: 'text/event-stream', body: Buffer.from(frames.join('')) })
    const { baseUrl } = providers.play([holdBack(answer, '"finish_reason":"tool_calls"', isCallSeen.promise)])
    await using server = await startTestServer({
      config: { agents: { desk: { model: `${provider}/m`, tools: ['*'] } }, tools: toolsOf(target) },
      environment: providerEnvironment(baseUrl),
    })
    using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
    expect((await stream.next('tool_call_start')).toolCall.name).toBe('keyed')
    isCallSeen.resolve()
    const first = (await stream.next('action_proposed')).proposal
    const second = (await stream.next('action_proposed')).proposal
    expect([first, second]).toMatchObject([
      { tool: 'keyed', toolCallId: 'call_a', arguments: { what: 'first é' } },
      { tool: 'unkeyed', toolCallId: 'call_b', arguments: { what: 'second' } },
    ])
  })
}

test('a run tells its text, its calls, its actions and its end, each as an event of its own type', async () => {
  // The whole message replaces its chunks, so it comes after the reader has had them.
  const hasPieces = Promise.withResolvers<void>()
  const speech = (async function* () {
    yield Buffer.from(chunk({ role: 'assistant', reasoning_content: 'Hm.' }))
    yield Buffer.from(chunk({ content: 'Let me.' }))
    const call = { index: 0, id: 'call_a', type: 'function', function: { name: 'keyed', arguments: '{"what":"x"}' } }
    yield Buffer.from(chunk({ tool_calls: [call] }))
    await hasPieces.promise
    yield Buffer.from(`${chunk({}, 'tool_calls')}data: [DONE]\n\n`)
  })()
  await using target = await startTarget(() => ({ status: 200, body: { id: 5 } }))
  await using providers = await startReplayServer()
  const { baseUrl } = providers.play([
    { status: 200, contentType: 'text/event-stream', chunks: speech },
    speak('openai-chat', { text: 'Done.' }),
  ])
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'openai-compatible/m', tools: ['*'] } }, tools: toolsOf(target) },
    environment: providerEnvironment(baseUrl),
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId, runId } = await stream.next('session')
  const { toolCall } = await stream.next('tool_call_start')
  hasPieces.resolve()
  const { proposal } = await stream.next('action_proposed')
  expect(toolCall).toEqual({ id: proposal.toolCallId, name: 'keyed' })
  await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  const result = await stream.next('tool_call_result')
  expect(result).toEqual({ toolCall: { ...toolCall, result: { id: 5 } }, actionId: proposal.id })
  const done = await stream.next('done')
  expect(done.runId).toBe(runId)
  const seen = await stream.ended()
  expect(seen[0]).toMatchObject({ type: 'session', id: undefined, data: { sessionId } })
  const ids = seen.slice(1).map(({ id }) => Number(id))
  expect(ids).toEqual([...ids].sort((a, b) => a - b))
  expect(new Set(ids).size).toBe(ids.length)
  const states = seen.flatMap(({ type, data }) => (type === 'action_update' ? [(data as { state: string }).state] : []))
  expect(states).toEqual(['approved', 'executing', 'succeeded'])
  expect(new Set(seen.map(({ type }) => type))).toEqual(
    new Set([
      ...['session', 'session_status', 'message', 'delta', 'reasoning_delta', 'tool_call_start'],
      ...['action_proposed', 'action_update', 'tool_call_result', 'done'],
    ]),
  )
})

test('every call that began has its result in the stream, also one that becomes no action', async () => {
  const answer = speak('openai-chat', {
    calls: [
      { id: 'call_a', name: 'nowhere', argumentsText: '{}' },
      { id: 'call_b', name: 'keyed', argumentsText: '{"what":5}' },
      { id: 'call_c', name: 'keyed', argumentsText: '{"what":' },
      { id: 'call_d', name: 'keyed', argumentsText: '{"what":"x"}' },
      { id: 'call_e', name: 'keyed', argumentsText: '{"what":"x"}' },
    ],
  })
  await using target = await startTarget(() => ({ status: 200 }))
  await using providers = await startReplayServer()
  const areCallsSeen = Promise.withResolvers<void>()
  const { baseUrl } = providers.play([
    holdBack(answer, '"finish_reason":"tool_calls"', areCallsSeen.promise),
    speak('openai-chat', { text: 'Then not.' }),
  ])
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'openai-chat/m', tools: ['*'] } }, tools: toolsOf(target) },
    environment: providerEnvironment(baseUrl),
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  await stream.next('tool_call_start', ({ toolCall }) => toolCall.id === 'call_e')
  areCallsSeen.resolve()
  const { proposal } = await stream.next('action_proposed')
  await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'decline' })
  const seen = await stream.ended()
  const started = seen.flatMap(({ type, data }) => (type === 'tool_call_start' ? [data] : [])) as { toolCall: object }[]
  const results = seen.flatMap(({ type, data }) => (type === 'tool_call_result' ? [data] : []))
  expect(started.map(({ toolCall }) => toolCall)).toHaveLength(5)
  expect(results).toEqual([
    { toolCall: { id: 'call_a', name: 'nowhere', result: { error: 'there is no tool "nowhere"' } } },
    { toolCall: { id: 'call_b', name: 'keyed', result: { error: expect.stringContaining('what must be') } } },
    { toolCall: { id: 'call_c', name: 'keyed', result: { error: expect.stringContaining('the arguments are not valid') } } },
    { toolCall: { id: 'call_e', name: 'keyed', result: { error: expect.stringContaining('This is the same call as call_d') } } },
    { toolCall: { id: 'call_d', name: 'keyed', result: { declined: true, reason: 'User declined' } }, actionId: proposal.id },
  ])
})

test('a run that cannot go on ends its stream with an error event', async () => {
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json' } } },
    scripts: { talk: [{ text: 'Well', error: 'the model is on fire' }] },
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { runId } = await stream.next('session')
  expect(await stream.next('error')).toEqual({ code: 'model_error', error: 'the model is on fire', runId })
  expect((await stream.ended()).at(-1)?.type).toBe('error')
})
