import type { Stats } from '@countersign/core'
import { expect, test } from 'vitest'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const call = (tool: string, what: string) => ({ tool, arguments: { what } })

test('the statistics count what was asked, decided, run and used, by tool, state, verdict and model', async () => {
  await using target = await startTarget(({ body }) => ({
    status: (body as { what?: string })?.what === 'bad' ? 409 : 200,
    body: { id: 1 },
  }))
  await using server = await startTestServer({
    config: {
      agents: {
        desk: { model: 'scripted/first.json', fallbacks: ['scripted/second.json'], tools: ['*'] },
        other: { model: 'scripted/third.json', tools: ['*'] },
      },
      tools: toolsOf(target),
      prices: {
        currency: 'EUR',
        models: { 'scripted/first.json': { inputPerMillion: 2, cachedInputPerMillion: 1, outputPerMillion: 10 } },
      },
    },
    scripts: {
      first: [
        { calls: [call('look', 'it')], usage: { inputTokens: 100, outputTokens: 10 } },
        { error: { code: 'model_broken_stream', message: 'away', retryable: true } },
        { text: 'Done.', usage: { inputTokens: 300, cachedInputTokens: 250, cacheWriteTokens: 20, outputTokens: 5 } },
      ],
      second: [
        { text: 'never asked' },
        {
          calls: [call('keyed', 'good'), call('keyed', 'bad'), call('unkeyed', 'no')],
          usage: { inputTokens: 200, cachedInputTokens: 100, outputTokens: 20 },
        },
      ],
      third: [{ error: 'out of order' }],
    },
  })
  const { admin } = server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  await stream.next('session_status', ({ pendingApprovals }) => pendingApprovals.length === 3)
  const while3 = (await admin.get('/api/stats')) as Stats
  expect(while3).toMatchObject({ waiting: 3, decisions: { count: 0, medianMs: null, p95Ms: null }, runs: { open: 1, done: 0 } })
  const { items } = await admin.get(`/api/actions?session=${sessionId}&state=proposed`)
  for (const { id, tool } of items) await admin.post(`/api/actions/${id}/decision`, { verdict: tool === 'unkeyed' ? 'decline' : 'approve' })
  await stream.next('done')
  using failing = await admin.stream('/api/chat', { body: { message: 'go', agent: 'other' } })
  await failing.next('error')
  await admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'outside' } })

  const stats = (await admin.get('/api/stats?bucket=hour')) as Stats
  expect(stats.actions).toMatchObject({
    total: 5,
    byState: { succeeded: 2, failed: 1, declined: 1, proposed: 1 },
    byVerdict: { allow: 1, ask: 4, deny: 0 },
    byTool: [
      { tool: 'keyed', total: 3, asked: 3, approved: 2, declined: 0, failed: 1 },
      { tool: 'look', total: 1, asked: 0, approved: 0, declined: 0, failed: 0 },
      { tool: 'unkeyed', total: 1, asked: 1, approved: 0, declined: 1, failed: 0 },
    ],
    isComplete: true,
  })
  expect(stats.waiting).toBe(1)
  expect(stats.runs).toEqual({ open: 0, done: 1, failed: 1, cancelled: 0 })
  expect(stats.decisions).toMatchObject({ count: 3, medianMs: expect.any(Number), p95Ms: expect.any(Number) })
  expect(stats.models).toEqual([
    {
      agent: 'desk',
      model: 'scripted/first.json',
      calls: 2,
      fallbacks: 0,
      errors: 0,
      inputTokens: 400,
      cachedInputTokens: 250,
      cacheWriteTokens: 20,
      outputTokens: 15,
      cachedShare: 0.625,
      estimated: 0,
      cost: { amount: (150 * 2 + 250 * 1 + 15 * 10) / 1_000_000, currency: 'EUR' },
    },
    {
      agent: 'desk',
      model: 'scripted/second.json',
      calls: 1,
      fallbacks: 1,
      errors: 0,
      inputTokens: 200,
      cachedInputTokens: 100,
      cacheWriteTokens: 0,
      outputTokens: 20,
      cachedShare: 0.5,
      estimated: 0,
      cost: null,
    },
    {
      agent: 'other',
      model: 'scripted/third.json',
      calls: 1,
      fallbacks: 0,
      errors: 1,
      inputTokens: 0,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: 0,
      cachedShare: null,
      estimated: 0,
      cost: null,
    },
  ])
  const timeline = await admin.get(`/api/sessions/${sessionId}/timeline`)
  const costs = timeline.items.flatMap(({ call }: { call: { model: string; cost: unknown } | null }) =>
    call ? [[call.model, call.cost]] : [],
  )
  expect(costs).toContainEqual(['scripted/first.json', { amount: (50 * 2 + 250 * 1 + 5 * 10) / 1_000_000, currency: 'EUR' }])
  expect(costs).toContainEqual(['scripted/second.json', null])
  // The hour may change during the test, so only the sum counts.
  const sum = (of: 'actions' | 'asked' | 'runs' | 'modelCalls' | 'inputTokens' | 'cachedInputTokens') =>
    stats.series.reduce((total, each) => total + each[of], 0)
  expect([sum('actions'), sum('asked'), sum('runs'), sum('modelCalls'), sum('inputTokens'), sum('cachedInputTokens')]).toEqual([
    5, 4, 2, 4, 600, 350,
  ])
  expect(stats.series.every(({ at }) => at.endsWith(':00:00.000Z'))).toBe(true)
  expect(await admin.get(`/api/stats?since=${stats.since}&until=${stats.until}&bucket=day`)).toMatchObject({
    actions: stats.actions,
    models: stats.models,
    bucket: 'day',
  })
  for (const [agent, calls, tokens] of [
    ['desk', 3, 600],
    ['other', 1, 0],
    ['nobody', 0, 0],
  ] as const) {
    const { models, series } = (await admin.get(`/api/stats?bucket=hour&agent=${agent}`)) as Stats
    const added = (of: readonly { inputTokens: number }[]) => of.reduce((total, { inputTokens }) => total + inputTokens, 0)
    expect([models.reduce((total, each) => total + each.calls, 0), added(models)], agent).toEqual([calls, tokens])
    expect([series.reduce((total, { modelCalls }) => total + modelCalls, 0), added(series)], agent).toEqual([calls, tokens])
  }
})

test('a time that is empty, too long or too fine is refused, and one in which nothing was is all zeros', async () => {
  await using server = await startTestServer({ config: {} })
  const { admin } = server
  const status = async (query: string) => (await admin.send('GET', `/api/stats?${query}`)).status
  expect(await status('since=2026-01-02T00:00:00Z&until=2026-01-02T00:00:00Z')).toBe(400)
  expect(await status('since=2024-01-01T00:00:00Z&until=2026-01-02T00:00:00Z')).toBe(400)
  expect(await status('since=2026-01-01T00:00:00Z&until=2026-02-01T00:00:00Z&bucket=hour')).toBe(400)
  expect(await status('since=yesterday')).toBe(400)
  expect(await admin.get('/api/stats?since=2020-01-01T00:00:00Z&until=2021-01-01T00:00:00Z')).toEqual({
    since: '2020-01-01T00:00:00.000Z',
    until: '2021-01-01T00:00:00.000Z',
    bucket: 'day',
    actions: {
      ...{ total: 0, byState: {}, byVerdict: { allow: 0, ask: 0, deny: 0 }, isComplete: true },
      answers: { allowed: 0, denied: 0, approved: 0, declined: 0, expired: 0, cancelled: 0, waiting: 0 },
      ...{ byTool: [], byRule: [], byDestination: [], alwaysApproved: [] },
    },
    waiting: 0,
    waitingByAge: [],
    decisions: { count: 0, medianMs: null, p95Ms: null, histogram: [], byTool: [], byRole: [], byPerson: [] },
    declineReasons: [],
    runs: { open: 0, done: 0, failed: 0, cancelled: 0 },
    models: [],
    series: [],
  })
})

test('what became of proposals adds up by rule, person, reason and place; the histogram holds each decision once', async () => {
  await using target = await startTarget(({ body }) => ({
    status: (body as { what?: string })?.what === 'bad' ? 409 : 200,
    body: { id: 1 },
  }))
  await using server = await startTestServer({
    config: {
      tools: toolsOf(target),
      policy: {
        rules: [
          { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
          { name: 'never twice', match: { when: 'args.what == "twice"' }, verdict: 'deny', reason: 'no' },
          { name: 'two must agree', match: { tool: 'keyed' }, verdict: 'ask', requires: { roles: ['finance'] } },
        ],
      },
    },
  })
  const { admin } = server
  const eve = await server.as({ name: 'Eve', kind: 'person', roles: ['finance', 'approver'] })
  const desk = await server.as({ name: 'Desk', kind: 'agent', roles: ['agent'] })
  const propose = async (tool: string, what: string, by = desk): Promise<string> =>
    (await by.post('/api/actions', { tool, arguments: { what } })).id
  const decide = (id: string, verdict: string, reason?: string) =>
    eve.post(`/api/actions/${id}/decision`, { verdict, ...(reason && { reason }) })
  for (let i = 0; i < 10; i++) await decide(await propose('unkeyed', `letter ${i}`), 'approve')
  await decide(await propose('keyed', 'bad'), 'approve')
  await decide(await propose('keyed', 'other'), 'decline', 'Wrong customer')
  await decide(await propose('keyed', 'third'), 'decline', 'Wrong customer')
  await decide(await propose('keyed', 'fourth'), 'decline')
  await propose('keyed', 'twice')
  await propose('look', 'it')
  await desk.post(`/api/actions/${await propose('keyed', 'mine')}/withdraw`, {})
  await propose('keyed', 'waits')
  await server.settle()

  const stats = (await admin.get('/api/stats')) as Stats
  const none = { allowed: 0, denied: 0, approved: 0, declined: 0, expired: 0, cancelled: 0, waiting: 0 }
  expect(stats.actions.answers).toEqual({ allowed: 1, denied: 1, approved: 11, declined: 3, expired: 0, cancelled: 1, waiting: 1 })
  expect(stats.actions.byRule.filter(({ rule }) => !rule.startsWith('default'))).toEqual(
    expect.arrayContaining([
      { ...none, rule: 'two must agree', total: 6, approved: 1, declined: 3, cancelled: 1, waiting: 1 },
      { ...none, rule: 'never twice', total: 1, denied: 1 },
      { ...none, rule: 'reads run', total: 1, allowed: 1 },
    ]),
  )
  expect(stats.actions.byRule.reduce((sum, { total }) => sum + total, 0)).toBe(stats.actions.total)
  expect(stats.actions.byDestination).toEqual([{ destination: expect.stringContaining('127.0.0.1'), succeeded: 11, failed: 1, unknown: 0 }])
  expect(stats.actions.alwaysApproved).toEqual([{ tool: 'unkeyed', approved: 10 }])
  expect(stats.waitingByAge).toEqual([{ fromMs: 0, toMs: 300_000, count: 1 }])
  expect(stats.declineReasons).toEqual([
    { reason: 'Wrong customer', count: 2 },
    { reason: null, count: 1 },
  ])
  const { decisions } = stats
  expect(decisions.count).toBe(14)
  expect(decisions.histogram.reduce((sum, { count }) => sum + count, 0)).toBe(14)
  expect(decisions.byTool.map(({ tool, count }) => [tool, count])).toEqual([
    ['unkeyed', 10],
    ['keyed', 4],
  ])
  expect(decisions.byRole.find(({ role }) => role === 'finance')?.count).toBe(4)
  expect(decisions.byPerson).toEqual([
    { id: eve.principal.id, name: 'Eve', approved: 11, declined: 3, count: 14, medianMs: expect.any(Number), p95Ms: expect.any(Number) },
  ])
  const sum = stats.series.reduce((total, { answers }) => total + Object.values(answers).reduce((a, b) => a + b, 0), 0)
  expect(sum).toBe(stats.actions.total)

  const keyed = (await admin.get('/api/stats?tool=keyed')) as Stats
  expect([keyed.actions.total, keyed.decisions.count, keyed.actions.byTool.length]).toEqual([7, 4, 1])
  expect(((await admin.get('/api/stats?agent=nobody')) as Stats).actions.total).toBe(0)
  expect((await eve.send('GET', '/api/stats')).status).toBe(403)
})
