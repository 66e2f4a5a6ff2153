import { z } from 'zod'
import { Refusal } from '../problem.ts'
import { STATUSES } from './database.ts'

const limit = z.coerce.number().int().min(1).max(200).default(50)
const shortText = (max: number) => z.string().trim().min(1).max(max)

export const OrderQuery = z.strictObject({ status: z.enum(STATUSES).optional(), limit })
export const EffectQuery = z.strictObject({ orderId: shortText(64).optional(), idempotencyKey: shortText(255).optional(), limit })
export const StatusBody = z.strictObject({ status: z.enum(STATUSES) })
const Items = z
  .array(z.strictObject({ productId: shortText(64), quantity: z.int().min(1).max(1_000) }))
  .min(1)
  .max(50)
const readJson = (text: unknown): unknown => {
  try {
    return JSON.parse(String(text))
  } catch {
    return text
  }
}
/** `items` once for each item, each as JSON. */
export const QuoteQuery = z.strictObject({ items: z.preprocess((given) => [given].flat().map(readJson), Items) })
export const CheckoutBody = z.strictObject({
  items: Items,
  // A body template may send null for an argument that was left out.
  customerName: shortText(200).nullish(),
  customerEmail: z.email().max(254).nullish(),
})

/** @throws Refusal 400 for a key that is not 1 to 255 printable ASCII characters. */
export function readIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null
  if (typeof header !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(header)) {
    throw new Refusal(400, 'Idempotency-Key must be 1 to 255 visible ASCII characters.')
  }
  return header
}
