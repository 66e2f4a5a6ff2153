import { z } from 'zod'
import { defineTool } from '../define.ts'

/** A tool that refunds an order. */
export const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  input: z.object({
    orderId: z.string().min(1),
    cents: z.int().positive(),
    currency: z.enum(['EUR', 'USD']).default('EUR'),
    lines: z.array(z.object({ sku: z.string(), quantity: z.int().min(1) })).optional(),
  }),
  effect: 'write',
  describe: ({ orderId, cents, currency }) => `Refund ${cents / 100} ${currency} of order ${orderId}`,
  preview: ({ cents }) => [{ field: 'refunded', oldValue: 0, newValue: cents }],
  execute: ({ orderId, cents }, { idempotencyKey }) => ({ orderId, cents, idempotencyKey }),
  resultUrl: ({ orderId }) => `/orders/${orderId}`,
})
