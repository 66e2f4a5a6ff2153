import { expect, test } from 'vitest'
import { answerWith, type ReplayAnswer, startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { speak } from '../../packages/server/src/models/testing/speak.ts'
import type { BrainSpeech } from '../testing/brain-says.ts'
import { brainSays } from '../testing/brain-says.ts'
import { PROVIDERS, providerEnvironment } from '../testing/providers.ts'
import { call } from '../testing/talk.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

/** Runs one message against a model with this answer and expects that no part of it becomes an action. */
async function expectNoAction(model: string, answer: (baseUrl: string) => ReplayAnswer, code: RegExp): Promise<string> {
  await using target = await startTarget(() => ({ status: 200 }))
  await using providers = await startReplayServer()
  const answers: ReplayAnswer[] = []
  const { baseUrl, requests } = providers.play(answers)
  answers.push(answer(baseUrl))
  await using server = await startTestServer({
    config: { agents: { desk: { model: model === 'remote' ? `remote/${baseUrl}` : model, tools: ['*'] } }, tools: toolsOf(target) },
    environment: providerEnvironment(baseUrl),
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const note = (await stream.next('message', (data) => data.message.role === 'system')).message
  const error = await stream.next('error')
  expect(error.code).toMatch(code)
  expect(note).toMatchObject({ kind: 'note', content: error.error })
  expect((await stream.ended()).some(({ type }) => type === 'action_proposed' || type === 'done')).toBe(false)
  expect(await server.admin.get('/api/actions')).toEqual({ items: [], nextCursor: null })
  expect(await server.admin.get(`/api/sessions/${sessionId}`)).toMatchObject({ status: 'error', pendingApprovals: [] })
  expect(requests).toHaveLength(1)
  expect(target.writes).toEqual([])
  expect(server.errors).toEqual([])
  return error.error
}

const CALL = { text: 'I will.', calls: [{ id: 'call_1', name: 'keyed', argumentsText: '{"what":"something"}' }] }
const bytesOf = ({ chunks }: ReplayAnswer) => Buffer.concat([...(chunks as Iterable<Uint8Array>)])
const stream = (body: Uint8Array, ending: 'end' | 'reset' = 'end'): ReplayAnswer => ({
  ...answerWith({ status: 200, contentType: 'text/event-stream', body }),
  ending,
})

for (const { model, api } of PROVIDERS) {
  test(`with ${model}, a stream that is cut inside or behind a call makes no action`, async () => {
    const whole = bytesOf(speak(api, CALL))
    // Gemini sends one event for the whole answer, so the only cut is in its middle.
    const marks = api === 'google-generateContent' ? ['something'] : ['keyed', 'something', 'I will']
    for (const mark of marks) {
      const cut = whole.indexOf(mark) + mark.length
      for (const ending of ['end', 'reset'] as const) {
        const said = await expectNoAction(model, () => stream(whole.subarray(0, cut), ending), /^model_/)
        expect(said).not.toBe('')
      }
    }
  })

  test(`with ${model}, an error on HTTP 200 makes no action, also behind a whole call`, async () => {
    const error = Buffer.from('data: {"error":{"message":"the backend is on fire","code":500,"type":"server_error"},"type":"error"}\n\n')
    expect(await expectNoAction(model, () => stream(error), /^model_/)).toContain('on fire')
    const body = { status: 200, contentType: 'application/json', body: Buffer.from('{"error":{"message":"the backend is on fire"}}') }
    await expectNoAction(model, () => answerWith(body), /^model_/)
  })

  test(`with ${model}, a refusal by the provider ends the run in its words and without the key`, async () => {
    const message = 'the key key-of-a-test is not valid'
    const refusal =
      api === 'anthropic-messages'
        ? { type: 'error', error: { type: 'authentication_error', message } }
        : { error: { message, code: 401, status: 'UNAUTHENTICATED', type: 'invalid_request_error' } }
    const body = Buffer.from(JSON.stringify(refusal))
    const said = await expectNoAction(
      model,
      () => answerWith({ status: 401, contentType: 'application/json', body }),
      /^model_refused_request$/,
    )
    expect(said).toContain('is not valid')
    expect(said).not.toContain('key-of-a-test')
  })
}

const remote = (speech: BrainSpeech, more: string, without?: string): ReplayAnswer => {
  const text = bytesOf(brainSays(speech)).toString()
  const lines = text.split('\n\n').filter((line) => line !== '' && (without === undefined || !line.includes(without)))
  return stream(Buffer.from(`${lines.join('\n\n')}\n\n${more}`))
}
const BRAIN_CALL = { text: 'I will.', calls: [call('a', 'keyed', 'something')] }

for (const [what, answer, code] of [
  ['a stream without a finish', remote(BRAIN_CALL, '', '"finish"'), /^model_broken_stream$/],
  ['a finish for its length', remote(BRAIN_CALL, 'data: {"type":"finish","finishReason":"length"}\n\n', '"finish"'), /^model_truncated$/],
  ['a stop by a filter', remote(BRAIN_CALL, 'data: {"type":"finish","finishReason":"content-filter"}\n\n', '"finish"'), /^model_stopped$/],
  ['an error event', remote(BRAIN_CALL, 'data: {"type":"error","error":"out of ideas"}\n\n', '"finish"'), /^model_error$/],
  ['an event that is not JSON', remote(BRAIN_CALL, 'data: {"type":\n\n', '"finish"'), /^model_broken_stream$/],
  ['a call without a name', remote({ text: 'x' }, 'data: {"type":"require-action","input":{}}\n\n', '"finish"'), /^model_broken_stream$/],
  ['a web page', answerWith({ status: 200, contentType: 'text/html', body: Buffer.from('<h1>Hello</h1>') }), /^model_broken_stream$/],
  ['nothing at all', stream(Buffer.from('')), /^model_broken_stream$/],
  ['HTTP 500', answerWith({ status: 500, contentType: 'text/plain', body: Buffer.from('oops') }), /^model_error$/],
] as const) {
  test(`with a remote brain, ${what} makes no action`, async () => {
    await expectNoAction('remote', () => answer, code)
  })
}

test('after a model that broke, the next message starts a run that works', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using brains = await startReplayServer()
  const { baseUrl } = brains.play([
    remote({ text: 'I was about to' }, '', '"finish"'),
    brainSays(BRAIN_CALL),
    brainSays({ text: 'Better now.' }),
  ])
  await using server = await startTestServer({
    config: { agents: { desk: { model: `remote/${baseUrl}`, tools: ['*'] } }, tools: toolsOf(target) },
  })
  using broken = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await broken.next('session')
  // The session keeps the text that came before the break.
  await broken.next('message', (data) => data.message.role === 'assistant' && data.message.content === 'I was about to')
  await broken.next('error')
  using stream = await server.admin.stream('/api/chat', { body: { sessionId, message: 'try again' } })
  const { proposal } = await stream.next('action_proposed')
  await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await stream.next('message', (data) => data.message.content === 'Better now.')
  await stream.ended()
  expect(await server.admin.get(`/api/sessions/${sessionId}`)).toMatchObject({ status: 'completed' })
})

for (const finish of ['none', 'length', 'content_filter', 'other'] as const) {
  test(`a whole call in an answer that ends with "${finish}" makes no action`, async () => {
    await using target = await startTarget(() => ({ status: 200 }))
    await using server = await startTestServer({
      config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target) },
      scripts: { talk: [{ text: 'I will.', calls: [{ tool: 'keyed', arguments: { what: 'something' } }], finish }] },
    })
    using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
    const { message } = await stream.next('message', (data) => data.message.role === 'system')
    expect((await stream.next('error')).error).toBe(message.content)
    expect(message.content).toContain('Nothing of what it was about to do was carried out')
    await stream.ended()
    expect((await server.admin.get('/api/actions')).items).toEqual([])
    expect(target.writes).toEqual([])
  })
}

test('an answer closed without a finish reason is used, and a note in the chat says so', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using providers = await startReplayServer()
  const said = bytesOf(speak('openai-chat', CALL)).toString().replace('"finish_reason":"tool_calls"', '"finish_reason":null')
  const { baseUrl, requests } = providers.play([stream(Buffer.from(`${said}data: [DONE]\n\n`)), speak('openai-chat', { text: 'Done.' })])
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'openai-compatible/m', tools: ['*'] } }, tools: toolsOf(target) },
    environment: providerEnvironment(baseUrl),
  })
  using chat = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { message } = await chat.next('message', (data) => data.message.kind === 'note')
  expect(message.content).toBe('The model did not say why it ended its answer. The answer is whole as far as we can tell, so it is used.')
  const { proposal } = await chat.next('action_proposed')
  await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await chat.next('message', (data) => data.message.content === 'Done.')
  await chat.ended()
  expect(target.writes).toHaveLength(1)
  // The note is not sent to the model.
  expect(JSON.stringify(requests[1]?.body)).not.toContain('as far as we can tell')
})

// The other APIs send no text after a whole call.
for (const { model, api } of PROVIDERS.filter(({ api }) => api === 'openai-chat' || api === 'anthropic-messages')) {
  test(`with ${model}, an error of two parts is two sentences`, async () => {
    await using target = await startTarget(() => ({ status: 200 }))
    await using providers = await startReplayServer()
    const whole = bytesOf(speak(api, CALL))
    const error = Buffer.from('data: {"error":{"message":"the backend is on fire","code":500,"type":"server_error"},"type":"error"}\n\n')
    const { baseUrl } = providers.play([stream(Buffer.concat([whole, error]))])
    await using server = await startTestServer({
      config: { agents: { desk: { model, tools: ['*'] } }, tools: toolsOf(target) },
      environment: providerEnvironment(baseUrl),
    })
    using chat = await server.admin.stream('/api/chat', { body: { message: 'go' } })
    const { error: said } = await chat.next('error')
    expect(said).toMatch(/the backend is on fire\. Nothing of what it was about to do was carried out\.$/)
  })
}

test('an answer that its provider paused is kept, and a note in the chat says that it may not be complete', async () => {
  await using providers = await startReplayServer()
  const said = bytesOf(speak('anthropic-messages', { text: 'I have found two of' })).toString()
  const { baseUrl } = providers.play([stream(Buffer.from(said.replace('end_turn', 'pause_turn')))])
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'anthropic/m' } } },
    environment: providerEnvironment(baseUrl),
  })
  using chat = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { message } = await chat.next('message', (data) => data.message.kind === 'note')
  expect(message.content).toContain('may not be complete')
  await chat.ended()
  const { items } = await server.admin.get(`/api/sessions/${message.sessionId}/messages`)
  expect(items.map(({ content }: { content: string }) => content)).toContain('I have found two of')
})
