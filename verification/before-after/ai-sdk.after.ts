import { type LanguageModel, ToolLoopAgent, tool } from 'ai'
import { z } from 'zod'
import { gate } from '../../packages/client/src/gate/ai-sdk.ts'
import { createClient } from '../../packages/client/src/index.ts'
import type { Orders } from './orders.ts'

export function makeAgent(model: LanguageModel, orders: Orders) {
  const setStatus = tool({
    description: 'Sets the status of an order.',
    inputSchema: z.object({ order: z.string(), status: z.string() }),
    execute: (input) => orders.setStatus(input),
  })
  const client = createClient({ baseUrl: process.env.COUNTERSIGN_URL ?? '', key: process.env.COUNTERSIGN_KEY })
  return new ToolLoopAgent({ model, tools: gate(client, { setStatus }) })
}
