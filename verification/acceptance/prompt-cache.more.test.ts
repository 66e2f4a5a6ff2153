import { expect, test } from 'vitest'
import type { RecordedApi } from '../../packages/server/src/models/testing/recordings.ts'
import { type ReplayRequest, startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { speak } from '../../packages/server/src/models/testing/speak.ts'
import { PROVIDERS, providerEnvironment } from '../testing/providers.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

type Body = Record<string, unknown>

/** The parts that a provider reads first, as sent: it caches their beginning and finds it again by its bytes. */
const PREFIX: Record<RecordedApi, { fixed: string[]; grows: string }> = {
  'anthropic-messages': { fixed: ['tools', 'system'], grows: 'messages' },
  'openai-responses': { fixed: ['tools'], grows: 'input' },
  'openai-chat': { fixed: ['tools'], grows: 'messages' },
  'google-generateContent': { fixed: ['tools', 'systemInstruction'], grows: 'contents' },
}

/** Returns a request's body without Anthropic's cache marks: they say what to cache and are not part of it. */
function unmarked({ text }: ReplayRequest): Body {
  const body: Body = JSON.parse(text)
  // The texts compared below are the texts that were sent.
  expect(JSON.stringify(body)).toBe(text)
  return JSON.parse(text, (key, value) => (key === 'cache_control' ? undefined : value))
}

/** Expects `later` to begin with everything in `earlier`. */
function expectSamePrefix(api: RecordedApi, earlier: ReplayRequest, later: ReplayRequest): void {
  const { fixed, grows } = PREFIX[api]
  const [before, after] = [unmarked(earlier), unmarked(later)]
  for (const part of fixed) expect(JSON.stringify(after[part]), part).toBe(JSON.stringify(before[part]))
  const [was, is] = [before, after].map((body) => JSON.stringify(body[grows]))
  expect(is?.startsWith(`${was?.slice(0, -1)},`), `${is}\ndoes not begin with\n${was}`).toBe(true)
}

const INSTRUCTIONS = 'You run the order desk. Numbers: {"10":1,"9":2}.'
const args = (what: string) => JSON.stringify({ what })
// Keys in an unsorted order, and numbers as keys: storing and reading must not change their order.
const STRANGE = { zeta: 1, alpha: { '2': 'b', '1': 'a' }, what: 'x', list: [3, 1] }

for (const { model, api } of PROVIDERS) {
  test(`with ${model}, a run that was approved after a restart sends the prefix of the request before, byte for byte`, async () => {
    await using target = await startTarget(() => ({ status: 200, body: STRANGE }))
    await using providers = await startReplayServer()
    const signature = 'c2lnbmVkIHRob3VnaHRz'
    const { baseUrl, requests } = providers.play([
      speak(api, { text: 'A look.', signature, calls: [{ id: 'call_1', name: 'look', argumentsText: args('it') }] }),
      speak(api, {
        text: 'Two things.',
        signature,
        calls: ['x', 'y'].map((what) => ({ id: `call_${what}`, name: 'keyed', argumentsText: args(what) })),
      }),
      speak(api, { text: 'Done.', usage: { input: 1_000, cached: 900, written: 0, output: 7 } }),
      speak(api, { text: 'You are welcome.' }),
    ])
    await using server = await startTestServer({
      config: { agents: { desk: { model, instructions: INSTRUCTIONS, tools: ['*'] } }, tools: toolsOf(target) },
      environment: providerEnvironment(baseUrl),
    })
    using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
    const { sessionId } = await stream.next('session')
    const first = (await stream.next('action_proposed', ({ proposal }) => proposal.state === 'proposed')).proposal
    const second = (await stream.next('action_proposed', ({ proposal }) => proposal.state === 'proposed')).proposal
    await server.restart()
    using back = await server.admin.stream(`/api/sessions/${sessionId}/events`)
    // Decided in the other order: one declined, one approved with an edit.
    await server.admin.post(`/api/actions/${second.id}/decision`, { verdict: 'decline', reason: 'not that one' })
    const edited = { verdict: 'approve', arguments: { what: 'z' }, revision: first.revision, digest: first.digest }
    await server.admin.post(`/api/actions/${first.id}/decision`, edited)
    const { usage } = await back.next('done')
    using again = await server.admin.stream('/api/chat', { body: { sessionId, message: 'thanks' } })
    await again.next('done')

    expect(requests).toHaveLength(4)
    for (const [index, later] of requests.entries()) {
      const earlier = requests[index - 1]
      if (earlier) expectSamePrefix(api, earlier, later)
    }
    expect(usage).toMatchObject({ cachedInputTokens: 900 })
    const keys = new Set(requests.map(({ body }) => (body as Body).prompt_cache_key))
    expect(keys).toEqual(new Set([model.startsWith('openai/') || model.startsWith('openai-chat/') ? sessionId : undefined]))
  })
}

/** Returns where the marks of an Anthropic request stand: how many blocks of the whole prompt come before and under each. */
function marksOf({ body }: ReplayRequest): { at: number; ttl: unknown }[] {
  const { tools, system, messages } = body as { tools: Body[]; system: Body[]; messages: { content: Body[] }[] }
  const blocks = [...tools, ...system, ...messages.flatMap(({ content }) => content)]
  return blocks.flatMap(({ cache_control: mark }, index) => (mark ? [{ at: index + 1, ttl: (mark as Body).ttl }] : []))
}

for (const cache of ['5m', '1h', 'off'] as const) {
  test(`with cache ${cache}, Anthropic is told where to keep what it read: each request reads where the one before wrote`, async () => {
    await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
    await using providers = await startReplayServer()
    // More blocks in one step than Anthropic looks back.
    const many = Array.from({ length: 15 }, (_, index) => ({ id: `call_${index}`, name: 'look', argumentsText: args(`${index}`) }))
    const api = 'anthropic-messages'
    const { baseUrl, requests } = providers.play([
      speak(api, { calls: many }),
      speak(api, { calls: many }),
      speak(api, { text: 'Seen.' }),
      speak(api, { text: 'Bye.' }),
    ])
    await using server = await startTestServer({
      config: { agents: { desk: { model: 'anthropic/claude', instructions: INSTRUCTIONS, tools: ['*'], cache } }, tools: toolsOf(target) },
      environment: providerEnvironment(baseUrl),
    })
    using stream = await server.admin.stream('/api/chat', { body: { message: 'look around' } })
    const { sessionId } = await stream.next('session')
    await stream.next('done')
    using again = await server.admin.stream('/api/chat', { body: { sessionId, message: 'thanks' } })
    await again.next('done')

    const marks = requests.map(marksOf)
    if (cache === 'off') return expect(marks).toEqual([[], [], [], []])
    const [ofTools, ofSystem] = [3, 4]
    const ends = [1, 31, 61, 63].map((messages) => ofSystem + messages)
    expect(marks.map((each) => each.map(({ at }) => at))).toEqual([
      [ofTools, ofSystem, ends[0]],
      [ofTools, ofSystem, ends[0], ends[1]],
      [ofTools, ofSystem, ends[1], ends[2]],
      [ofTools, ofSystem, ends[2], ends[3]],
    ])
    expect(new Set(marks.flat().map(({ ttl }) => ttl))).toEqual(new Set([cache === '1h' ? '1h' : undefined]))
  })
}
