import { type LanguageModel, ToolLoopAgent, tool } from 'ai'
import { z } from 'zod'
import type { Orders } from './orders.ts'

export function makeAgent(model: LanguageModel, orders: Orders) {
  const setStatus = tool({
    description: 'Sets the status of an order.',
    inputSchema: z.object({ order: z.string(), status: z.string() }),
    execute: (input) => orders.setStatus(input),
  })
  return new ToolLoopAgent({ model, tools: { setStatus }, toolApproval: { setStatus: 'user-approval' } })
}
