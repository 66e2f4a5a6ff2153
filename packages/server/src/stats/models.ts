import type { ModelStats } from '@countersign/core'
import { costOf, type Prices } from '../config/prices.ts'
import type { stats } from '../store/index.ts'

type Group = stats.ModelCallGroup

const ADDED = [
  'calls',
  'fallbacks',
  'errors',
  'input_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'output_tokens',
  'estimated',
] as const

/** The usage of each model by each agent, added up. */
export interface ModelTotals {
  add(group: Group): void
  /** The largest usage first. */
  views(prices?: Prices): ModelStats[]
}

export function modelTotals(): ModelTotals {
  const byName = new Map<string, Group>()
  return {
    add(group) {
      const name = JSON.stringify([group.agent, group.model])
      const known = byName.get(name)
      byName.set(name, known ? { ...known, ...sumOf([known, group]) } : group)
    },
    views: (prices) =>
      [...byName.values()].map((group) => view(group, prices)).sort((a, b) => b.inputTokens - a.inputTokens || b.calls - a.calls),
  }
}

// Postgres returns sums as text.
const sumOf = (groups: readonly Group[]) =>
  Object.fromEntries(ADDED.map((column) => [column, groups.reduce((sum, group) => sum + Number(group[column]), 0)])) as Record<
    (typeof ADDED)[number],
    number
  >

export type Tokens = Pick<ModelStats, 'inputTokens' | 'cachedInputTokens' | 'cacheWriteTokens' | 'outputTokens'>

/** Adds up the tokens of several groups. */
export function tokensOf(groups: readonly Group[]): Tokens {
  const sum = sumOf(groups)
  return {
    inputTokens: sum.input_tokens,
    cachedInputTokens: sum.cached_input_tokens,
    cacheWriteTokens: sum.cache_write_tokens,
    outputTokens: sum.output_tokens,
  }
}

function view(group: Group, prices: Prices | undefined): ModelStats {
  const { calls, fallbacks, errors, estimated } = sumOf([group])
  const tokens = tokensOf([group])
  const cachedShare = tokens.inputTokens === 0 ? null : tokens.cachedInputTokens / tokens.inputTokens
  return {
    agent: group.agent,
    model: group.model,
    calls,
    fallbacks,
    errors,
    ...tokens,
    cachedShare,
    estimated,
    cost: costOf(prices, group.model, tokens),
  }
}
