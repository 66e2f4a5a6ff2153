import { z } from 'zod'
import type { Mastra } from '../testing/gate-frameworks.ts'
import type { Orders } from './orders.ts'

export function makeAgent({ Agent, createTool }: Mastra, model: object, orders: Orders) {
  const setStatus = createTool({
    id: 'setStatus',
    description: 'Sets the status of an order.',
    inputSchema: z.object({ order: z.string(), status: z.string() }),
    requireApproval: true,
    execute: (input) => orders.setStatus(input),
  })
  return new Agent({ id: 'desk', name: 'desk', instructions: 'Set statuses.', model, tools: { setStatus } })
}
