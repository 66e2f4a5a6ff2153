import type { Stats } from '@countersign/client'
import { expect, onTestFinished, test } from 'vitest'
import { dayOf } from '../history/days.ts'
import { partsOf, totalsOf } from './figure.ts'
import { figuresOf } from './figures.ts'
import { csvOf } from './save-figure.ts'
import { valueText } from './words.ts'

const none = { allowed: 0, denied: 0, approved: 0, declined: 0, expired: 0, cancelled: 0, waiting: 0 }
const noTokens = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 }
const STATS: Stats = {
  since: '2026-11-17T00:00:00.000Z',
  until: '2026-11-24T00:00:00.000Z',
  bucket: 'day',
  actions: {
    total: 5,
    byState: { succeeded: 3, declined: 2 },
    byVerdict: { allow: 1, ask: 4, deny: 0 },
    answers: { ...none, allowed: 1, approved: 2, declined: 2 },
    byTool: [{ tool: '=cmd("x")', total: 5, asked: 4, approved: 2, declined: 2, failed: 0 }],
    byRule: [{ ...none, rule: 'r', total: 5, allowed: 1, approved: 2, declined: 2 }],
    byDestination: [{ destination: 'd', succeeded: 3, failed: 0, unknown: 0 }],
    alwaysApproved: [],
    isComplete: true,
  },
  waiting: 3,
  waitingByAge: [
    { fromMs: 0, toMs: 300_000, count: 2 },
    { fromMs: 604_800_000, toMs: null, count: 1 },
  ],
  decisions: {
    ...{ count: 4, medianMs: 5_000, p95Ms: 70_000 },
    histogram: [
      { fromMs: 0, toMs: 10_000, count: 3 },
      { fromMs: 60_000, toMs: 300_000, count: 1 },
    ],
    byTool: [{ tool: '=cmd("x")', count: 4, medianMs: 5_000, p95Ms: 70_000 }],
    byRole: [],
    byPerson: [
      { id: 'prn_1', name: 'Ana', approved: 2, declined: 1, count: 3, medianMs: 1, p95Ms: 2 },
      { id: 'prn_2', name: 'Ana', approved: 0, declined: 1, count: 1, medianMs: 1, p95Ms: 2 },
    ],
  },
  declineReasons: [{ reason: null, count: 2 }],
  runs: { open: 0, done: 0, failed: 0, cancelled: 0 },
  models: [],
  series: [
    {
      at: '2026-11-23T00:00:00.000Z',
      actions: 5,
      asked: 4,
      answers: { ...none, allowed: 1, approved: 2, declined: 2 },
      runs: 0,
      modelCalls: 0,
      ...noTokens,
    },
  ],
}

const figure = (id: string) => {
  const found = figuresOf(STATS).find((each) => each.id === id)
  if (!found) throw new Error(`there is no figure ${id}`)
  return found
}

test('the bins of the histogram add up to the total of its table, and to the decisions of the statistics', () => {
  const decisions = figure('time-to-decide')
  expect(totalsOf(decisions)).toEqual([STATS.decisions.count])
  expect(decisions.rows.map(({ name, values }) => [name, ...values])).toEqual([
    ['under 10 s', 3],
    ['1 min to 5 min', 1],
  ])
  expect(figure('waiting').rows.map(({ name }) => name)).toEqual(['under 5 min', '7 d and more'])
  expect(totalsOf(figure('waiting'))).toEqual([STATS.waiting])
  expect(totalsOf(figure('volume')).reduce<number>((sum, total) => sum + (total ?? 0), 0)).toBe(STATS.actions.total)
})

test('a day of the series, which is one of UTC, has the same date in every time zone, and says so', () => {
  const before = process.env.TZ
  onTestFinished(() => {
    if (before === undefined) delete process.env.TZ
    else process.env.TZ = before
  })
  for (const zone of ['UTC', 'America/Los_Angeles', 'Pacific/Auckland']) {
    process.env.TZ = zone
    expect(figure('volume'), zone).toMatchObject({ of: 'Day (UTC)', rows: [{ name: 'Nov 23' }] })
  }
})

test('times are not added up, and a column is never longer than the longest', () => {
  const byPerson = figure('by-person')
  expect(totalsOf(byPerson)).toEqual([null, null, 4])
  for (const each of figuresOf(STATS))
    for (const row of each.rows) {
      const shares = partsOf(each, row).map(({ share }) => share)
      const length = each.layout === 'stack' ? shares.reduce((sum, share) => sum + share, 0) : Math.max(0, ...shares)
      expect(length, each.id).toBeLessThanOrEqual(1.000001)
    }
})

test('a table is saved with a line for each row, and no cell of it is a formula', () => {
  for (const each of figuresOf(STATS)) expect(csvOf(each).split('\r\n').filter(Boolean), each.id).toHaveLength(each.rows.length + 1)
  expect(csvOf(figure('tools')).split('\r\n')[1]).toBe(`"'=cmd(""x"")","5","4","2","2","0"`)
  expect(csvOf(figure('by-tool')).split('\r\n')[0]).toBe('"Tool","p95 (ms)","p50 (ms)","Decisions"')
})

test('a name of the table leads to the list of these, from the first day of the period on', () => {
  const since = dayOf(new Date(STATS.since))
  expect(figure('tools').rows[0]?.href).toBe(`/history?${new URLSearchParams({ q: 'tool:"=cmd(\\"x\\")"', since })}`)
  expect(figure('rules').rows[0]?.href).toBe(`/history?rule=r&since=${since}`)
  const links = figuresOf(STATS).flatMap(({ rows }) => rows.flatMap(({ href }) => href ?? []))
  expect(links.filter((href) => !href.endsWith(`since=${since}`))).toEqual([])
})

test('costs are shown where a model has a price; those without one are unknown, and so is the sum', () => {
  const call = { ...noTokens, agent: 'desk', calls: 1, fallbacks: 0, errors: 0, cachedShare: null, estimated: 0 }
  const costsOf = (...costs: Stats['models'][number]['cost'][]) =>
    figuresOf({ ...STATS, models: costs.map((cost, at) => ({ ...call, model: `m${at}`, cost })) }).find(({ id }) => id === 'costs')
  const euros = (amount: number) => ({ amount, currency: 'EUR' })
  expect(costsOf(null, null)).toBeUndefined()
  const known = costsOf(euros(0.25), euros(1.5))
  expect(known && totalsOf(known)).toEqual([1.75])
  expect(known?.columns[0]?.name).toBe('Cost (EUR)')
  const partly = costsOf(euros(0.25), null)
  expect(partly && [totalsOf(partly), valueText(partly.rows[1]?.values[0] ?? null, 'money')]).toEqual([[null], 'unknown'])
  expect(valueText(0.00123, 'money')).toBe('0.0012')
})
