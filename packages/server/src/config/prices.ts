import type { Cost } from '@countersign/core'
import { z } from 'zod'

const Price = z.number().min(0).max(1_000_000)

const ModelPrice = z.strictObject({
  /** Per million input tokens. */
  inputPerMillion: Price,
  /** Per million input tokens from the provider's cache. Default: as other input. */
  cachedInputPerMillion: Price.optional(),
  /** Per million input tokens that the provider's cache took in. Default: as other input. */
  cacheWritePerMillion: Price.optional(),
  /** Per million output tokens. */
  outputPerMillion: Price,
})

/** What the calls of models cost. Countersign knows no price by itself. */
export const PricesSection = z.strictObject({
  /** Of all prices, as in ISO 4217: `EUR`. */
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be a currency of three capital letters, such as EUR'),
  /** By the model, as agents name it: `openai/gpt-5-mini`. */
  models: z.record(z.string().min(1).max(300), ModelPrice).default({}),
})
export type Prices = z.output<typeof PricesSection>

/** The tokens of one or more calls. Cached tokens, and those that the cache took in, are part of the input. */
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
