import type { ModelEvent } from '@countersign/core'
import { expect, test } from 'vitest'
import { openModel } from './open.ts'
import { ask, chunk, sse, TEXT } from './testing/ask.ts'
import { collect } from './testing/collect.ts'
import { recordings } from './testing/recordings.ts'
import { answerWith, startReplayServer } from './testing/replay-server.ts'

test('Groq: an error event on HTTP 200 is an error with its words', async () => {
  const error = {
    error: { message: 'Failed to call a function.', type: 'invalid_request_error', failed_generation: '<x>', status_code: 400 },
  }
  const body = Buffer.concat([sse(chunk({ content: 'Well' })), TEXT.encode(`event: error\ndata: ${JSON.stringify(error)}\n\n`)])
  expect((await ask('openai-chat', body)).at(-1)).toMatchObject({
    type: 'error',
    message: expect.stringContaining('Failed to call a function.'),
  })
})

test('OpenRouter: an error beside the choices after a finish is an error', async () => {
  const failed = { ...chunk({ content: '' }, 'length'), error: { code: 502, message: 'Upstream error' } }
  const events = await ask('openai-chat', sse(chunk({ content: 'So' }), chunk({}, 'length'), failed, '[DONE]'))
  expect(events.at(-1)).toMatchObject({
    type: 'error',
    code: 'model_error',
    retryable: true,
    message: expect.stringContaining('Upstream error'),
  })
})

test('llama.cpp: a bare error line, which event stream readers drop, is an error with its words', async () => {
  const body = `${new TextDecoder().decode(sse(chunk({ content: 'So' })))}error: {"code":500,"message":"failed to decode"}\n\n`
  expect((await ask('openai-chat', body)).at(-1)).toMatchObject({ type: 'error', message: expect.stringContaining('failed to decode') })
})

test('Gemini: an error body in the middle of a stream is an error although a finish came before it', async () => {
  const [recorded] = recordings(({ file }) => file.endsWith('vertexai/streaming-failure-error-mid-stream.txt'))
  const events = await ask('google-generateContent', recorded?.body ?? '')
  expect(events.at(-1)).toMatchObject({ type: 'error', message: expect.stringContaining('The operation was cancelled') })
})

test('OpenAI: an error on HTTP 200 before any output keeps its kind: a used-up quota is not retryable', async () => {
  const [quota] = recordings(({ file }) => file.endsWith('openai-error.1.chunks.txt'))
  expect((await ask('openai-responses', quota?.body ?? '')).at(-1)).toMatchObject({
    type: 'error',
    code: 'model_rate_limited',
    retryable: false,
  })
})

test('the HTTP statuses of a refusal say who can do what about it', async () => {
  const answer = (status: number) =>
    ask('openai-chat', JSON.stringify({ error: { message: 'No.' } }), { status, contentType: 'application/json' })
  expect(await answer(400)).toMatchObject([{ type: 'error', code: 'model_refused_request', retryable: false }])
  expect(await answer(401)).toMatchObject([{ type: 'error', code: 'model_refused_request', retryable: false }])
  expect(await answer(429)).toMatchObject([{ type: 'error', code: 'model_rate_limited', retryable: true }])
  expect(await answer(500)).toMatchObject([{ type: 'error', code: 'model_error', retryable: true }])
  expect(await answer(503)).toMatchObject([{ type: 'error', code: 'model_overloaded', retryable: true }])
  expect(await answer(307)).toMatchObject([{ type: 'error', code: 'model_refused_request', retryable: false }])
})

test('a page instead of an event stream is a broken stream that says what came', async () => {
  const events = await ask('openai-chat', '<html><body>Welcome</body></html>', { contentType: 'text/html' })
  expect(events).toMatchObject([{ type: 'error', code: 'model_broken_stream', message: expect.stringContaining('text/html') }])
})

test('a provider that is not there is unreachable', async () => {
  const model = await openModel('openai/m', { openai: { apiKey: 'k', baseUrl: 'http://127.0.0.1:1/v1' } })
  expect(await collect(model)).toMatchObject([{ type: 'error', code: 'model_unreachable', retryable: true }])
})

test('the key never shows in an error, also when the provider quotes it', async () => {
  const events = await ask('openai-chat', '{"error":{"message":"Incorrect API key provided: key-of-a-test"}}', {
    status: 401,
    vendor: 'OpenAI',
  })
  expect(JSON.stringify(events)).not.toContain('key-of-a-test')
})

for (const silentAfter of ['the request', 'the first words']) {
  test(`a provider that is silent after ${silentAfter} is given up after the timeout`, async () => {
    await using server = await startReplayServer()
    const never = Promise.withResolvers<void>()
    const chunks = (async function* () {
      if (silentAfter === 'the first words') yield sse(chunk({ content: 'Well' }))
      await never.promise
    })()
    const { baseUrl } = server.play([{ status: 200, contentType: 'text/event-stream', chunks }])
    const model = await openModel('openai-compatible/m', { openaiCompatible: { baseUrl }, timeoutMs: 50 })
    expect((await collect(model)).at(-1)).toMatchObject({ type: 'error', code: 'model_unreachable', retryable: true })
    never.resolve()
  })
}

test('a key that a long error repeats is redacted whole, also where the error is cut', async () => {
  const key = 'sk-live-0123456789abcdefghijklmnopqrstuvwxyz'
  const settings = (baseUrl: string) => ({ openaiCompatible: { baseUrl, apiKey: key } })
  await using server = await startReplayServer()
  // The message begins with our own words, so that every place behind which it may be cut is tried.
  for (let before = 100; before < 640; before += 10) {
    const text = `${'x'.repeat(before)} ${key} is not a key we know ${'y'.repeat(800)}`
    const answers = [
      answerWith({ status: 401, contentType: 'application/json', body: TEXT.encode(JSON.stringify({ error: { message: text } })) }),
      answerWith({ status: 200, contentType: 'text/event-stream', body: sse(text) }),
    ]
    for (const answer of answers) {
      const { baseUrl } = server.play([answer])
      const last = (await collect(await openModel('openai-compatible/m', settings(baseUrl)))).at(-1)
      const { message } = last as Extract<ModelEvent, { type: 'error' }>
      expect(last, `${before}`).toMatchObject({ type: 'error', message: expect.not.stringContaining('sk-live') })
      expect(message.length).toBeLessThanOrEqual(601)
    }
  }
})
