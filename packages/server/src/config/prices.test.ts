import { expect, test } from 'vitest'
import { costOf, PricesSection } from './prices.ts'

const prices = PricesSection.parse({
  currency: 'EUR',
  models: {
    'openai/gpt-5-mini': { inputPerMillion: 2, cachedInputPerMillion: 0.5, outputPerMillion: 8 },
    'anthropic/claude': { inputPerMillion: 4, outputPerMillion: 10 },
  },
})
const tokens = { inputTokens: 1_000_000, cachedInputTokens: 400_000, cacheWriteTokens: 100_000, outputTokens: 250_000 }

test('cached input has its own price, and the price of other input where none is given', () => {
  expect(costOf(prices, 'openai/gpt-5-mini', tokens)).toEqual({ amount: 0.5 * 2 + 0.4 * 0.5 + 0.1 * 2 + 0.25 * 8, currency: 'EUR' })
  expect(costOf(prices, 'anthropic/claude', tokens)).toEqual({ amount: 4 + 2.5, currency: 'EUR' })
})

test('what has no price has no cost, and not a cost of nothing', () => {
  expect(costOf(prices, 'google/gemini', tokens)).toBeNull()
  expect(costOf(undefined, 'openai/gpt-5-mini', tokens)).toBeNull()
  expect(costOf(prices, 'constructor', tokens)).toBeNull()
})

test('a currency is three capital letters, and a price is not negative', () => {
  expect(PricesSection.safeParse({ currency: '€' }).success).toBe(false)
  expect(PricesSection.safeParse({ currency: 'EUR', models: { a: { inputPerMillion: -1, outputPerMillion: 1 } } }).success).toBe(false)
  expect(PricesSection.safeParse({ currency: 'EUR', models: { a: { inputPerMillion: 1 } } }).success).toBe(false)
})
