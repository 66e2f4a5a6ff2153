import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { type BrainSpeech, brainSays, resultsHeard } from '../testing/brain-says.ts'
import { startTarget, type Target, type TargetRequest } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

const ALLOW_ALL = { rules: [{ name: 'all run', match: { tool: '*' }, verdict: 'allow' as const }] }

const look = (id: string, what: string) => ({ id, tool: 'look', input: { what } })
const change = (id: string, what: string) => ({ id, tool: 'change', input: { what } })

interface Desk extends AsyncDisposable {
  server: TestServer
  /** Paths of the reads that reached the target. It answers each read with their number so far. */
  readonly asked: string[]
  /** Sends a message, waits for the end of the run, and returns the last results that the agent got. */
  say(sessionId?: string): Promise<{ sessionId: string; told: [string | undefined, unknown][] }>
  actions(sessionId: string): Promise<Action[]>
}

/** Starts a server whose reads stay cached for ten minutes. */
async function startDesk(
  says: BrainSpeech[],
  { policy = ALLOW_ALL, hold }: { policy?: NonNullable<ConfigInput['policy']>; hold?: (request: TargetRequest) => Promise<void> } = {},
): Promise<Desk> {
  const stack = new AsyncDisposableStack()
  const asked: string[] = []
  const target: Target = stack.use(
    await startTarget(async (request) => {
      if (request.method === 'GET') asked.push(request.path)
      const body = { read: asked.length }
      await hold?.(request)
      return { status: 200, body }
    }),
  )
  const brain = stack.use(await startReplayServer()).play(says.map(brainSays))
  const input = { type: 'object', required: ['what'], additionalProperties: false, properties: { what: { type: 'string' } } }
  const server = stack.use(
    await startTestServer({
      config: {
        agents: { desk: { model: `remote/${brain.baseUrl}`, tools: ['*'] } },
        tools: {
          target: {
            prefix: false,
            routes: {
              baseUrl: target.url,
              tools: {
                look: { method: 'GET', path: '/look/{what}', cacheFor: 'PT10M' },
                change: { method: 'POST', path: '/change', input },
              },
            },
          },
        },
        policy,
      },
    }),
  )
  return {
    server,
    asked,
    async say(sessionId) {
      using stream = await server.admin.stream('/api/chat', { body: { message: 'go', ...(sessionId && { sessionId }) } })
      const session = await stream.next('session')
      await stream.next('done')
      return { sessionId: session.sessionId, told: resultsHeard(brain, brain.requests.length - 1) }
    },
    actions: async (sessionId) => (await server.admin.get(`/api/actions?session=${sessionId}`)).items.toReversed(),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

test('an identical read of the session gets the earlier result: recorded as an action, without asking the target', async () => {
  await using desk = await startDesk([
    { calls: [look('a', 'it')] },
    { calls: [look('b', 'it'), look('c', 'that')] },
    { text: 'Seen.' },
    { calls: [look('d', 'it')] },
    { text: 'Again.' },
    { calls: [look('e', 'it')] },
    { text: 'Elsewhere.' },
  ])
  const { sessionId, told } = await desk.say()
  expect(told).toEqual([
    ['a', { read: 1 }],
    ['b', { read: 1 }],
    ['c', { read: 2 }],
  ])
  expect((await desk.say(sessionId)).told.at(-1)).toEqual(['d', { read: 1 }])
  expect(desk.asked).toEqual(['/look/it', '/look/that'])
  const [a, b, c, d] = await desk.actions(sessionId)
  expect([a?.cachedFrom, b?.cachedFrom, c?.cachedFrom, d?.cachedFrom]).toEqual([null, a?.id, null, a?.id])
  expect(b).toMatchObject({ state: 'succeeded', attempt: 0, result: { read: 1 }, policy: { verdict: 'allow', rule: 'all run' } })
  expect(b?.digest).toBe(a?.digest)
  // The cache belongs to one session: this one reads again.
  expect((await desk.say()).told).toEqual([['e', { read: 3 }]])
})

test('a write of the session to the same destination ends what its reads may be given again for', async () => {
  await using desk = await startDesk([
    { calls: [look('a', 'it')] },
    { calls: [change('b', 'it')] },
    { calls: [look('c', 'it')] },
    { calls: [look('d', 'it')] },
    { text: 'Done.' },
  ])
  const { sessionId, told } = await desk.say()
  expect(told.filter(([id]) => id !== 'b')).toEqual([
    ['a', { read: 1 }],
    ['c', { read: 2 }],
    ['d', { read: 2 }],
  ])
  const [, , c, d] = await desk.actions(sessionId)
  expect([c?.cachedFrom, d?.cachedFrom]).toEqual([null, c?.id])
})

test('what was read while a write was under way is not given again: it may be older', async () => {
  const asked = Promise.withResolvers<void>()
  const written = Promise.withResolvers<void>()
  await using desk = await startDesk([{ calls: [look('a', 'it'), change('b', 'it')] }, { calls: [look('c', 'it')] }, { text: 'Done.' }], {
    // The target answers the first read after the write has settled, and the write after that read has arrived.
    hold: ({ path }) => {
      if (path !== '/look/it') return asked.promise
      asked.resolve()
      return written.promise
    },
  })
  using inbox = await desk.server.admin.stream('/api/events')
  const run = desk.say()
  await inbox.next('action_update', ({ state }) => state === 'succeeded')
  written.resolve()
  const { sessionId } = await run
  expect(desk.asked).toHaveLength(2)
  expect((await desk.actions(sessionId)).map(({ cachedFrom }) => cachedFrom)).toEqual([null, null, null])
})

test('a read that people are asked about is asked about and carried out each time', async () => {
  await using desk = await startDesk([{ calls: [look('a', 'it')] }, { calls: [look('b', 'it')] }, { text: 'Done.' }], {
    policy: { rules: [{ name: 'ask', match: { tool: 'look' }, verdict: 'ask' }] },
  })
  const { admin } = desk.server
  using inbox = await admin.stream('/api/events')
  const run = desk.say()
  for (let i = 0; i < 2; i++) {
    const { proposal } = await inbox.next('action_proposed')
    expect(proposal).toMatchObject({ state: 'proposed', cachedFrom: null })
    await admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  }
  expect((await run).told).toEqual([
    ['a', { read: 1 }],
    ['b', { read: 2 }],
  ])
})
