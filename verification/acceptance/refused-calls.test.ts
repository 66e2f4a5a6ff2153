import { expect, test } from 'vitest'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { speak } from '../../packages/server/src/models/testing/speak.ts'
import { brainHeard, resultsHeard } from '../testing/brain-says.ts'
import { PROVIDERS, providerEnvironment } from '../testing/providers.ts'
import { startTalk } from '../testing/talk.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

/** Invalid arguments from a model, and words of the error that it gets. */
const REFUSED: [what: string, argumentsText: string, told: RegExp][] = [
  ['a wrong type', '{"what":7}', /what|\/what/],
  ['a missing argument', '{}', /what/],
  ['an argument that the tool does not know', '{"what":"x","also":1}', /also/],
  ['an empty text where one is needed', '{"what":""}', /what/],
  ['__proto__', '{"what":"x","__proto__":{"admin":true}}', /__proto__/],
  ['constructor', '{"what":"x","constructor":{"prototype":{}}}', /constructor/],
  ['an escaped __proto__', '{"what":"x","__pr\\u006fto__":1}', /__proto__/],
  ['a duplicate key', '{"what":"x","what":"y"}', /what.*twice|duplicate/i],
  ['arguments nested 100 deep', `{"what":${deep(100)}}`, /deep|nest/i],
  ['arguments nested 100,000 deep', `{"what":${deep(100_000)}}`, /deep|nest|large/i],
  ['a number that JSON readers round', '{"what":9007199254740993}', /number|9007199254740993/i],
  ['a list instead of an object', '["x"]', /object/],
  ['a text instead of an object', '"x"', /object/],
  ['two objects', '{"what":"x"}{"what":"y"}', /not valid|JSON/],
  ['half an object', '{"what":"x', /not valid|JSON/],
  ['a comment', '{"what":"x" /* yes */}', /not valid|JSON/],
  ['300 KB', `{"what":"${'x'.repeat(300_000)}"}`, /large|bytes/i],
  ['a lone surrogate', '{"what":"\\ud800"}', /surrogate|well-formed|text/i],
]

for (const [what, argumentsText, told] of REFUSED) {
  test(`${what} is told to the model and makes no action`, async () => {
    await using talk = await startTalk({ says: [{ calls: [{ id: 'a', tool: 'keyed', input: argumentsText }] }, { text: 'I see.' }] })
    const { admin } = talk.server
    using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
    const { sessionId } = await stream.next('session')
    await stream.next('message', (data) => data.message.content === 'I see.')
    await stream.next('done')
    expect(await admin.get('/api/actions')).toMatchObject({ items: [] })
    const [result] = resultsHeard(talk.brain, 1)
    expect(result).toEqual(['a', { error: expect.stringMatching(told) }])
    expect(JSON.stringify(result).length).toBeLessThan(2_000)
    const { items } = await admin.get(`/api/sessions/${sessionId}/messages`)
    expect(items.filter(({ role }: { role: string }) => role === 'tool')).toHaveLength(1)
    expect(talk.target.writes).toEqual([])
    expect(Object.prototype).not.toHaveProperty('admin')
  })
}

test('an unknown tool is told to the model, whatever its name is', async () => {
  const names = ['nothing', '__proto__', 'constructor', 'toString', 'x'.repeat(5_000), 'a b\u202ec', 'keyed ']
  await using talk = await startTalk({
    says: [{ calls: names.map((tool, i) => ({ id: `c${i}`, tool, input: { what: 'x' } })) }, { text: 'I see.' }],
  })
  const { admin } = talk.server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  await stream.next('message', (data) => data.message.content === 'I see.')
  expect(await admin.get('/api/actions')).toMatchObject({ items: [] })
  const results = resultsHeard(talk.brain, 1)
  expect(results.map(([id]) => id)).toEqual(names.map((_, i) => `c${i}`))
  for (const [, told] of results) expect(told).toEqual({ error: expect.stringContaining('there is no tool') })
})

test('of a step with a good call and a bad one, the good one waits and both are answered', async () => {
  await using talk = await startTalk({
    says: [
      {
        calls: [
          { id: 'bad', tool: 'keyed', input: {} },
          { id: 'good', tool: 'keyed', input: { what: 'x' } },
        ],
      },
      { text: 'I see.' },
    ],
  })
  const { admin } = talk.server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { proposal } = await stream.next('action_proposed')
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  expect(talk.brain.requests).toHaveLength(1)
  await admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await stream.ended()
  expect(resultsHeard(talk.brain, 1)).toEqual([
    ['bad', { error: expect.stringContaining('what') }],
    ['good', { id: 1 }],
  ])
})

test('a tool without arguments may be called with no text at all', async () => {
  const tools = {
    target: { prefix: false, routes: { baseUrl: 'http://127.0.0.1:9', tools: { ping: { method: 'POST' as const, path: '/ping' } } } },
  }
  for (const argumentsText of ['', '{}', ' ']) {
    await using providers = await startReplayServer()
    const { baseUrl } = providers.play([speak('openai-chat', { calls: [{ id: 'call_1', name: 'ping', argumentsText }] })])
    await using server = await startTestServer({
      config: { agents: { desk: { model: 'openai-chat/m', tools: ['*'] } }, tools },
      environment: providerEnvironment(baseUrl),
    })
    using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
    expect((await stream.next('action_proposed')).proposal.arguments).toEqual({})
  }
})

for (const { model, api } of PROVIDERS) {
  // Gemini sends arguments as an object, so they cannot be truncated.
  if (api === 'google-generateContent') continue
  test(`with ${model}, truncated arguments in an answer that claims to be whole make no action`, async () => {
    await using target = await startTarget(() => ({ status: 200 }))
    await using providers = await startReplayServer()
    const { baseUrl, requests } = providers.play([
      speak(api, { calls: [{ id: 'call_1', name: 'keyed', argumentsText: '{"what":"some' }] }),
      speak(api, { text: 'I see.' }),
    ])
    await using server = await startTestServer({
      config: { agents: { desk: { model, tools: ['*'] } }, tools: toolsOf(target) },
      environment: providerEnvironment(baseUrl),
    })
    using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
    await stream.ended()
    expect(await server.admin.get('/api/actions')).toMatchObject({ items: [] })
    const last = stream.seen.findLast(({ type }) => type === 'done' || type === 'error')
    if (last?.type === 'done') expect(JSON.stringify(requests[1]?.body)).toContain('not valid')
    else expect(stream.seen.some(({ data }) => (data as { message?: { kind?: string } }).message?.kind === 'note')).toBe(true)
    expect(target.writes).toEqual([])
  })
}

test('what the model is told of a refused call stands right behind that call', async () => {
  await using talk = await startTalk({ says: [{ text: 'Hm.', calls: [{ id: 'a', tool: 'keyed', input: {} }] }, { text: 'I see.' }] })
  using stream = await talk.server.admin.stream('/api/chat', { body: { message: 'go' } })
  await stream.ended()
  expect(brainHeard(talk.brain, 1).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
})
