import type { Message } from '@countersign/core'
import { expect, test } from 'vitest'
import type { ConfigInput, Environment } from '../../packages/server/src/config/index.ts'
import {
  answerWith,
  holdBack,
  type Replay,
  type ReplayAnswer,
  startReplayServer,
} from '../../packages/server/src/models/testing/replay-server.ts'
import { speak } from '../../packages/server/src/models/testing/speak.ts'
import { historyProblems } from '../../packages/server/src/models/testing/strict-history.ts'
import { stateByApi } from '../testing/api-state.ts'
import { fold } from '../testing/fold.ts'
import { startTarget, type Target, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

interface Desk extends AsyncDisposable {
  server: TestServer
  target: Target
  anthropic: Replay
  google: Replay
  openai: Replay
}

/** Starts an agent with models of Anthropic, Google and OpenAI in this order; each gives its scripted answers one by one. */
async function startDesk(
  answers: { anthropic?: ReplayAnswer[]; google?: ReplayAnswer[]; openai?: ReplayAnswer[] },
  agent: Partial<NonNullable<ConfigInput['agents']>[string]> = {},
): Promise<Desk> {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const providers = stack.use(await startReplayServer())
  const [anthropic, google, openai] = [
    providers.play(answers.anthropic ?? []),
    providers.play(answers.google ?? []),
    providers.play(answers.openai ?? []),
  ]
  const environment: Environment = {
    ANTHROPIC_API_KEY: 'key-of-a-test',
    ANTHROPIC_BASE_URL: anthropic.baseUrl,
    GEMINI_API_KEY: 'key-of-a-test',
    GOOGLE_BASE_URL: google.baseUrl,
    OPENAI_API_KEY: 'key-of-a-test',
    OPENAI_BASE_URL: openai.baseUrl,
  }
  const server = stack.use(
    await startTestServer({
      config: {
        agents: { desk: { model: 'anthropic/claude', fallbacks: ['google/gemini-3-flash', 'openai/gpt'], tools: ['*'], ...agent } },
        tools: toolsOf(target),
      },
      environment,
      logLevel: 'warn',
    }),
  )
  return { server, target, anthropic, google, openai, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const json = (status: number, body: object, headers?: Record<string, string>): ReplayAnswer => ({
  ...answerWith({ status, contentType: 'application/json', body: Buffer.from(JSON.stringify(body)) }),
  ...(headers && { headers }),
})
const overloaded = json(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })
const CALL = { text: 'I will.', calls: [{ id: 'call_1', name: 'keyed', argumentsText: '{"what":"x"}' }] }
const spoken = (messages: readonly Message[]) =>
  messages.filter(({ role, kind }) => role === 'assistant' && kind === 'text').map(({ content, model }) => [content, model])
const said = async (server: TestServer, sessionId: string) =>
  spoken((await server.admin.get(`/api/sessions/${sessionId}/messages`)).items.reverse())

test('when the first provider is overloaded the next one makes the step, and the one after the approval', async () => {
  await using desk = await startDesk({
    anthropic: [overloaded, overloaded],
    google: [speak('google-generateContent', { ...CALL, signature: 'c2lnbmVk' }), speak('google-generateContent', { text: 'Done.' })],
  })
  const { server, target, google, openai } = desk
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await stream.next('done')

  expect(await said(server, sessionId)).toEqual([
    ['I will.', 'google/gemini-3-flash'],
    ['Done.', 'google/gemini-3-flash'],
  ])
  expect([google, openai].map(({ requests }) => requests.length)).toEqual([2, 0])
  expect(historyProblems('google-generateContent', google.requests[1]?.body)).toEqual([])
  expect(target.writes).toHaveLength(1)
  const fellBack = server.errors.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'model.fallback')
  expect(fellBack).toMatchObject([
    { agent: 'desk', model: 'google/gemini-3-flash', passedOver: [{ model: 'anthropic/claude', code: 'model_overloaded' }] },
    { agent: 'desk', model: 'google/gemini-3-flash', passedOver: [{ model: 'anthropic/claude', code: 'model_overloaded' }] },
  ])
})

test('the provider that comes back is given a history that it takes, its own signed thoughts in it and nobody else’s', async () => {
  const signed = (api: 'anthropic-messages' | 'google-generateContent', by: string) => speak(api, { ...CALL, signature: by })
  await using desk = await startDesk({
    anthropic: [signed('anthropic-messages', 'b2YtYW50aHJvcGlj'), json(500, {}), speak('anthropic-messages', { text: 'Back.' })],
    google: [signed('google-generateContent', 'b2YtZ29vZ2xl')],
  })
  const { server, anthropic } = desk
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  for (const verdict of ['approve', 'decline']) {
    const { proposal } = await stream.next('action_proposed')
    await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict })
  }
  await stream.next('done')
  expect(await said(server, sessionId)).toEqual([
    ['I will.', 'anthropic/claude'],
    ['I will.', 'google/gemini-3-flash'],
    ['Back.', 'anthropic/claude'],
  ])
  const last = anthropic.requests[2]
  expect(historyProblems('anthropic-messages', last?.body)).toEqual([])
  expect(last?.text).toContain('b2YtYW50aHJvcGlj')
  expect(last?.text).not.toContain('b2YtZ29vZ2xl')
})

test('a stream that breaks inside a call is made again by the next model under the same message; nothing of it becomes an action', async () => {
  const whole = Buffer.concat([
    ...(speak('anthropic-messages', { text: 'I will pay.', calls: [{ id: 'c', name: 'unkeyed', argumentsText: '{"what":"broken"}' }] })
      .chunks as Iterable<Uint8Array>),
  ])
  const seen = Promise.withResolvers<void>()
  const isRestartSeen = Promise.withResolvers<void>()
  const broken: ReplayAnswer = {
    status: 200,
    contentType: 'text/event-stream',
    ending: 'reset',
    chunks: (async function* () {
      yield whole.subarray(0, whole.indexOf('broken'))
      // The reader gets the text and the start of the call before the connection breaks.
      await seen.promise
    })(),
  }
  await using desk = await startDesk({
    anthropic: [broken, speak('anthropic-messages', { text: 'Done.' })],
    google: [holdBack(speak('google-generateContent', CALL), '"finishReason"', isRestartSeen.promise)],
  })
  const { server, target } = desk
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  using watching = await server.admin.stream(`/api/sessions/${sessionId}/events`)
  await watching.next('delta')
  await watching.next('tool_call_start', ({ toolCall }) => toolCall.name === 'unkeyed')
  seen.resolve()
  await watching.next('delta', ({ restart }) => restart === true)
  isRestartSeen.resolve()
  const { message } = await watching.next('message', (data) => data.message.role === 'assistant')
  const { proposal } = await watching.next('action_proposed')
  expect(message).toMatchObject({ content: 'I will.', model: 'google/gemini-3-flash' })
  expect(proposal).toMatchObject({ tool: 'keyed', messageId: message.id })
  const deltas = watching.seen.flatMap(({ type, data }) => (type === 'delta' ? [(data as { messageId: string }).messageId] : []))
  expect(new Set(deltas)).toEqual(new Set([message.id]))
  await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await watching.next('done')

  expect(await said(server, sessionId)).toEqual([
    ['I will.', 'google/gemini-3-flash'],
    ['Done.', 'anthropic/claude'],
  ])
  expect((await server.admin.get(`/api/actions?session=${sessionId}`)).items).toHaveLength(1)
  expect(target.writes.map(({ path }) => path)).toEqual(['/keyed'])
  expect(fold(watching.seen)).toEqual(await stateByApi(server.admin, sessionId))
})

test('a rate limit that ends soon is waited for, and the first provider answers after all', async () => {
  const limited = json(429, { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }, { 'retry-after-ms': '20' })
  await using desk = await startDesk({ anthropic: [limited, speak('anthropic-messages', { text: 'Done.' })] })
  using stream = await desk.server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  await stream.next('done')
  expect(await said(desk.server, sessionId)).toEqual([['Done.', 'anthropic/claude']])
  expect([desk.anthropic, desk.google].map(({ requests }) => requests.length)).toEqual([2, 0])
})

test('a conversation that is too long goes only to a model that is known to read more; a refused key to none', async () => {
  const tooLong = json(400, {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
  })
  const fallbacks = ['google/gemini-3-flash', { model: 'openai/gpt', contextTokens: 1_000_000 }]
  await using larger = await startDesk(
    { anthropic: [tooLong], openai: [speak('openai-responses', { text: 'All read.' })] },
    { contextTokens: 200_000, fallbacks },
  )
  using stream = await larger.server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  await stream.next('done')
  expect(await said(larger.server, sessionId)).toEqual([['All read.', 'openai/gpt']])
  expect(larger.google.requests).toEqual([])

  for (const [answer, code] of [
    [tooLong, 'model_context_exceeded'],
    [json(401, { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }), 'model_refused_request'],
  ] as const) {
    await using desk = await startDesk({ anthropic: [answer] })
    using stream = await desk.server.admin.stream('/api/chat', { body: { message: 'go' } })
    expect(await stream.next('error')).toMatchObject({ code, error: expect.stringContaining('anthropic/claude') })
    expect([...desk.google.requests, ...desk.openai.requests]).toEqual([])
  }
})

test('whole calls of an answer that its filter stopped are not carried out beside those of the model that answers then', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  const call = (tool: string, what: string) => ({ tool, arguments: { what } })
  await using server = await startTestServer({
    config: {
      agents: { desk: { model: 'scripted/first.json', fallbacks: ['scripted/second.json'], fallbackAlsoOn: ['filtered'], tools: ['*'] } },
      tools: toolsOf(target),
    },
    scripts: {
      first: [
        { text: 'One ', calls: [call('unkeyed', 'filtered'), call('look', 'filtered')], finish: 'content_filter' },
        { text: 'Done.' },
      ],
      second: [{ text: 'Two', calls: [call('keyed', 'x')] }],
    },
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await stream.next('done')
  expect(await said(server, sessionId)).toEqual([
    ['Two', 'scripted/second.json'],
    ['Done.', 'scripted/first.json'],
  ])
  expect((await server.admin.get('/api/actions')).items).toHaveLength(1)
  expect(target.writes.map(({ path }) => path)).toEqual(['/keyed'])
})

test('when no model answers, the run ends and says of each why', async () => {
  await using desk = await startDesk({
    anthropic: [overloaded],
    google: [json(503, { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } })],
    openai: [json(500, { error: { message: 'The server had an error' } })],
  })
  using stream = await desk.server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { code, error } = await stream.next('error')
  expect(code).toBe('model_error')
  for (const part of ['anthropic/claude is overloaded (529)', 'google/gemini-3-flash is overloaded (503)', 'openai/gpt failed (500)']) {
    expect(error).toContain(part)
  }
  const { models } = await desk.server.admin.get('/api/stats')
  expect(models).toMatchObject([{ model: 'openai/gpt', calls: 1, errors: 1 }])
})
