import { expect, test } from 'vitest'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const call = (tool: string, what: string) => ({ tool, arguments: { what } })
const counted = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens })

test('a run that has used its tokens ends before its next model call, also after a restart; what waited for approval is carried out', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({
    config: {
      agents: { desk: { model: 'scripted/talk.json', tools: ['*'], budget: { totalTokens: 100 } } },
      tools: toolsOf(target),
    },
    scripts: {
      talk: [
        { calls: [call('look', 'it')], usage: counted(40, 10) },
        { text: 'May I?', calls: [call('keyed', 'x')], usage: counted(45, 10) },
        { text: 'A new run.', usage: counted(50, 10) },
      ],
    },
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed', (data) => data.proposal.tool === 'keyed')
  await server.restart()
  using back = await server.admin.stream(`/api/sessions/${sessionId}/events?after=1`)
  await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  expect(await back.next('error')).toMatchObject({
    code: 'budget_exhausted',
    error: 'Stopped after 105 tokens: 100 is the most that this agent may use for one message.',
  })
  expect(await server.admin.get(`/api/actions/${proposal.id}`)).toMatchObject({ state: 'succeeded' })
  expect(target.writes).toHaveLength(1)
  // The next message has its own budget.
  using again = await server.admin.stream('/api/chat', { body: { sessionId, message: 'and now?' } })
  expect((await again.next('done')).usage).toEqual({ inputTokens: 50, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 10 })
})

for (const [what, budget] of [
  ['input tokens', { inputTokens: 30 }],
  ['output tokens', { outputTokens: 30 }],
] as const) {
  test(`a budget of ${what} counts only those`, async () => {
    await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
    const usage = what === 'input tokens' ? counted(30, 0) : counted(0, 30)
    const other = what === 'input tokens' ? counted(0, 1_000) : counted(1_000, 0)
    await using server = await startTestServer({
      config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'], budget } }, tools: toolsOf(target) },
      scripts: {
        talk: [
          { calls: [call('look', 'a')], usage: other },
          { calls: [call('look', 'b')], usage },
        ],
      },
    })
    using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
    expect(await stream.next('error')).toMatchObject({ code: 'budget_exhausted', error: expect.stringContaining(`30 ${what}`) })
  })
}

test('tokens that the provider does not tell are estimated by characters, marked so, and count', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { text: 'x'.repeat(8_000) } }))
  const scripts = { talk: [{ calls: [call('look', 'it')] }, { calls: [call('look', 'that')] }, { text: 'Done.' }] }
  const tools = toolsOf(target)
  await using free = await startTestServer({ config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools }, scripts })
  using stream = await free.admin.stream('/api/chat', { body: { message: 'go' } })
  const { usage } = await stream.next('done')
  // The second request holds one long result, the third two.
  expect(usage).toMatchObject({ cachedInputTokens: 0, estimated: true })
  expect(usage?.inputTokens).toBeGreaterThan((3 * 8_000) / 4)
  expect(usage?.inputTokens).toBeLessThan((3 * 8_000) / 4 + 2_000)

  const agents = { desk: { model: 'scripted/talk.json', tools: ['*'], budget: { inputTokens: 2_000 } } }
  await using bound = await startTestServer({ config: { agents, tools }, scripts })
  using stopped = await bound.admin.stream('/api/chat', { body: { message: 'go' } })
  expect((await stopped.next('error')).error).toMatch(/^Stopped after about \d+ input tokens/)
})
