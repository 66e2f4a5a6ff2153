import type { StatsQuery } from '@countersign/client'

const HOUR_MS = 3_600_000

/** The periods that are offered, each up to now. */
export const RANGES = [
  { name: '1d', words: 'Last 24 hours', hours: 24 },
  { name: '7d', words: 'Last 7 days', hours: 7 * 24 },
  { name: '30d', words: 'Last 30 days', hours: 30 * 24 },
  { name: '90d', words: 'Last 90 days', hours: 90 * 24 },
  { name: '365d', words: 'Last 365 days', hours: 365 * 24 },
] as const
export const DEFAULT_RANGE = '7d'

/** Returns the query to the server for an address of the page. */
export function statsQueryOf(params: URLSearchParams, nowMs: number): StatsQuery {
  const name = params.get('range') ?? DEFAULT_RANGE
  const { hours } = RANGES.find((range) => range.name === name) ?? RANGES[1]
  const [tool, agent] = [params.get('tool'), params.get('agent')]
  return {
    since: new Date(nowMs - hours * HOUR_MS).toISOString(),
    until: new Date(nowMs).toISOString(),
    ...(tool && { tool }),
    ...(agent && { agent }),
  }
}
