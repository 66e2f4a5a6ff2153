import { Agent, type Model, tool } from '@openai/agents-core'
import { z } from 'zod'
import type { Orders } from './orders.ts'

export function makeAgent(model: Model, orders: Orders) {
  const setStatus = tool({
    name: 'setStatus',
    description: 'Sets the status of an order.',
    parameters: z.object({ order: z.string(), status: z.string() }),
    needsApproval: true,
    execute: (input) => orders.setStatus(input),
  })
  return new Agent({ name: 'desk', model, tools: [setStatus] })
}
