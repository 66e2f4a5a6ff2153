import type { Cost } from '@countersign/core'
import { z } from 'zod'

const Price = z.number().min(0).max(1_000_000)

const ModelPrice = z.strictObject({
  /** Per million input tokens. */
  inputPerMillion: Price,
  /** Per million input tokens read from the provider's cache. Default: `inputPerMillion`. */
  cachedInputPerMillion: Price.optional(),
  /** Per million input tokens written to the provider's cache. Default: `inputPerMillion`. */
  cacheWritePerMillion: Price.optional(),
  /** Per million output tokens. */
  outputPerMillion: Price,
})

/** The prices of model calls. Countersign has none built in. */
export const PricesSection = z.strictObject({
  /** The currency of all prices, an ISO 4217 code such as `EUR`. */
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be a currency of three capital letters, such as EUR'),
  /** The prices by model name, as in `agents`: `openai/gpt-5-mini`. */
  models: z.record(z.string().min(1).max(300), ModelPrice).default({}),
})
export type Prices = z.output<typeof PricesSection>

/** The tokens of one or more calls. Tokens read from or written to the cache are part of the input. */
export interface PricedTokens {
  inputTokens: number
  cachedInputTokens: number
  cacheWriteTokens: number
  outputTokens: number
}

/** Returns what these tokens of a model cost by today's prices; null without a price for it. */
export function costOf(prices: Prices | undefined, model: string, tokens: PricedTokens): Cost | null {
  const price = prices && Object.hasOwn(prices.models, model) ? prices.models[model] : undefined
  if (!prices || !price) return null
  const { inputPerMillion: input, cachedInputPerMillion: cached = input, cacheWritePerMillion: written = input } = price
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = tokens
  const plainTokens = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens)
  const total = plainTokens * input + cachedInputTokens * cached + cacheWriteTokens * written + outputTokens * price.outputPerMillion
  return { amount: total / 1_000_000, currency: prices.currency }
}
