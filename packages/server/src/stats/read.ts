import { setImmediate as nextTurn } from 'node:timers/promises'
import { CountersignError, type Stats, type StatsQuery } from '@countersign/core'
import type { Prices } from '../config/prices.ts'
import { actions, type Store, stats } from '../store/index.ts'
import { totalActions } from './actions.ts'
import { noAnswers } from './answers.ts'
import { binsOf } from './durations.ts'
import { modelTotals, type Tokens, tokensOf } from './models.ts'
import { totalVotes } from './votes.ts'

const HOUR_MS = 3_600_000
const BUCKET_MS = { hour: HOUR_MS, day: 24 * HOUR_MS } as const
const DAY_MS = BUCKET_MS.day
const MAX_BY_HOUR_MS = 14 * DAY_MS
const MAX_MS = 366 * DAY_MS
const DEFAULT_MS = 7 * DAY_MS
/**
 * Lengths of the pieces that a period is read in, shortest first, and the most pieces of each: each piece is a query that blocks others.
 */
const PIECES_MS = [HOUR_MS, 6 * HOUR_MS, DAY_MS]
const MAX_PIECES = 400

/**
 * Returns statistics about the proposals, decisions, executions and model calls of a period. It reads in many short pieces, so that other
 * requests do not have to wait.
 * @throws CountersignError `bad_request` for a period that is empty or too long.
 * @example
 * const { actions, models } = await readStats(store, { since: '2026-01-01T00:00:00Z' }, clock.nowMs())
 */
export async function readStats(store: Store, query: StatsQuery, nowMs: number, prices?: Prices): Promise<Stats> {
  const { since, until, bucket } = windowOf(query, nowMs)
  const bucketMs = BUCKET_MS[bucket]
  const models = modelTotals()
  const runs = { open: 0, done: 0, failed: 0, cancelled: 0 }
  const series = new Map<number, Stats['series'][number]>()
  const entry = (at: number) => {
    const known = series.get(at) ?? { at: iso(at), actions: 0, asked: 0, answers: noAnswers(), runs: 0, modelCalls: 0, ...tokensOf([]) }
    series.set(at, known)
    return known
  }

  for (const { from, to } of piecesOf(since, until)) {
    await nextTurn()
    const called = await store.read(() => stats.groupModelCalls.all({ since: from, until: to }))
    const calls = called.filter(({ agent }) => query.agent === undefined || agent === query.agent)
    const ended = await store.read(() => stats.groupRuns.all({ since: from, until: to }))
    for (const { state, count } of ended) runs[state] += Number(count)
    if (calls.length + ended.length === 0) continue
    for (const call of calls) models.add(call)
    const counted = entry(from - (from % bucketMs))
    counted.runs += ended.reduce((sum, { count }) => sum + Number(count), 0)
    counted.modelCalls += calls.reduce((sum, call) => sum + Number(call.calls), 0)
    for (const [name, count] of Object.entries(tokensOf(calls))) counted[name as keyof Tokens] += count
  }

  const period = { from: actions.lowestIdAt(since), before: actions.lowestIdAt(until), tool: query.tool, agent: query.agent }
  const totals = await totalActions(store, { ...period, bucketMs })
  for (const [at, counted] of totals.byBucket) Object.assign(entry(at), counted)
  const { byPerson, declineReasons } = await totalVotes(store, period)
  const waitingByAge = await countWaitingByAge(store, nowMs)
  return {
    since: iso(since),
    until: iso(until),
    bucket,
    actions: totals.actions,
    waiting: waitingByAge.reduce((sum, { count }) => sum + count, 0),
    waitingByAge,
    decisions: { ...totals.decisions, byPerson },
    declineReasons,
    runs,
    models: models.views(prices),
    series: [...series.keys()].sort((a, b) => a - b).map(entry),
  }
}

/** The bounds of the ages of what waits, in ms. */
const AGES = [0, 300_000, HOUR_MS, 8 * HOUR_MS, DAY_MS, 7 * DAY_MS]

/** Counts what waits for people now, by how long it has waited. */
async function countWaitingByAge(store: Store, nowMs: number): Promise<Stats['waitingByAge']> {
  const found = await store.read(() => stats.countWaiting(AGES.slice(1).map((ms) => actions.lowestIdAt(Math.max(0, nowMs - ms)))))
  const counts = AGES.map((_, age) => Number(found.find((group) => Number(group.age) === age)?.count ?? 0))
  return binsOf(AGES, counts)
}

const iso = (ms: number): string => new Date(ms).toISOString()

function windowOf(query: StatsQuery, nowMs: number) {
  const until = query.until === undefined ? nowMs : Date.parse(query.until)
  const since = query.since === undefined ? Math.max(0, until - DEFAULT_MS) : Date.parse(query.since)
  const bucket = query.bucket ?? (until - since <= 3 * DAY_MS ? 'hour' : 'day')
  if (since < 0 || since >= until) throw new CountersignError('bad_request', 'since: must be before until')
  if (until - since > MAX_MS) throw new CountersignError('bad_request', 'since: at most 366 days before until')
  if (bucket === 'hour' && until - since > MAX_BY_HOUR_MS)
    throw new CountersignError('bad_request', 'bucket: by the hour for 14 days at most')
  return { since, until, bucket }
}

/** Splits a period into pieces, none of which spans two hours or days (of UTC) of the series. */
function piecesOf(since: number, until: number): { from: number; to: number }[] {
  const pieceMs = PIECES_MS.find((ms) => until - since <= ms * MAX_PIECES) ?? DAY_MS
  const first = since - (since % pieceMs)
  return Array.from({ length: Math.ceil((until - first) / pieceMs) }, (_, index) => ({
    from: Math.max(first + index * pieceMs, since),
    to: Math.min(first + (index + 1) * pieceMs, until),
  }))
}
