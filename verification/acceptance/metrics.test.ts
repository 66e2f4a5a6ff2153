import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { describedMetrics } from '../../scripts/docs/metrics.ts'
import { readMetricsText } from '../../scripts/docs/wire-document.ts'
import { counterpart } from '../testing/counterparts.ts'
import { scrape } from '../testing/scrape.ts'
import { shiftedClock } from '../testing/shifted-clock.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const HOUR_MS = 3_600_000
const MONITORING = new URL('../../monitoring/', import.meta.url)

/** Starts a server with an agent that reads once and proposes three changes, and an agent whose model fails. Tests can move its clock. */
async function startDesk() {
  const stack = new AsyncDisposableStack()
  const clock = shiftedClock()
  const target = stack.use(
    await startTarget(({ body }) => ({ status: (body as { what?: string })?.what === 'bad' ? 409 : 200, body: { id: 1 } })),
  )
  const calls = ['good', 'bad', 'no'].map((what) => ({ tool: 'keyed', arguments: { what } }))
  const server = stack.use(
    await startTestServer({
      clock,
      config: {
        agents: {
          desk: { model: 'scripted/desk.json', tools: ['*'] },
          broken: { model: 'scripted/broken.json', tools: ['*'] },
        },
        tools: toolsOf(target),
      },
      scripts: {
        desk: [
          { calls: [{ tool: 'look', arguments: { what: 'it' } }], usage: { inputTokens: 100, outputTokens: 10 } },
          { calls, usage: { inputTokens: 200, cachedInputTokens: 100, cacheWriteTokens: 7, outputTokens: 20 } },
          { text: 'Done.', usage: { inputTokens: 300, outputTokens: 5 } },
        ],
        broken: [{ error: 'out of order' }],
      },
    }),
  )
  return { clock, server, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test('what waits, by age, decisions, times, ends and tokens stand in /metrics', async () => {
  await using desk = await startDesk()
  const { server, clock } = desk
  const { admin } = server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  await stream.next('session_status', ({ pendingApprovals }) => pendingApprovals.length === 3)

  const fresh = await scrape(server)
  expect(fresh.series.get('countersign_waiting_actions{age="under_5m"}')).toBe(3)
  clock.pass(HOUR_MS + 1_000)
  const later = await scrape(server)
  const ages = ['under_5m', '5m_to_1h', '1h_to_1d', 'over_1d'].map((age) => later.series.get(`countersign_waiting_actions{age="${age}"}`))
  expect(ages).toEqual([0, 0, 3, 0])
  expect(later.series.get('countersign_waiting_oldest_seconds')).toBeGreaterThan(3_600)

  const { items } = await admin.get(`/api/actions?session=${sessionId}&state=proposed`)
  for (const { id, arguments: args } of items)
    await admin.post(`/api/actions/${id}/decision`, { verdict: args.what === 'no' ? 'decline' : 'approve' })
  await stream.next('done')
  using failing = await admin.stream('/api/chat', { body: { message: 'go', agent: 'broken' } })
  await failing.next('error')

  const { series } = await scrape(server)
  const told = (...names: string[]) => Object.fromEntries(names.map((name) => [name, series.get(`countersign_${name}`)]))
  expect(
    told(
      'proposed_total{verdict="allow"}',
      'proposed_total{verdict="ask"}',
      'proposed_total{verdict="deny"}',
      'decisions_total{verdict="approved"}',
      'decisions_total{verdict="declined"}',
      'ended_total{state="succeeded"}',
      'ended_total{state="failed"}',
      'ended_total{state="declined"}',
      'ended_total{state="outcome_unknown"}',
      'decision_seconds_count',
      'decision_seconds_bucket{le="900"}',
      'decision_seconds_bucket{le="14400"}',
      'start_seconds_count',
      'execution_seconds_count',
      'waiting_oldest_seconds',
      'held',
      'trouble',
    ),
  ).toEqual({
    'proposed_total{verdict="allow"}': 1,
    'proposed_total{verdict="ask"}': 3,
    'proposed_total{verdict="deny"}': 0,
    'decisions_total{verdict="approved"}': 2,
    'decisions_total{verdict="declined"}': 1,
    'ended_total{state="succeeded"}': 2,
    'ended_total{state="failed"}': 1,
    'ended_total{state="declined"}': 1,
    'ended_total{state="outcome_unknown"}': 0,
    decision_seconds_count: 3,
    // The three actions waited for more than an hour.
    'decision_seconds_bucket{le="900"}': 0,
    'decision_seconds_bucket{le="14400"}': 3,
    start_seconds_count: 3,
    execution_seconds_count: 3,
    waiting_oldest_seconds: 0,
    held: 0,
    trouble: 0,
  })
  const model = 'agent="desk",model="scripted/desk.json"'
  const tokens = (type: string) => series.get(`countersign_model_tokens_total{${model},type="${type}"}`)
  expect(['input', 'cached_input', 'cache_write', 'output'].map(tokens)).toEqual([600, 100, 7, 35])
  expect(series.get(`countersign_model_calls_total{${model},outcome="answered"}`)).toBe(3)
  expect(series.get('countersign_model_calls_total{agent="broken",model="scripted/broken.json",outcome="failed"}')).toBe(1)
  expect(series.get('countersign_model_call_seconds_count')).toBe(4)
})

test('the metrics say nothing of what is in an action, and only admins, viewers and services that monitor read them', async () => {
  await using desk = await startDesk()
  const { server } = desk
  await server.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'a-secret-of-a-customer' } })
  expect((await server.admin.send('GET', '/metrics')).text).not.toContain('a-secret')
  const clients = await Promise.all([
    server.as({ name: 'Bot', kind: 'agent', roles: ['agent', 'monitor'] }),
    server.as({ name: 'Mia', kind: 'person', roles: ['member', 'monitor'] }),
    server.as({ name: 'other service', kind: 'service', roles: ['agent'] }),
    server.as({ name: 'Vic', kind: 'person', roles: ['viewer'] }),
    server.as({ name: 'prometheus', kind: 'service', roles: ['monitor'] }),
  ])
  const statuses = await Promise.all(clients.map(async (client) => (await client.send('GET', '/metrics')).status))
  expect(statuses).toEqual([403, 403, 403, 200, 200])
  const [, , , , prometheus] = clients
  const others: [method: string, path: string, body?: object][] = [
    ...(['/api/stats', '/api/actions', '/api/sessions', '/api/agents', '/api/tools', '/api/keys/own', '/mcp'] as const).map(
      (path): [string, string] => ['GET', path],
    ),
    // Reads run without approval, so a key that may propose can read what the tools read.
    ['POST', '/api/actions', { tool: 'look', arguments: { what: 'orders' } }],
    ['POST', '/api/sessions', {}],
    ['POST', '/api/chat', { message: 'hello' }],
    ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }],
  ]
  for (const [method, path, body] of others) {
    const answer = await prometheus?.send(method, path, body && { body })
    expect([answer?.status, answer?.body.code], `${method} ${path}`).toEqual([403, 'forbidden'])
  }
  const both = await server.as({ name: 'scraper', kind: 'service', roles: ['agent', 'monitor'] })
  expect((await both.send('GET', '/metrics')).status).toBe(200)
  expect((await both.get('/api/actions')).items).toEqual([])
})

/**
 * Returns the metrics that a PromQL expression names, with their labels, as Prometheus parses it.
 * @throws Error when the expression is not PromQL.
 */
function selectorsOf(expression: string): { name: string; labels: string[] }[] {
  const { parser } = createRequire(import.meta.url)(counterpart('@prometheus-io/lezer-promql/dist/index.cjs')) as PromQl
  const found: { name: string; labels: string[] }[] = []
  parser.parse(expression).iterate({
    enter({ type, from, to }) {
      const text = expression.slice(from, to)
      if (type.isError) throw new Error(`${expression}\nis not PromQL at ${from}`)
      if (type.name === 'VectorSelector') found.push({ name: /^[a-z_]+/.exec(text)?.[0] ?? '', labels: [] })
      if (type.name === 'LabelName') found.at(-1)?.labels.push(text)
    },
  })
  return found
}

interface PromQl {
  parser: {
    parse(text: string): {
      iterate(visitor: { enter(node: { type: { name: string; isError: boolean }; from: number; to: number }): void }): void
    }
  }
}

const rules = (parse(readFileSync(new URL('alerts.yaml', MONITORING), 'utf8')) as { groups: { rules: { expr: string }[] }[] }).groups
const board = JSON.parse(readFileSync(new URL('dashboard.json', MONITORING), 'utf8')) as { panels: { targets: { expr: string }[] }[] }
/** Fills in the variables as Grafana does before a query. */
const filledIn = (expression: string) => expression.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'countersign')

const EXPRESSIONS = [
  ...rules.flatMap((group) => group.rules.map(({ expr }) => expr)),
  ...board.panels.flatMap(({ targets }) => targets.map(({ expr }) => filledIn(expr))),
]
/** Names that Prometheus adds itself. */
const ITS_OWN = new Set(['up', 'job', 'instance'])

test('the alert rules and the dashboard name metrics and labels that the server tells', async () => {
  await using desk = await startDesk()
  const { admin } = desk.server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  await stream.next('session_status', ({ pendingApprovals }) => pendingApprovals.length === 3)
  const { series } = await scrape(desk.server)
  expect(EXPRESSIONS.length).toBeGreaterThan(30)
  for (const expression of EXPRESSIONS) {
    const selectors = selectorsOf(expression)
    expect(selectors, expression).not.toEqual([])
    for (const { name, labels } of selectors) {
      if (ITS_OWN.has(name)) continue
      const ofName = [...series.keys()].filter((key) => key === name || key.startsWith(`${name}{`))
      expect(ofName, `${expression}: ${name}`).not.toEqual([])
      for (const label of labels.filter((one) => !ITS_OWN.has(one)))
        expect(
          ofName.some((key) => key.includes(`${label}="`)),
          `${expression}: ${name}{${label}}`,
        ).toBe(true)
    }
  }
})

test('every metric says what it is, and docs name no other', async () => {
  await using desk = await startDesk()
  const { help } = await scrape(desk.server)
  expect([...help].filter(([, text]) => text.length < 20)).toEqual([])
  const documented = describedMetrics(await readMetricsText()).map(({ name }) => name)
  // The server has this metric only with an anchor.
  expect(documented.toSorted()).toEqual([...help.keys(), 'countersign_record_anchored_head'].sort())
  const pages = ['guides/metrics.md', 'guides/policy.md'].map((page) =>
    readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8'),
  )
  const named = pages.flatMap((page) => [...page.matchAll(/`(countersign_[a-z_]+)/g)].map(([, name = '']) => name))
  expect(named.length).toBeGreaterThan(3)
  expect(named.filter((name) => !documented.includes(name))).toEqual([])
})
