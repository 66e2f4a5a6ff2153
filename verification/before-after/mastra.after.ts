import { z } from 'zod'
import { gate } from '../../packages/client/src/gate/mastra.ts'
import { createClient } from '../../packages/client/src/index.ts'
import type { Mastra } from '../testing/gate-frameworks.ts'
import type { Orders } from './orders.ts'

export function makeAgent({ Agent, createTool }: Mastra, model: object, orders: Orders) {
  const setStatus = createTool({
    id: 'setStatus',
    description: 'Sets the status of an order.',
    inputSchema: z.object({ order: z.string(), status: z.string() }),
    execute: (input) => orders.setStatus(input),
  })
  const client = createClient({ baseUrl: process.env.COUNTERSIGN_URL ?? '', key: process.env.COUNTERSIGN_KEY })
  return new Agent({ id: 'desk', name: 'desk', instructions: 'Set statuses.', model, tools: { setStatus: gate(client, setStatus) } })
}
